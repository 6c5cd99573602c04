/* Reads the footers of Parquet files.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../common/bytes.h"
#include "footer.h"

enum {
  MAGIC_NBYTES = 4,
  TAIL_NBYTES = 4 + MAGIC_NBYTES, /* after the metadata: its size and the magic number */
  MIN_NBYTES = MAGIC_NBYTES + TAIL_NBYTES,
  FIRST_READ_NBYTES = 1 << 16 /* holds most footers */
};
static const char magic[] = "PAR1", encrypted_magic[] = "PARE";

/* ---- Metadata ---- */

static lanebloom_status explain(const struct thrift *thrift, const struct footer *footer,
                                const struct problem *problem)
{
  const size_t at = (size_t)(thrift->cursor.at - footer->bytes);
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged footer, before its byte %zu of %" PRIu32
                     ": expected %s, found something else",
                     at, footer->nbytes, thrift->expected);
}

static void read_row_group(struct thrift *thrift, struct footer *footer, size_t i)
{
  const size_t ncolumns = footer->schema.ncolumns;
  bool has_chunks = false;
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    if (field.id == 1) {
      if (lanebloom_thrift_list(thrift, field, THRIFT_STRUCT) != ncolumns || has_chunks)
        lanebloom_thrift_damage(thrift, "one chunk of each column");
      has_chunks = true;
      for (size_t column = 0; column < ncolumns && !thrift->expected; column++) {
        struct chunk chunk;
        footer->chunks[i * ncolumns + column] = (uint32_t)(thrift->cursor.at - footer->bytes);
        lanebloom_chunk_read(thrift, footer, &footer->schema.columns[column], &chunk);
        if (chunk.has_filter && chunk.filter_offset < footer->offset)
          footer->filter_offsets[footer->nfilters++] = chunk.filter_offset;
      }
    } else if (field.id == 3) {
      footer->row_groups[i].nrows = lanebloom_thrift_size(thrift, field);
    } else {
      lanebloom_thrift_skip(thrift, field);
    }
  if (!has_chunks && ncolumns > 0)
    lanebloom_thrift_damage(thrift, "one chunk of each column");
}

static int compare_offsets(const void *a, const void *b)
{
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static lanebloom_status read_row_groups(struct thrift *thrift, struct thrift_field field,
                                        struct footer *footer, const struct problem *problem)
{
  const size_t n = lanebloom_thrift_list(thrift, field, THRIFT_STRUCT),
               ncolumns = footer->schema.ncolumns;
  if (footer->row_groups)
    lanebloom_thrift_damage(thrift, "one list of row groups");
  /* each chunk takes at least a byte */
  if (ncolumns > 0 && n > cursor_left(&thrift->cursor) / ncolumns)
    lanebloom_thrift_damage(thrift, "as many column chunks as there are row groups");
  if (thrift->expected)
    return LANEBLOOM_OK;
  if (n > schema_max_paths(footer->nbytes) / (footer->schema.paths_nbytes + 1))
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "column paths in %zu row groups: expected at most %zu bytes for a footer of "
                       "this size, found more",
                       n, schema_max_paths(footer->nbytes));
  footer->row_groups = calloc(n + 1, sizeof *footer->row_groups);
  footer->chunks = malloc((n * ncolumns + 1) * sizeof *footer->chunks);
  footer->filter_offsets = malloc((n * ncolumns + 1) * sizeof *footer->filter_offsets);
  if (!footer->row_groups || !footer->chunks || !footer->filter_offsets)
    return problem_memory(problem, n * ncolumns * sizeof *footer->filter_offsets);
  uint64_t nrows = 0;
  for (size_t i = 0; i < n && !thrift->expected; i++) {
    struct row_group *row_group = &footer->row_groups[i];
    row_group->first_row = nrows;
    read_row_group(thrift, footer, i);
    if (row_group->nrows > (uint64_t)INT64_MAX - nrows)
      lanebloom_thrift_damage(thrift, "fewer than 2^63 rows");
    nrows += row_group->nrows;
  }
  qsort(footer->filter_offsets, footer->nfilters, sizeof *footer->filter_offsets, compare_offsets);
  footer->filter_offsets[footer->nfilters] = footer->offset;
  footer->nrow_groups = n;
  footer->nrows = nrows; /* the sum, because some files state a wrong number */
  return LANEBLOOM_OK;
}

/* Reads the orders of columns, a list with one union for each column. Member 1 of the union is the
 * order of the column's type. Member 2 is the total order of IEEE 754. This order differs from the
 * usual order of floats only for NaN and for the signs of zeros. Code that uses bounds handles NaN
 * and zeros anyway. Other members are unknown. If the size of the list is not the number of
 * columns, the list is ignored; some readers do the same. */
