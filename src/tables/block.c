/* Reads and verifies blocks, and parses their entries. A block in the file:
 *
 *   payload | compression type, 1 byte | checksum of both, 4 bytes
 *
 * The payload of a filter is the bytes of the filter. Every other payload has entries, in columns
 * (pebble/columns.c) or in rows: a list of entries, then the offsets of restarts, then the number
 * of restarts. An entry omits the prefix that its key shares with the previous key. A restart is an
 * entry that omits nothing.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "block.h"
#include "compression.h"

/* ---- One block ---- */

static uint32_t sum_of(const struct block_reader *reader, const struct handle *handle,
                       const uint8_t *bytes)
{
  return lanebloom_checksum(reader->footer.checksum, bytes, (size_t)handle->nbytes + 1) +
         lanebloom_checksum_context(reader->footer.checksum_base, handle->offset);
}

/* Computes the checksum of a properties block as it was before ingestion. A database that ingests a
 * table writes a sequence number into the table's properties, but does not update the checksum. So
 * the checksum matches only after the number is replaced by 0. (RocksDB 7.8.3
 * table/meta_blocks.cc) */
static lanebloom_status sum_before_ingestion(const struct block_reader *reader,
                                             const struct handle *handle, const uint8_t *bytes,
                                             uint32_t *sum)
{
  const size_t nbytes = (size_t)handle->nbytes + 1;
  struct block copy = {.nbytes = (size_t)handle->nbytes,
                       .memory = malloc(nbytes),
                       .layout = lanebloom_block_layout(&reader->footer, BLOCK_PROPERTIES)};
  if (!copy.memory)
    return problem_memory(reader->problem, nbytes);
  memcpy(copy.memory, bytes, nbytes);
  copy.bytes = copy.memory;
  struct entries entries;
  lanebloom_status status = lanebloom_entries_begin(&copy, (struct entry_form){0},
                                                    reader->footer.engine, &no_problem, &entries);
  if (!status) {
    while (lanebloom_entries_next(&entries))
      if (slice_is((lanebloom_slice){entries.key, entries.key_nbytes},
                   "rocksdb.external_sst_file.global_seqno"))
        memset(copy.memory + (entries.value.at - copy.bytes), 0, cursor_left(&entries.value));
    lanebloom_entries_end(&entries, "", &no_problem);
  }
  *sum = sum_of(reader, handle, copy.bytes);
  lanebloom_block_free(&copy);
  return status == LANEBLOOM_ERR_MEMORY ? problem_memory(reader->problem, nbytes) : LANEBLOOM_OK;
}

static lanebloom_status verify(const struct block_reader *reader, const struct handle *handle,
                               const uint8_t *bytes, enum block_kind kind, const char *what)
{
  if (reader->footer.checksum == CHECKSUM_NONE)
    return LANEBLOOM_OK;
  const uint32_t expected = load_le32(bytes + handle->nbytes + 1),
                 found = sum_of(reader, handle, bytes);
  if (expected == found)
    return LANEBLOOM_OK;
  if (kind == BLOCK_PROPERTIES) {
    uint32_t earlier = found;
    lanebloom_status status = sum_before_ingestion(reader, handle, bytes, &earlier);
    if (status || expected == earlier)
      return status;
  }
  return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged %s at %" PRIu64 ": expected %s %08" PRIx32 ", found %08" PRIx32, what,
                     handle->offset, lanebloom_table_checksum_name(reader->footer.checksum),
                     expected, found);
}

