/* Reads the filters of column chunks.
 * Source: parquet-format, BloomFilter.md and parquet.thrift (BloomFilterHeader).
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../system/system.h"
#include "filter.h"

enum {
  MAX_HEADER_NBYTES = 256, /* known headers have 15 to 19 bytes */
  CACHE_LINE_NBYTES = 64
};

/* The header of a filter. Its algorithm, hash and compression are stored as unions. This struct
 * has, for each union, the number of the member that the union has. So far the format defines only
 * number 1 in each union. */
struct header {
  int32_t nbytes, algorithm, hash, compression;
};

static void read_header(struct thrift *thrift, struct header *header)
{
  *header = (struct header){0};
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    switch (field.id) {
    case 1:
      header->nbytes = lanebloom_thrift_i32(thrift, field);
      break;
    case 2:
      header->algorithm = lanebloom_thrift_member(thrift, field);
      break;
    case 3:
      header->hash = lanebloom_thrift_member(thrift, field);
      break;
    case 4:
      header->compression = lanebloom_thrift_member(thrift, field);
      break;
    default:
      lanebloom_thrift_skip(thrift, field);
    }
}

static lanebloom_status check_header(const struct header *header, uint64_t offset,
                                     const struct problem *problem)
{
  const struct {
    const char *what, *expected;
    int32_t found;
  } unions[] = {{"algorithm", "split blocks", header->algorithm},
                {"hash", "XXH64", header->hash},
                {"compression", "none", header->compression}};
  for (size_t i = 0; i < sizeof unions / sizeof *unions; i++)
    if (unions[i].found != 1)
      return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                         "the filter's %s at %" PRIu64 ": expected 1 (%s), found %" PRId32,
                         unions[i].what, offset, unions[i].expected, unions[i].found);
  if (header->nbytes <= 0 || header->nbytes % PARQUET_BLOCK_NBYTES != 0)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged filter at %" PRIu64 ": expected blocks of %d bytes, found %" PRId32
                       " bytes",
                       offset, PARQUET_BLOCK_NBYTES, header->nbytes);
  return LANEBLOOM_OK;
}

/* Checks that the chunk has a filter that can be read. end: the offset of the footer, before which
 * all filters must end. */
static lanebloom_status check_chunk(const struct chunk *chunk, uint64_t end,
                                    const struct problem *problem)
{
  if (chunk->is_encrypted)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected a column that can be read, found an encrypted one");
  if (chunk->file_path.size > 0)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected a column chunk in this file, found one in \"%.*s\"",
                       chunk->file_path.size < 200 ? (int)chunk->file_path.size : 200,
                       (const char *)chunk->file_path.data);
  if (!chunk->has_filter)
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected a column chunk with a filter, found one without");
  const bool has_nbytes = chunk->filter_nbytes != LANEBLOOM_UNKNOWN;
  if (chunk->filter_offset >= end ||
      (has_nbytes && chunk->filter_nbytes > end - chunk->filter_offset))
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected a filter before the footer at %" PRIu64
                       ", found one at %" PRId64 " of %" PRId64 " bytes",
                       end, (int64_t)chunk->filter_offset,
                       has_nbytes ? (int64_t)chunk->filter_nbytes : 1);
  return LANEBLOOM_OK;
}

/* Refuses a filter that shares bytes with another one. No known writer makes such filters. If they
 * were allowed, a small file could cause one large filter to be read again for each of many row
 * groups. *left becomes the most bytes that the filter can have, including its header. */
