/* A batch of keys that the tests of the public calls share, and a filter of these keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FEW_KEYS_H
#define LANEBLOOM_TESTS_FEW_KEYS_H

#include <criterion/criterion.h>
#include <lanebloom.h>

enum { NKEYS = 3000, WIDTH = 5 };

/* Fills in NKEYS keys of WIDTH bytes, one after another. Some bytes have the high bit set. */
static inline void fill_keys(uint8_t bytes[NKEYS * WIDTH])
{
  for (uint32_t i = 0; i < NKEYS; i++)
    for (uint32_t j = 0; j < WIDTH; j++)
      bytes[i * WIDTH + j] = (uint8_t)((i * 2654435761u) >> (3 * j + 8));
}

static inline lanebloom_filter *build(const lanebloom_keys *keys)
{
  lanebloom_filter *filter;
  lanebloom_status status = lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, keys, &filter);
  cr_assert(status == LANEBLOOM_OK, "build: %s", lanebloom_status_text(status));
  return filter;
}

#endif
