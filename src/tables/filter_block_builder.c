/* Builds filter blocks, whose layout is in filter_block.h.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "filter_block.h"

/* A growing array of bytes. */
struct buffer {
  uint8_t *bytes;
  size_t nbytes, room;
};

struct lanebloom_filter_block_builder {
  lanebloom_format format;
  double bits_per_key;
  unsigned base_lg;
  uint64_t data_block_offset; /* where the data block of the next keys begins */

  struct buffer filters, offsets; /* finished filters and their offsets, as in the block */

  /* The filter that is being built. It has the keys that were added after the last finished
   * filter. */
  lanebloom_builder *pending;
  uint64_t pending_nkeys;
  uint64_t pending_nbytes; /* the size of the finished filter; 0 if it has no keys */
};

/* Makes room for nbytes more, so that append() cannot fail for them. Errors: MEMORY. */
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
  store_le32(bytes, (uint32_t)offset); /* fits: add() limits the sum of all filters' sizes */
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
  lanebloom_status status = filter_block_check_format(format);
  if (status)
    return status;
  if (base_lg > MAX_BASE_LG)
    return LANEBLOOM_ERR_ARGUMENT;
  lanebloom_builder *pending;
  if ((status = lanebloom_builder_create(format, bits_per_key, 0, &pending)))
    return status;
  lanebloom_filter_block_builder *made = malloc(sizeof *made);
  if (!made) {
    lanebloom_builder_free(pending);
    return LANEBLOOM_ERR_MEMORY;
  }
  *made = (lanebloom_filter_block_builder){
      .format = format, .bits_per_key = bits_per_key, .base_lg = base_lg, .pending = pending};
  *builder = made;
  return LANEBLOOM_OK;
}

void lanebloom_filter_block_builder_free(lanebloom_filter_block_builder *builder)
{
  if (!builder)
    return;
  lanebloom_builder_free(builder->pending);
  free(builder->filters.bytes);
  free(builder->offsets.bytes);
  free(builder);
}

/* Appends filters until there are nfilters: first the filter of the pending keys, then empty
 * filters, which have an offset but no bytes. Every step that can fail comes before the first
 * change, so an error changes nothing. */
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
    lanebloom_filter_free(filter);
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
    return LANEBLOOM_OK; /* lanebloom_plan_size() plans some bytes even for 0 keys */
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
  /* Reserves room for the whole block first, so that an error changes nothing. */
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
  builder->filters.nbytes = builder->offsets.nbytes = 0; /* the caller still borrows the bytes */
  builder->data_block_offset = 0;
  return LANEBLOOM_OK;
}