static lanebloom_status check_overlap(const struct footer *footer, const struct chunk *chunk,
                                      uint64_t *left, const struct problem *problem)
{
  const uint64_t end = lanebloom_footer_filter_end(footer, chunk->filter_offset);
  const bool has_nbytes = chunk->filter_nbytes != LANEBLOOM_UNKNOWN;
  *left = has_nbytes ? chunk->filter_nbytes : end - chunk->filter_offset;
  if (end == chunk->filter_offset || *left > end - chunk->filter_offset)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged filter at %" PRIu64
                       ": expected bytes that no other filter uses, found one at %" PRIu64,
                       chunk->filter_offset, end);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_bits_find(const struct lanebloom_parquet *file,
                                     const struct chunk *chunk, struct filter_place *place,
                                     const struct problem *problem)
{
  const uint64_t end = file->footer.offset;
  uint8_t bytes[MAX_HEADER_NBYTES];
  uint64_t left;
  *place = (struct filter_place){0};
  lanebloom_status status = check_chunk(chunk, end, problem);
  if (!status)
    status = check_overlap(&file->footer, chunk, &left, problem);
  if (status)
    return status;
  const size_t nread = left < sizeof bytes ? (size_t)left : sizeof bytes;
  status = lanebloom_input_read(&file->input, chunk->filter_offset, bytes, nread, problem);
  if (status)
    return status;
  struct thrift thrift = thrift_start(bytes, nread);
  struct header header;
  read_header(&thrift, &header);
  if (thrift.expected)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged filter at %" PRIu64
                       ": expected a header with %s, found something else",
                       chunk->filter_offset, thrift.expected);
  status = check_header(&header, chunk->filter_offset, problem);
  if (status)
    return status;
  const size_t header_nbytes = (size_t)(thrift.cursor.at - bytes), nbytes = (size_t)header.nbytes;
  const bool fits = chunk->filter_nbytes != LANEBLOOM_UNKNOWN ? nbytes == left - header_nbytes
                                                              : nbytes <= left - header_nbytes;
  if (!fits)
    return problem_set(
        problem, LANEBLOOM_ERR_CORRUPT,
        "damaged filter at %" PRIu64 ": expected %s%" PRIu64 " bytes of bits, found %zu",
        chunk->filter_offset, chunk->filter_nbytes != LANEBLOOM_UNKNOWN ? "" : "at most ",
        left - header_nbytes, nbytes);
  *place = (struct filter_place){.offset = chunk->filter_offset + header_nbytes, .nbytes = nbytes};
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_bits_read(const struct lanebloom_parquet *file,
                                     const struct filter_place *place, struct filter_bits *bits,
                                     const struct problem *problem)
{
  const struct input *input = &file->input;
  *bits = (struct filter_bits){0};
  if (input->file < 0) {
    bits->bytes = input->bytes + place->offset;
    return LANEBLOOM_OK;
  }
  /* The memory is aligned, so that no block crosses a cache line. */
  const size_t room = (place->nbytes + CACHE_LINE_NBYTES - 1) / CACHE_LINE_NBYTES;
  uint8_t *own = lanebloom_system_allocate(CACHE_LINE_NBYTES, room * CACHE_LINE_NBYTES);
  if (!own)
    return problem_memory(problem, place->nbytes);
  lanebloom_status status = lanebloom_input_read(input, place->offset, own, place->nbytes, problem);
  if (status) {
    lanebloom_system_free(own);
    return status;
  }
  *bits = (struct filter_bits){.bytes = own, .own = own};
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_parquet_load_filter(const lanebloom_parquet *file, size_t row_group,
                                               size_t column, lanebloom_filter **filter,
                                               char *problem_text, size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  *filter = NULL;
  struct filter_place place;
  struct filter_bits bits;
  const struct chunk chunk = lanebloom_footer_chunk(&file->footer, row_group, column);
  lanebloom_status status = lanebloom_bits_find(file, &chunk, &place, &problem);
  if (!status)
    status = lanebloom_bits_read(file, &place, &bits, &problem);
  if (status)
    return status;
  lanebloom_filter *borrowing;
  status = lanebloom_filter_parse_raw(LANEBLOOM_PARQUET, bits.bytes, place.nbytes, NULL, &borrowing,
                                      problem_text, problem_size);
  if (!status) { /* a merged filter owns its bits, even if only one filter was merged */
    const lanebloom_filter *const one = borrowing;
    status = lanebloom_filter_merge(&one, 1, filter, NULL, problem_text, problem_size);
    lanebloom_filter_free(borrowing);
  }
  filter_bits_free(&bits);
  return status;
}