static void read_orders(struct thrift *thrift, struct thrift_field field, struct footer *footer)
{
  const size_t n = lanebloom_thrift_list(thrift, field, THRIFT_STRUCT);
  for (size_t i = 0; i < n && !thrift->expected; i++) {
    const int32_t order = lanebloom_thrift_member_element(thrift);
    if (n != footer->schema.ncolumns)
      continue;
    struct column *column = &footer->schema.columns[i];
    column->has_order = order == 1 || (order == 2 && column->type.order == ORDER_FLOAT);
  }
}

static lanebloom_status read_created_by(struct thrift *thrift, struct thrift_field field,
                                        struct footer *footer, const struct problem *problem)
{
  const lanebloom_slice text = lanebloom_thrift_binary(thrift, field);
  free(footer->created_by);
  footer->created_by = calloc(text.size + 1, 1);
  if (!footer->created_by)
    return problem_memory(problem, text.size + 1);
  if (text.size > 0)
    memcpy(footer->created_by, text.data, text.size);
  return LANEBLOOM_OK;
}

/* ---- Key-value metadata ---- */

/* Returns the member that has the value of this key, or NULL if the key is not one of Hudi's. */
static lanebloom_slice *find_hudi(struct hudi_metadata *hudi, lanebloom_slice key)
{
  const struct {
    const char *key;
    lanebloom_slice *value;
  } keys[] = {{"org.apache.hudi.bloomfilter", &hudi->filter},
              {"com.uber.hoodie.bloomfilter", &hudi->filter}, /* before Hudi was Apache's */
              {"hoodie_bloom_filter_type_code", &hudi->type},
              {"hoodie_min_record_key", &hudi->min_key},
              {"hoodie_max_record_key", &hudi->max_key}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (key.size == strlen(keys[i].key) && memcmp(key.data, keys[i].key, key.size) == 0)
      return keys[i].value;
  return NULL;
}

static void read_key_value(struct thrift *thrift, struct footer *footer)
{
  lanebloom_slice key = {0}, value = {0};
  for (struct thrift_field field = {0}; lanebloom_thrift_next(thrift, &field);)
    if (field.id == 1)
      key = lanebloom_thrift_binary(thrift, field);
    else if (field.id == 2)
      value = lanebloom_thrift_binary(thrift, field);
    else
      lanebloom_thrift_skip(thrift, field);
  lanebloom_slice *hudi = find_hudi(&footer->hudi, key);
  if (!hudi)
    return;
  footer->hudi.is_ambiguous |= hudi->data != NULL;
  *hudi = value;
}

static void read_key_values(struct thrift *thrift, struct thrift_field field, struct footer *footer)
{
  const size_t n = lanebloom_thrift_list(thrift, field, THRIFT_STRUCT);
  for (size_t i = 0; i < n && !thrift->expected; i++)
    read_key_value(thrift, footer);
}

/* Reads a field of the metadata. The schema must come before row groups and column orders, because
 * both depend on the schema. All writers write the fields in this order. */
static lanebloom_status read_field(struct thrift *thrift, struct thrift_field field,
                                   struct footer *footer, bool *has_schema,
                                   const struct problem *problem)
{
  if (!*has_schema && (field.id == 4 || field.id == 7))
    lanebloom_thrift_damage(thrift, "the schema first");
  switch (field.id) {
  case 2:
    if (*has_schema)
      lanebloom_thrift_damage(thrift, "one schema");
    *has_schema = true;
    return thrift->expected ? LANEBLOOM_OK
                            : lanebloom_schema_read(thrift, field, &footer->schema, problem);
  case 4:
    return read_row_groups(thrift, field, footer, problem);
  case 5:
    read_key_values(thrift, field, footer);
    return LANEBLOOM_OK;
  case 6:
    return read_created_by(thrift, field, footer, problem);
  case 7:
    read_orders(thrift, field, footer);
    return LANEBLOOM_OK;
  default:
    lanebloom_thrift_skip(thrift, field);
    return LANEBLOOM_OK;
  }
}

/* Reads the metadata, which are the Thrift struct FileMetaData. Bytes after the struct are ignored,
 * because a signature may follow it. */
static lanebloom_status read_metadata(struct footer *footer, const struct problem *problem)
{
  struct thrift thrift = thrift_start(footer->bytes, footer->nbytes);
  bool has_schema = false;
  lanebloom_status status = LANEBLOOM_OK;
  for (struct thrift_field field = {0}; !status && lanebloom_thrift_next(&thrift, &field);)
    status = read_field(&thrift, field, footer, &has_schema, problem);
  if (!status && (!has_schema || !footer->row_groups))
    lanebloom_thrift_damage(&thrift, "a schema and row groups");
  return !status && thrift.expected ? explain(&thrift, footer, problem) : status;
}

/* ---- Bytes ---- */

/* Explains why a file has no footer. The footer is written last, so a file that was changed
 * recently may not have it yet. */
static const char *explain_no_footer(const struct input *input)
{
  return lanebloom_input_is_recent(input)
             ? "not a Parquet file, or one that is being written (try again)"
             : "not a Parquet file, or a truncated one";
}

static lanebloom_status check_tail(const struct input *input, const uint8_t *tail,
                                   const struct problem *problem)
{
  const uint32_t nbytes = load_le32(tail);
  if (memcmp(tail + 4, encrypted_magic, MAGIC_NBYTES) == 0)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected a footer that can be read, found an encrypted one");
  if (memcmp(tail + 4, magic, MAGIC_NBYTES) != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "%s: expected \"PAR1\" in the last 4 bytes, found %02x %02x %02x %02x",
                       explain_no_footer(input), tail[4], tail[5], tail[6], tail[7]);
  if (nbytes > input->nbytes - MIN_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected a footer within the file's %" PRIu64
                       " bytes, found one of %" PRIu32,
                       input->nbytes, nbytes);
  if (nbytes > INT32_MAX)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected a footer of at most %" PRId32 " bytes, found one of %" PRIu32,
                       INT32_MAX, nbytes);
  return LANEBLOOM_OK;
}

