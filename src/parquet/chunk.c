/* Reads the metadata of column chunks. The metadata of a chunk say where its pages and its filter
 * are, and which values it may have.
 * SPDX-License-Identifier: MIT */
#include "footer.h"

/* The fields of the struct ColumnMetaData, which may come in any order. */
struct metadata {
  int32_t physical;
  bool has_physical, has_filter_offset, has_filter_nbytes;
  int64_t page_offset, dictionary_offset, filter_offset;
  int32_t filter_nbytes;
  struct statistics statistics;
};

/* Checks that the path in the chunk equals the column's path. Some readers find a column's chunks
 * by path, others by order. If path and order disagreed, readers would use different chunks. A
 * chunk without a path is accepted, too. */
static void read_path(struct thrift *thrift, struct thrift_field field, const struct column *column)
{
  const char *rest = column->path, *end = column->path + column->path_nbytes;
  const size_t n = lanebloom_thrift_list(thrift, field, THRIFT_BINARY);
  bool is_same = true;
  for (size_t i = 0; i < n && !thrift->expected; i++) {
    const lanebloom_slice name = lanebloom_thrift_binary_element(thrift);
    if (i > 0)
      is_same = is_same && rest < end && *rest++ == '.';
    is_same = is_same && name.size <= (size_t)(end - rest) &&
              (name.size == 0 || memcmp(rest, name.data, name.size) == 0);
    rest += is_same ? name.size : 0;
  }
  if (n > 0 && (!is_same || rest != end))
    lanebloom_thrift_damage(thrift, "a chunk of the column that the schema has here");
}

/* Reads the offset or the size of the filter. Before the format had filters, some writers used
 * these field numbers for fields of other types, which are skipped. */
static void read_filter(struct thrift *thrift, struct thrift_field field, struct metadata *metadata)
{
  if (field.id == 14 && field.type == THRIFT_I64) {
    metadata->filter_offset = lanebloom_thrift_i64(thrift, field);
    metadata->has_filter_offset = true;
  } else if (field.id == 15 && field.type == THRIFT_I32) {
    metadata->filter_nbytes = lanebloom_thrift_i32(thrift, field);
    metadata->has_filter_nbytes = true;
  } else {
    lanebloom_thrift_skip(thrift, field);
  }
}

static void read_metadata(struct thrift *thrift, const struct column *column,
                          struct metadata *metadata, struct chunk *chunk)
{
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    switch (field.id) {
    case 1:
      metadata->physical = lanebloom_thrift_i32(thrift, field);
      metadata->has_physical = true;
      break;
    case 3:
      read_path(thrift, field, column);
      break;
    case 5:
      chunk->nvalues = lanebloom_thrift_size(thrift, field);
      break;
    case 7:
      chunk->nbytes = lanebloom_thrift_size(thrift, field);
      break;
    case 9:
      metadata->page_offset = lanebloom_thrift_i64(thrift, field);
      break;
    case 11:
      metadata->dictionary_offset = lanebloom_thrift_i64(thrift, field);
      break;
    case 12:
      lanebloom_statistics_read(thrift, field, &metadata->statistics);
      break;
    default:
      read_filter(thrift, field, metadata);
    }
}

/* Checks the fields, and sets the members of *chunk from them. If the chunk has a dictionary, the
 * dictionary is the first page, so the chunk begins there. */
static void interpret(struct thrift *thrift, const struct footer *footer,
                      const struct column *column, const struct metadata *metadata,
                      struct chunk *chunk)
{
  int64_t offset = metadata->page_offset;
  if (metadata->dictionary_offset > 0 && metadata->dictionary_offset < offset)
    offset = metadata->dictionary_offset;
  chunk->offset = (uint64_t)offset;
  if (!metadata->has_physical || metadata->physical != (int32_t)column->type.physical)
    lanebloom_thrift_damage(thrift, "a chunk of the type that the schema has here");
  if (offset < 0 ||
      (chunk->file_path.size == 0 &&
       (chunk->offset > footer->offset || chunk->nbytes > footer->offset - chunk->offset)))
    lanebloom_thrift_damage(thrift, "a chunk whose pages are within the file");
  if (chunk->nvalues == LANEBLOOM_UNKNOWN)
    lanebloom_thrift_damage(thrift, "the number of values of a chunk");
  const uint64_t nnulls = metadata->statistics.nnulls;
  chunk->nnulls = nnulls <= chunk->nvalues ? nnulls : LANEBLOOM_UNKNOWN;
  chunk->has_filter = metadata->has_filter_offset && !chunk->is_elsewhere;
  chunk->filter_offset = chunk->has_filter ? (uint64_t)metadata->filter_offset : 0;
  chunk->filter_nbytes = !chunk->has_filter            ? 0
                         : metadata->has_filter_nbytes ? (uint64_t)metadata->filter_nbytes
                                                       : LANEBLOOM_UNKNOWN;
  if (!chunk->is_elsewhere)
    chunk->known =
        lanebloom_statistics_judge(&metadata->statistics, column, chunk->nvalues, &footer->trust);
}

void lanebloom_chunk_read(struct thrift *thrift, const struct footer *footer,
                          const struct column *column, struct chunk *chunk)
{
  struct metadata metadata = {.statistics.nnulls = LANEBLOOM_UNKNOWN};
  bool has_metadata = false;
  *chunk = (struct chunk){.nvalues = LANEBLOOM_UNKNOWN, .nnulls = LANEBLOOM_UNKNOWN};
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    switch (field.id) {
    case 1:
      chunk->file_path = lanebloom_thrift_binary(thrift, field);
      break;
    case 3:
      has_metadata = true;
      if (lanebloom_thrift_enter(thrift, field))
        read_metadata(thrift, column, &metadata, chunk);
      break;
    case 8: /* how the chunk is encrypted */
    case 9: /* encrypted metadata */
      chunk->is_encrypted = true;
      lanebloom_thrift_skip(thrift, field);
      break;
    default:
      lanebloom_thrift_skip(thrift, field);
    }
  chunk->is_elsewhere = chunk->is_encrypted || chunk->file_path.size > 0;
  if (has_metadata)
    interpret(thrift, footer, column, &metadata, chunk);
  else if (!chunk->is_encrypted)
    lanebloom_thrift_damage(thrift, "the metadata of a column chunk");
}
