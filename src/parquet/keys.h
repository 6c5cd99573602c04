/* Prepares the keys of a caller for screening a column, that is, for finding which keys a column
 * chunk may have. The keys are stored in the form in which the column stores its values, are sorted
 * by the order of the column's type, and are hashed.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_KEYS_H
#define LANEBLOOM_PARQUET_KEYS_H

#include "file.h"

struct lanebloom_parquet_keys {
  struct column_type type;
  size_t n;

  /* The keys as the column stores them, in the order in which the caller gave them. */
  uint8_t *bytes;
  uint64_t *offsets; /* n + 1 offsets; NULL if each key has type.value_nbytes bytes */

  /* The indices of the keys, and their hashes, in the order of the type. */
  size_t *order; /* order[i]: the caller's index of the i-th key */
  uint64_t *hashes;

  /* The same hashes in the order in which the caller gave the keys, and a batch of them. */
  uint64_t *given_hashes;
  lanebloom_hash_batch *batch;

  /* Special values of floats, as positions in `order`. Zeros of either sign are equal, but their
   * bytes and hashes differ, so both hashes of zero are queried. NaN has many encodings, is never
   * excluded by bounds, and is sorted last. */
  size_t first_zero, end_zero, first_nan; /* n if there are none */
  uint64_t zero_hashes[2];

  /* Times of type INT96 before 1970 have two encodings. These are the hashes of the keys' second
   * encodings, in the order of `hashes`. If a key has only one encoding, its hash is repeated here.
   * The pointer is NULL if no key has two encodings. */
  uint64_t *other_hashes;
};

/* Returns the caller's key number `index`, as the column stores it. */
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
