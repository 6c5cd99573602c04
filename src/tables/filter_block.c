/* Filter blocks: LevelDB's small filters one behind the other, then where each begins, then what a
 * filter is for.
 *
 *   filter 0 | filter 1 | ... | begin of 0 | begin of 1 | ... | end of the last | base_lg
 *                             | 4 bytes each                                    | 1 byte
 *
 * Filter i holds the keys of the data blocks that start at i << base_lg of the file and before (i +
 * 1) << base_lg; one without keys has no bytes. (LevelDB 1.23 table/filter_block.cc)
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "../bytes.h"
#include "../kernels.h"
#include "filter_block.h"

enum {
  OFFSET_NBYTES = 4,
  TRAILER_NBYTES =
      OFFSET_NBYTES +
      1, /* the end of the last filter, which is where the offsets begin, and base_lg */
  MAX_BASE_LG = 63,
};

/* What every call that creates something checks first, in the first library's order. */
static lanebloom_status check_format(lanebloom_format format)
{
  if (!lanebloom_kernel_active())
    return LANEBLOOM_ERR_KERNEL;
  return format == LANEBLOOM_LEVELDB || format == LANEBLOOM_LEVELDB_SIGNED ? LANEBLOOM_OK
                                                                           : LANEBLOOM_ERR_FORMAT;
}

/* ---- Reading ---- */

struct lanebloom_filter_block {
  lanebloom_format format;
  const uint8_t *bytes;   /* the filters */
  const uint8_t *offsets; /* behind them */
  uint64_t nfilters; /* 0 for malformed contents: beyond the last filter every key may be there */
  unsigned base_lg;
};

/* A filter of no probes has every key, one of no bytes has none: neither needs a case of its
 * own. */
static const uint8_t no_probes[2] = {0, 0};
static const lanebloom_slice every_key = {no_probes, sizeof no_probes}, no_key = {no_probes, 0};

lanebloom_status lanebloom_filter_block_parse(lanebloom_format format, const void *bytes,
                                              size_t size, lanebloom_filter_block **block)
{
  *block = NULL;
  lanebloom_status status = check_format(format);
  if (status)
    return status;
  if (!bytes && size > 0)
    return LANEBLOOM_ERR_ARGUMENT;

  lanebloom_filter_block *made = malloc(sizeof *made);
  if (!made)
    return LANEBLOOM_ERR_MEMORY;
  *made = (lanebloom_filter_block){.format = format};
  if (size >= TRAILER_NBYTES) {
    const uint8_t *trailer = (const uint8_t *)bytes + size - TRAILER_NBYTES;
    const size_t filters_nbytes = load_le32(trailer), max_nbytes = size - TRAILER_NBYTES;
    const unsigned base_lg = trailer[OFFSET_NBYTES];
    if (filters_nbytes <= max_nbytes && base_lg <= MAX_BASE_LG) {
      made->bytes = bytes;
      made->offsets = made->bytes + filters_nbytes;
      made->nfilters =
          (max_nbytes - filters_nbytes) / OFFSET_NBYTES; /* bytes left over are no error */
      made->base_lg = base_lg;
    }
  }
  *block = made;
  return LANEBLOOM_OK;
}

void lanebloom_filter_block_close(lanebloom_filter_block *block)
{
  free(block);
}

/* The questions and their order are those of FilterBlockReader::KeyMayMatch. */
static lanebloom_slice filter_at(const lanebloom_filter_block *block, uint64_t index)
{
  if (index >= block->nfilters)
    return every_key;
  const uint8_t *offset = block->offsets + index * OFFSET_NBYTES;
  const uint32_t begin = load_le32(offset), end = load_le32(offset + OFFSET_NBYTES);
  if (begin == end)
    return no_key;
  if (begin < end && end <= (size_t)(block->offsets - block->bytes))
    return (lanebloom_slice){block->bytes + begin, end - begin};
  return every_key;
}

uint64_t lanebloom_filter_block_size(const lanebloom_filter_block *block)
{
  return block->nfilters;
}

bool lanebloom_filter_block_filter(const lanebloom_filter_block *block, uint64_t index,
                                   lanebloom_slice *filter)
{
  *filter = filter_at(block, index);
  return filter->data != no_probes || filter->size == 0;
}

/* What the filter would say of one hash if it were open. Opening allocates, which only many keys
 * are worth. */