/* Replaces a compressed block by its decompressed bytes. */
static lanebloom_status decompress(struct block_reader *reader, uint8_t type, enum block_kind kind,
                                   const char *what, struct block *block)
{
  const lanebloom_slice stored = {block->bytes, block->nbytes};
  struct compressed compressed = {.codec = lanebloom_codec(reader->footer.engine, type, stored),
                                  .engine = reader->footer.engine,
                                  .version = reader->footer.version,
                                  .bytes = block->bytes,
                                  .nbytes = block->nbytes,
                                  .max_nbytes = reader->max_block_nbytes};
  if (compressed.max_nbytes > reader->decompressed_left)
    compressed.max_nbytes = reader->decompressed_left;
  if (compressed.codec == CODEC_NONE)
    return LANEBLOOM_OK;
  if (!lanebloom_codec_is_built(compressed.codec)) {
    const char *library = lanebloom_codec_library(compressed.codec);
    return problem_set(reader->problem, LANEBLOOM_ERR_LIMIT,
                       "%s at %" PRIu64
                       ": compressed with %s of %s (type %u), which this build does not read%s%s",
                       what, block->offset, lanebloom_codec_name(compressed.codec),
                       lanebloom_footer_engine(&reader->footer), type,
                       library ? "; build lanebloom with " : "", library ? library : "");
  }
  if (kind == BLOCK_DATA)
    compressed.dictionary = reader->dictionary;
  uint8_t *bytes;
  size_t nbytes;
  lanebloom_status status = lanebloom_decompress(&compressed, &bytes, &nbytes);
  reader->is_too_large = status == LANEBLOOM_ERR_LIMIT;
  if (status == LANEBLOOM_ERR_LIMIT)
    return problem_set(reader->problem, status,
                       "%s at %" PRIu64 ": expected at most %" PRIu64
                       " bytes after decompression for a file of this size, found more",
                       what, block->offset, compressed.max_nbytes);
  if (status == LANEBLOOM_ERR_MEMORY)
    return problem_set(reader->problem, status, "out of memory: decompressing the %s at %" PRIu64,
                       what, block->offset);
  if (status)
    return problem_set(reader->problem, status,
                       "damaged %s at %" PRIu64 ": expected %s, found something else", what,
                       block->offset, lanebloom_codec_name(compressed.codec));
  reader->decompressed_left -= nbytes;
  reader->codecs |= UINT32_C(1) << compressed.codec;
  free(block->memory);
  block->bytes = block->memory = bytes;
  block->nbytes = nbytes;
  return LANEBLOOM_OK;
}

static lanebloom_status read_checked(struct block_reader *reader, struct handle handle,
                                     enum block_kind kind, const char *what, struct block *block)
{
  const uint64_t end = reader->footer.offset;
  if (handle.offset > end || end - handle.offset < BLOCK_TRAILER_NBYTES ||
      handle.nbytes > end - handle.offset - BLOCK_TRAILER_NBYTES)
    return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected the %s before the footer at %" PRIu64
                       ", found it at %" PRIu64 " with %" PRIu64 " bytes",
                       what, end, handle.offset, handle.nbytes);
  const uint64_t nbytes = handle.nbytes + BLOCK_TRAILER_NBYTES;
  if (nbytes > reader->nbytes_left)
    return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged: expected blocks that do not overlap, found that the %s at %" PRIu64
                       " overlaps others",
                       what, handle.offset);
  reader->nbytes_left -= nbytes;
  if (nbytes > SIZE_MAX / 2) /* possible only if addresses have 32 bits */
    return problem_memory(reader->problem, nbytes);

  block->offset = handle.offset;
  block->nbytes = (size_t)handle.nbytes;
  if (reader->input->bytes) {
    block->bytes = reader->input->bytes + handle.offset;
  } else {
    block->bytes = block->memory = malloc((size_t)nbytes);
    if (!block->memory)
      return problem_memory(reader->problem, nbytes);
    lanebloom_status status = lanebloom_input_read(reader->input, handle.offset, block->memory,
                                                   (size_t)nbytes, reader->problem);
    if (status)
      return status;
  }
  lanebloom_status status = verify(reader, &handle, block->bytes, kind, what);
  return status ? status : decompress(reader, block->bytes[handle.nbytes], kind, what, block);
}

lanebloom_status lanebloom_block_read(struct block_reader *reader, struct handle handle,
                                      enum block_kind kind, const char *what, struct block *block)
{
  *block = (struct block){.layout = lanebloom_block_layout(&reader->footer, kind)};
  reader->is_too_large = false;
  lanebloom_status status = read_checked(reader, handle, kind, what, block);
  if (status)
    lanebloom_block_free(block);
  return status;
}

