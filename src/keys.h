/* The layouts that a batch of keys may have, for those who read keys one by one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_KEYS_H
#define LANEBLOOM_KEYS_H

#include <assert.h>
#include <lanebloom.h>

enum keys_layout { KEYS_FIXED, KEYS_OFFSETS32, KEYS_OFFSETS64, KEYS_SLICES };

/* What the caller vouches for: offsets never fall. Asserted where keys are hashed. */
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

/* Key i of the batch, i below keys->n. */
static inline lanebloom_slice keys_at(const lanebloom_keys *keys, size_t i)
{
  const uint8_t *data = keys->data;
  switch ((enum keys_layout)keys->layout) {
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
  case KEYS_FIXED:
    break;
  }
  return (lanebloom_slice){data + i * keys->width, keys->width};
}

#endif