static bool may_match(lanebloom_slice filter, uint32_t hash)
{
  if (filter.size < 2)
    return false;
  const uint8_t *bytes = filter.data;
  const size_t payload_nbytes = filter.size - 1;
  const uint8_t nprobes = bytes[payload_nbytes];
  if (nprobes > LEVELDB_MAX_NPROBES)
    return true;
  const uint64_t nbits = (uint64_t)payload_nbytes * 8;
  const uint32_t stride = bloomhash_stride(hash);
  uint32_t probe = hash;
  for (uint32_t i = 0; i < nprobes; i++, probe += stride) {
    const uint32_t position =
        nbits > UINT32_MAX ? probe : probe % (uint32_t)nbits; /* 32 bits divide sooner than 64 */
    if (!(bytes[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

bool lanebloom_filter_block_may_contain(const lanebloom_filter_block *block,
                                        uint64_t data_block_offset, const void *key, size_t size)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  uint32_t hash;
  lanebloom_hash(block->format, &keys, &hash); /* cannot fail: the format has been opened */
  return may_match(filter_at(block, data_block_offset >> block->base_lg), hash);
}

enum {
  /* Hashed at a time, and the longest run. Zen 4, beside other work, runs of 300 keys, ns per key:
   * 256: 3.0, 512: 2.6, 1024: 2.5. */
  CHUNK_NKEYS = 1024,
  /* From here on a run is worth opening its filter. Zen 4, 6 probes, runs of 12, 16, 24 and 32
   * keys, ns per key: none passes: one by one 13.3, 13.1, 13.2, 12.8, by a kernel 15.0, 11.5, 8.5,
   * 6.9; all pass: 11.5, 11.5, 11.4, 11.4 and 18.1, 13.8, 13.5, 10.3. */
  MANY_NKEYS = 16,
};

/* Keys of a chunk that follow each other and ask the same filter. */
struct run {
  lanebloom_slice filter;
  uint32_t first, n;
};

/* The runs of a chunk of n keys, one after the other; returns how many. Their filters are all on
 * their way into the cache before the first is asked. Zen 4, beside other work, a block of 29 MiB,
 * runs of 1 and 3 keys: 38 and 19 ns per key, without that 58 and 38. */
static size_t find_runs(const lanebloom_filter_block *block, const uint64_t *data_block_offsets,
                        size_t n, struct run *runs)
{
  size_t nruns = 0;
  for (size_t first = 0, end; first < n; first = end) {
    const uint64_t index = data_block_offsets[first] >> block->base_lg;
    for (end = first + 1; end < n && data_block_offsets[end] >> block->base_lg == index;)
      end++;
    const lanebloom_slice filter = filter_at(block, index);
    __builtin_prefetch(filter.data);
    __builtin_prefetch((const uint8_t *)filter.data + filter.size);
    runs[nruns++] = (struct run){filter, (uint32_t)first, (uint32_t)(end - first)};
  }
  return nruns;
}

static size_t screen_one_by_one(const struct run *run, const uint32_t *hashes, uint8_t *bitmap)
{
  size_t count = 0;
  for (size_t i = run->first; i < run->first + run->n; i++) {
    const bool may = may_match(run->filter, hashes[i]);
    bitmap[i / 8] |= (uint8_t)(may << i % 8);
    count += may;
  }
  return count;
}

/* n bits, those past them 0, into a bitmap from bit `first` on, where it has zeros. */
static void or_bits(uint8_t *bitmap, size_t first, const uint8_t *bits, size_t n)
{
  for (size_t i = 0; i < (n + 7) / 8; i++) {
    const unsigned shifted = (unsigned)bits[i] << first % 8;
    bitmap[first / 8 + i] |= (uint8_t)shifted;
    if (shifted >> 8) /* else the next byte may lie beyond the bitmap */
      bitmap[first / 8 + i + 1] |= (uint8_t)(shifted >> 8);
  }
}

static size_t screen_by_kernel(const lanebloom_filter *filter, const struct run *run,
                               const uint32_t *hashes, uint8_t *bitmap)
{
  uint8_t hits[CHUNK_NKEYS / 8];
  const size_t count = lanebloom_filter_screen_hashes(filter, hashes + run->first, run->n, hits);
  or_bits(bitmap, run->first, hits, run->n);
  return count;
}

/* Sets the bits of a run in the bitmap. Short of memory, many keys are screened one by one, too. */
static size_t screen_run(lanebloom_format format, const struct run *run, const uint32_t *hashes,
                         uint8_t *bitmap)
{
  lanebloom_filter *filter;
  if (run->n < MANY_NKEYS ||
      lanebloom_filter_parse_raw(format, run->filter.data, run->filter.size, &filter))
    return screen_one_by_one(run, hashes, bitmap);
  const size_t count = screen_by_kernel(filter, run, hashes, bitmap);
  lanebloom_filter_close(filter);
  return count;
}

size_t lanebloom_filter_block_screen(const lanebloom_filter_block *block,
                                     const uint64_t *data_block_offsets, const lanebloom_keys *keys,
                                     uint8_t *bitmap)
{
  uint32_t hashes[CHUNK_NKEYS];
  struct run runs[CHUNK_NKEYS];
  uint8_t uncollected[CHUNK_NKEYS / 8];
  size_t count = 0;
  for (size_t first = 0; first < keys->n; first += CHUNK_NKEYS) {
    const lanebloom_keys chunk = lanebloom_keys_part(keys, first, CHUNK_NKEYS);
    const size_t nruns = find_runs(block, data_block_offsets + first, chunk.n, runs);
    lanebloom_hash(block->format, &chunk, hashes);
    uint8_t *hits = bitmap ? bitmap + first / 8 : uncollected;
    memset(hits, 0, (chunk.n + 7) / 8);
    for (size_t i = 0; i < nruns; i++)
      count += screen_run(block->format, &runs[i], hashes, hits);
  }
  return count;
}

/* ---- Building ---- */

/* Bytes that grow at their end. */
struct buffer {
  uint8_t *bytes;
  size_t nbytes, room;
};

struct lanebloom_filter_block_builder {
  lanebloom_format format;
  double bits_per_key;
  unsigned base_lg;
  uint64_t data_block_offset; /* of the block that keys are added to */

  struct buffer filters, offsets; /* as they will stand in the block */

  lanebloom_builder *pending; /* the filter that is being filled: the one behind the last offset */
  uint64_t pending_nkeys;
  uint64_t pending_nbytes; /* 0 of no keys */
};

/* Room for nbytes more, so that appending them cannot fail. */
static lanebloom_status reserve(struct buffer *buffer, uint64_t nbytes)
{
  if (nbytes <= buffer->room - buffer->nbytes)
    return LANEBLOOM_OK;
  if (nbytes > PTRDIFF_MAX / 2 - buffer->nbytes)
    return LANEBLOOM_ERR_MEMORY;
  size_t room = buffer->nbytes + (size_t)nbytes;
  if (room < 2 * buffer->room)
    room = 2 * buffer->room;
  uint8_t *bytes = realloc(buffer->bytes, room);
  if (!bytes)
    return LANEBLOOM_ERR_MEMORY;
  buffer->bytes = bytes;
  buffer->room = room;
  return LANEBLOOM_OK;
}

static void append(struct buffer *buffer, const void *bytes, size_t nbytes)
{
  memcpy(buffer->bytes + buffer->nbytes, bytes, nbytes);
  buffer->nbytes += nbytes;
}

static void append_offset(struct buffer *buffer, size_t offset)
{
  uint8_t bytes[OFFSET_NBYTES];
  store_le32(bytes, (uint32_t)offset); /* add() sees to it that none is larger */
  append(buffer, bytes, sizeof bytes);
}

static uint64_t nfilters_of(const lanebloom_filter_block_builder *builder)
{
  return builder->offsets.nbytes / OFFSET_NBYTES;
}

lanebloom_status lanebloom_filter_block_builder_create(lanebloom_format format, double bits_per_key,
                                                       unsigned base_lg,
                                                       lanebloom_filter_block_builder **builder)
{
  *builder = NULL;
  lanebloom_status status = check_format(format);
  if (status)
    return status;
  if (base_lg > MAX_BASE_LG)
    return LANEBLOOM_ERR_ARGUMENT;
  lanebloom_builder *pending;
  if ((status = lanebloom_builder_create(format, bits_per_key, 0, &pending)))
    return status;
  lanebloom_filter_block_builder *made = malloc(sizeof *made);
  if (!made) {
    lanebloom_builder_destroy(pending);
    return LANEBLOOM_ERR_MEMORY;
  }
  *made = (lanebloom_filter_block_builder){
      .format = format, .bits_per_key = bits_per_key, .base_lg = base_lg, .pending = pending};
  *builder = made;
  return LANEBLOOM_OK;
}

void lanebloom_filter_block_builder_destroy(lanebloom_filter_block_builder *builder)
{
  if (!builder)
    return;
  lanebloom_builder_destroy(builder->pending);
  free(builder->filters.bytes);
  free(builder->offsets.bytes);
  free(builder);
}

/* Makes filters until there are so many: one of the pending keys, then empty ones, which are an
 * offset and no bytes. The pending filter is finished once nothing else can fail. */
static lanebloom_status make_filters(lanebloom_filter_block_builder *builder, uint64_t nfilters)
{
  if (nfilters <= nfilters_of(builder))
    return LANEBLOOM_OK;
  uint64_t offsets_nbytes;
  if (__builtin_mul_overflow(nfilters - nfilters_of(builder), OFFSET_NBYTES, &offsets_nbytes))
    return LANEBLOOM_ERR_MEMORY;
  lanebloom_status status = reserve(&builder->offsets, offsets_nbytes);
  if (!status)
    status = reserve(&builder->filters, builder->pending_nbytes);
  lanebloom_filter *filter = NULL;
  if (!status && builder->pending_nkeys > 0)
    status = lanebloom_builder_finish(builder->pending, &filter);
  if (status)
    return status;

  append_offset(&builder->offsets, builder->filters.nbytes);
  if (filter) {
    size_t nbytes;
    const void *bytes = lanebloom_filter_bytes(filter, &nbytes);
    append(&builder->filters, bytes, nbytes);
    lanebloom_filter_close(filter);
  }
  builder->pending_nkeys = builder->pending_nbytes = 0;
  while (nfilters_of(builder) < nfilters)
    append_offset(&builder->offsets, builder->filters.nbytes);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_block_builder_start_block(lanebloom_filter_block_builder *builder,
                                                            uint64_t data_block_offset)
{
  if (data_block_offset < builder->data_block_offset)
    return LANEBLOOM_ERR_ARGUMENT;
  lanebloom_status status = make_filters(builder, data_block_offset >> builder->base_lg);
  if (!status)
    builder->data_block_offset = data_block_offset;
  return status;
}

lanebloom_status lanebloom_filter_block_builder_add(lanebloom_filter_block_builder *builder,
                                                    const lanebloom_keys *keys)
{
  if (keys->n == 0)
    return LANEBLOOM_OK; /* a filter of no keys would have bytes */
  uint64_t nkeys, nbytes;
  unsigned nprobes;
  if (__builtin_add_overflow(builder->pending_nkeys, keys->n, &nkeys))
    return LANEBLOOM_ERR_LIMIT;
  lanebloom_status status =
      lanebloom_plan_size(builder->format, builder->bits_per_key, nkeys, &nbytes, &nprobes);
  if (!status && nbytes > UINT32_MAX - builder->filters.nbytes)
    status = LANEBLOOM_ERR_LIMIT;
  if (!status)
    status = lanebloom_builder_add(builder->pending, keys);
  if (status)
    return status;
  builder->pending_nkeys = nkeys;
  builder->pending_nbytes = nbytes;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_block_builder_finish(lanebloom_filter_block_builder *builder,
                                                       const void **bytes, size_t *size)
{
  *bytes = NULL;
  *size = 0;
  const unsigned npending = builder->pending_nkeys > 0;
  /* Room for all of the block first: on an error nothing has changed. */
  lanebloom_status status =
      reserve(&builder->filters, builder->pending_nbytes + builder->offsets.nbytes +
                                     npending * OFFSET_NBYTES + TRAILER_NBYTES);
  if (!status)
    status = make_filters(builder, nfilters_of(builder) + npending);
  if (status)
    return status;

  struct buffer *block = &builder->filters;
  const size_t filters_nbytes = block->nbytes;
  if (builder->offsets.nbytes > 0)
    append(block, builder->offsets.bytes, builder->offsets.nbytes);
  append_offset(block, filters_nbytes);
  const uint8_t base_lg = (uint8_t)builder->base_lg;
  append(block, &base_lg, 1);
  *bytes = block->bytes;
  *size = block->nbytes;
  builder->filters.nbytes = builder->offsets.nbytes = 0; /* the bytes stay until they are needed */
  builder->data_block_offset = 0;
  return LANEBLOOM_OK;
}