void lanebloom_block_free(struct block *block)
{
  free(block->memory);
  *block = (struct block){0};
}

/* ---- Entries in columns ---- */

enum column_layout lanebloom_block_layout(const struct footer *footer, enum block_kind kind)
{
  /* The versions of Pebble's tables from which on these blocks have columns. */
  static const struct {
    uint32_t first_version;
    enum column_layout layout;
  } kinds[] = {
      [BLOCK_META] = {UINT32_MAX, NO_COLUMNS}, [BLOCK_METAINDEX] = {6, COLUMNS_NAMES},
      [BLOCK_PROPERTIES] = {7, COLUMNS_NAMES}, [BLOCK_INDEX] = {5, COLUMNS_INDEX},
      [BLOCK_DATA] = {5, COLUMNS_KEYS},
  };
  return footer->engine == LANEBLOOM_ENGINE_PEBBLE && footer->version >= kinds[kind].first_version
             ? kinds[kind].layout
             : NO_COLUMNS;
}

static lanebloom_status begin_columns(const struct block *block, const struct problem *problem,
                                      struct entries *entries)
{
  const uint8_t format = lanebloom_columns_format(block->layout, block->bytes, block->nbytes);
  if (format > COLUMNS_FORMAT)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "block at %" PRIu64 ": expected columns in format %d, found format %u; a "
                       "newer lanebloom may read it",
                       block->offset, COLUMNS_FORMAT, format);
  if (format == 0 ||
      !lanebloom_columns_begin(block->layout, block->bytes, block->nbytes, &entries->columns))
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged block at %" PRIu64 ": expected columns, found something else",
                       block->offset);
  const size_t nbytes = columns_max_key_nbytes(block->nbytes);
  entries->key = malloc(nbytes);
  return entries->key ? LANEBLOOM_OK : problem_memory(problem, nbytes);
}

static bool next_in_columns(struct entries *entries)
{
  if (!lanebloom_columns_next(&entries->columns, entries))
    return false;
  struct cursor value = entries->value;
  return !entries->form.has_handles || entries->columns.layout != COLUMNS_NAMES ||
         cursor_handle(&value, &entries->handle);
}

/* ---- Entries ---- */

/* RocksDB and Pebble store flags in the high bits of the number of restarts. */
static const uint32_t NRESTARTS = 0x0fffffff, HAS_HASH_INDEX = UINT32_C(1) << 31,
                      HAS_VALUES_APART = UINT32_C(1) << 28;

/* Finds the end of the entries. Returns false if the end would be before the beginning of the
 * block. */
static bool find_end(const struct block *block, uint32_t nrestarts, bool has_hash_index,
                     size_t *end)
{
  enum { NUMBER_NBYTES = 4, NBUCKETS_NBYTES = 2 };
  uint64_t behind = NUMBER_NBYTES + (uint64_t)nrestarts * NUMBER_NBYTES;
  if (has_hash_index) {
    /* The hash index is between the restarts and their number: 1 byte per bucket, then the number
     * of buckets in 2 bytes. */
    if (block->nbytes < NUMBER_NBYTES + NBUCKETS_NBYTES)
      return false;
    const uint8_t *nbuckets = block->bytes + block->nbytes - NUMBER_NBYTES - NBUCKETS_NBYTES;
    behind += NBUCKETS_NBYTES + (uint64_t)(nbuckets[0] | nbuckets[1] << 8);
  }
  if (behind > block->nbytes)
    return false;
  *end = block->nbytes - (size_t)behind;
  return true;
}

bool lanebloom_block_has_values_apart(const struct block *block, lanebloom_engine engine)
{
  return block->layout == NO_COLUMNS && engine != LANEBLOOM_ENGINE_LEVELDB && block->nbytes >= 4 &&
         load_le32(block->bytes + block->nbytes - 4) & HAS_VALUES_APART;
}

