/* Defines the layouts that a batch of keys may have in memory, and reads single keys of a batch.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_KEYS_H
#define LANEBLOOM_KEYS_H

#include <assert.h>
#include <lanebloom.h>
#include <string.h>

/* The layouts that kernels read: keys of one width, which are side by side or at equal distances,
 * do not overlap, and have gaps of less than a page; keys between offsets of 4 or 8 bytes; and
 * slices. */
enum keys_layout { KEYS_FIXED, KEYS_OFFSETS32, KEYS_OFFSETS64, KEYS_SLICES };

/* Layouts that kernels do not read: other keys of one width at equal distances, and string views.
 * Such keys are listed as slices, block by block, before a kernel hashes them (hash.c). */
enum gathered_layout { KEYS_STRIDED = KEYS_SLICES + 1, KEYS_STRINGS };

/* A string view begins with the size of the string, in 4 bytes. If the string has at most 12 bytes,
 * the string itself follows; otherwise a prefix of 4 bytes and a pointer to the string follow. */
enum { VIEW_NBYTES = 16, VIEW_INLINE = 4, VIEW_MAX_INLINE = 12, VIEW_POINTER = 8 };

static inline lanebloom_slice string_at(const void *views, size_t i)
{
  const uint8_t *view = (const uint8_t *)views + i * VIEW_NBYTES;
  uint32_t size;
  memcpy(&size, view, sizeof size);
  lanebloom_slice string = {view + VIEW_INLINE, size};
  if (size > VIEW_MAX_INLINE)
    memcpy(&string.data, view + VIEW_POINTER, sizeof string.data);
  return string;
}

/* Checks that offsets never descend. Callers must ensure this, and debug builds assert it before
 * keys are hashed. */
static inline bool keys_ascend(const lanebloom_keys *keys)
{
  const uint32_t *offsets32 = keys->index;
  const uint64_t *offsets64 = keys->index;
  bool ascend = true;
  for (size_t i = 0; i < keys->n && keys->layout == KEYS_OFFSETS32; i++)
    ascend = ascend && offsets32[i] <= offsets32[i + 1];
  for (size_t i = 0; i < keys->n && keys->layout == KEYS_OFFSETS64; i++)
    ascend = ascend && offsets64[i] <= offsets64[i + 1];
  return ascend;
}

/* Returns the same keys as keys of one width, if they are between offsets at equal distances, and
 * otherwise the batch itself. Kernels hash keys of one width faster. */
lanebloom_keys lanebloom_keys_evened(const lanebloom_keys *keys);

/* Returns key i of the batch, borrowed. i must be less than keys->n. */
static inline lanebloom_slice keys_at(const lanebloom_keys *keys, size_t i)
{
  const uint8_t *data = keys->data;
  switch (keys->layout) {
  case KEYS_OFFSETS32: {
    const uint32_t *offsets = keys->index;
    return (lanebloom_slice){data + offsets[i], offsets[i + 1] - offsets[i]};
  }
  case KEYS_OFFSETS64: {
    const uint64_t *offsets = keys->index;
    return (lanebloom_slice){data + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
  }
  case KEYS_SLICES:
    return ((const lanebloom_slice *)keys->index)[i];
  case KEYS_STRINGS:
    return string_at(keys->index, i);
  case KEYS_STRIDED:
  case KEYS_FIXED:
    break;
  }
  return (lanebloom_slice){data + i * keys->stride, keys->width};
}

#endif
