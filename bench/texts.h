/* Makes sets of keys of many sizes, which are stored one after another in memory: words, and random
 * bytes of random sizes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_TEXTS_H
#define LANEBLOOM_BENCH_TEXTS_H

#include <stddef.h>
#include <stdint.h>

enum bench_text {
  BENCH_WORDS,
  BENCH_5_TO_30_BYTES,
  BENCH_0_TO_100_BYTES,
  BENCH_17_TO_240_BYTES,
  BENCH_129_TO_240_BYTES,
  BENCH_NTEXTS
};

/* A set has more keys than a branch predictor can learn. */
enum { BENCH_TEXT_NKEYS = 1 << 16 };

struct bench_texts {
  const char *name, *source;
  const uint8_t *bytes;
  uint32_t offsets[BENCH_TEXT_NKEYS + 1];
  size_t n;
};

/* Returns a set of keys. Each set is made when it is first wanted. */
const struct bench_texts *bench_texts(enum bench_text which);
const char *bench_text_name(enum bench_text which);

#endif