lanebloom_status lanebloom_entries_begin(const struct block *block, struct entry_form form,
                                         lanebloom_engine engine, const struct problem *problem,
                                         struct entries *entries)
{
  *entries = (struct entries){.form = form, .offset = block->offset};
  if (block->layout != NO_COLUMNS)
    return begin_columns(block, problem, entries);
  uint32_t nrestarts =
      block->nbytes >= 4 ? load_le32(block->bytes + block->nbytes - 4) : UINT32_MAX;
  bool has_hash_index = false;
  if (lanebloom_block_has_values_apart(block, engine))
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "block at %" PRIu64 ": expected values stored with their keys, found them "
                       "stored apart, which is not supported",
                       block->offset);
  if (engine != LANEBLOOM_ENGINE_LEVELDB && block->nbytes >= 4) {
    has_hash_index = nrestarts & HAS_HASH_INDEX;
    nrestarts &= NRESTARTS;
  }
  size_t end;
  if (!find_end(block, nrestarts, has_hash_index, &end))
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged block at %" PRIu64
                       ": expected room for its restarts, found %zu bytes",
                       block->offset, block->nbytes);
  entries->rest = (struct cursor){block->bytes, block->bytes + end};
  entries->key =
      malloc(end ? end : 1); /* enough for any key: the block stores every byte of its keys */
  return entries->key ? LANEBLOOM_OK : problem_memory(problem, end);
}

/* Parses a handle. A delta handle has no offset, because its block follows the previous block. The
 * handle stores the difference of the two blocks' sizes, in zigzag encoding: 0, -1, 1, -2, ... are
 * stored as 0, 1, 2, 3, ... */
static bool next_handle(struct entries *entries, bool is_delta, struct cursor *from)
{
  if (!is_delta)
    return cursor_handle(from, &entries->handle);
  uint64_t folded;
  if (!cursor_varint(from, &folded))
    return false;
  struct handle *handle = &entries->handle;
  handle->offset += handle->nbytes + BLOCK_TRAILER_NBYTES;
  handle->nbytes += folded >> 1 ^ (0 - (folded & 1));
  return true;
}

static bool next_value(struct entries *entries, bool is_delta, uint64_t value_nbytes)
{
  const uint8_t *bytes;
  if (!entries->form.has_deltas) {
    if (!cursor_bytes(&entries->rest, value_nbytes, &bytes))
      return false;
    entries->value = (struct cursor){bytes, bytes + value_nbytes};
    struct cursor from = entries->value;
    return !entries->form.has_handles || next_handle(entries, false, &from);
  }
  uint64_t first_key_nbytes;
  return next_handle(entries, is_delta, &entries->rest) &&
         (!entries->form.has_first_key || (cursor_varint(&entries->rest, &first_key_nbytes) &&
                                           cursor_bytes(&entries->rest, first_key_nbytes, &bytes)));
}

static bool next_in_rows(struct entries *entries)
{
  struct cursor *rest = &entries->rest;
  uint64_t shared, unshared, value_nbytes = 0;
  const uint8_t *bytes;
  if (!cursor_varint(rest, &shared) || !cursor_varint(rest, &unshared) ||
      (!entries->form.has_deltas && !cursor_varint(rest, &value_nbytes)))
    return false;
  if (shared > entries->key_nbytes || !cursor_bytes(rest, unshared, &bytes))
    return false;
  memcpy(entries->key + shared, bytes, (size_t)unshared);
  entries->key_nbytes = (size_t)(shared + unshared);
  return next_value(entries, shared > 0, value_nbytes);
}

bool lanebloom_entries_next(struct entries *entries)
{
  const bool has_columns = entries->columns.layout != NO_COLUMNS,
             is_at_end = has_columns ? entries->columns.row == entries->columns.nrows
                                     : cursor_left(&entries->rest) == 0;
  if (entries->damaged || is_at_end)
    return false;
  entries->damaged = has_columns ? !next_in_columns(entries) : !next_in_rows(entries);
  return !entries->damaged;
}

lanebloom_status lanebloom_entries_end(struct entries *entries, const char *what,
                                       const struct problem *problem)
{
  free(entries->key);
  entries->key = NULL;
  if (!entries->damaged)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged %s at %" PRIu64 ": expected entries, found something else", what,
                     entries->offset);
}
