/* Keys in the form in which a column stores its values, in the order of its type, with their
 * hashes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_KEYS_H
#define LANEBLOOM_PARQUET_KEYS_H

#include "file.h"

struct lanebloom_parquet_keys {
  struct column_type type;
  size_t n;

  /* In the order in which the caller gave them. */
  uint8_t *bytes;
  uint64_t *offsets; /* n + 1; NULL: each key has type.value_nbytes */

  /* In the order of the type. */
  size_t *order; /* order[i]: the caller's index of the i-th key */
  uint64_t *hashes;

  /* Zeros of either sign are equal, but their bytes and hashes differ. NaN has many encodings, is
   * sorted last, and is in no bounds. */
  size_t first_zero, end_zero, first_nan; /* n: none */
  uint64_t zero_hashes[2];

  /* Times of INT96 before 1970 have a second encoding. These are the hashes of that encoding, or of
   * the only one, in the order of `hashes`. NULL: no key has two encodings. */
  uint64_t *other_hashes;
};

/* One of the caller's keys, as it is stored. */
static inline lanebloom_slice keys_stored(const struct lanebloom_parquet_keys *keys, size_t index)
{
  const uint64_t *offsets = keys->offsets;
  const size_t width = keys->type.value_nbytes;
  if (!offsets)
    return (lanebloom_slice){keys->bytes + index * width, width};
  return (lanebloom_slice){keys->bytes + offsets[index],
                           (size_t)(offsets[index + 1] - offsets[index])};
}

#endif