/* Reads the footer of a file into footer->own. First reads the last bytes of the file, which state
 * the size of the footer. If the footer is larger than these bytes, reads again. */
static lanebloom_status read_bytes(const struct input *input, struct footer *footer,
                                   const struct problem *problem)
{
  const size_t nbytes =
      input->nbytes < FIRST_READ_NBYTES ? (size_t)input->nbytes : FIRST_READ_NBYTES;
  footer->own = malloc(nbytes);
  if (!footer->own)
    return problem_memory(problem, nbytes);
  lanebloom_status status =
      lanebloom_input_read(input, input->nbytes - nbytes, footer->own, nbytes, problem);
  if (!status)
    status = check_tail(input, footer->own + nbytes - TAIL_NBYTES, problem);
  if (status)
    return status;
  footer->nbytes = load_le32(footer->own + nbytes - TAIL_NBYTES);
  footer->offset = input->nbytes - TAIL_NBYTES - footer->nbytes;
  const size_t room = footer->nbytes > 0 ? footer->nbytes : 1;
  if (footer->nbytes <= nbytes - TAIL_NBYTES) {
    memmove(footer->own, footer->own + nbytes - TAIL_NBYTES - footer->nbytes, footer->nbytes);
    uint8_t *shrunk = realloc(footer->own, room);
    footer->own = shrunk ? shrunk : footer->own;
    return LANEBLOOM_OK;
  }
  free(footer->own);
  footer->own = malloc(room);
  if (!footer->own)
    return problem_memory(problem, room);
  return lanebloom_input_read(input, footer->offset, footer->own, footer->nbytes, problem);
}

static lanebloom_status find_bytes(const struct input *input, struct footer *footer,
                                   const struct problem *problem)
{
  if (input->nbytes < MIN_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "%s: expected at least %d bytes, found %" PRIu64, explain_no_footer(input),
                       MIN_NBYTES, input->nbytes);
  if (input->file >= 0) {
    lanebloom_status status = read_bytes(input, footer, problem);
    footer->bytes = footer->own;
    return status;
  }
  const uint8_t *tail = input->bytes + input->nbytes - TAIL_NBYTES;
  lanebloom_status status = check_tail(input, tail, problem);
  if (status)
    return status;
  footer->nbytes = load_le32(tail);
  footer->offset = input->nbytes - TAIL_NBYTES - footer->nbytes;
  footer->bytes = input->bytes + footer->offset;
  return LANEBLOOM_OK;
}

/* ---- Calls ---- */

lanebloom_status lanebloom_footer_load(const struct input *input, lanebloom_parquet_bounds bounds,
                                       struct footer *footer, const struct problem *problem)
{
  *footer = (struct footer){0};
  lanebloom_status status = find_bytes(input, footer, problem);
  if (!status)
    status = read_metadata(footer, problem);
  if (status)
    lanebloom_footer_free(footer);
  else
    footer->trust = lanebloom_trust_in(footer->created_by, bounds);
  return status;
}

void lanebloom_footer_free(struct footer *footer)
{
  lanebloom_schema_free(&footer->schema);
  free(footer->own);
  free(footer->row_groups);
  free(footer->chunks);
  free(footer->filter_offsets);
  free(footer->created_by);
  *footer = (struct footer){0};
}

struct chunk lanebloom_footer_chunk(const struct footer *footer, size_t row_group, size_t column)
{
  const uint32_t at = footer->chunks[row_group * footer->schema.ncolumns + column];
  struct thrift thrift = thrift_start(footer->bytes + at, footer->nbytes - at);
  struct chunk chunk;
  lanebloom_chunk_read(&thrift, footer, &footer->schema.columns[column], &chunk);
  return chunk;
}

uint64_t lanebloom_footer_filter_end(const struct footer *footer, uint64_t offset)
{
  size_t first = 0, end = footer->nfilters;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (footer->filter_offsets[middle] < offset)
      first = middle + 1;
    else
      end = middle;
  }
  return footer->filter_offsets[first + 1];
}
