/* Cases of binary fuse filters. The library never builds these, so the model makes their
 * fingerprints.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { TRAILER_NBYTES = 14 };

static const uint8_t widths[] = {4, 8, 10, 12, 16}; /* bits of a fingerprint */

/* Returns the size of a payload, as Pebble f82e3ff packs fingerprints. */
static uint64_t payload_nbytes(uint64_t nslots, uint8_t width)
{
  switch (width) {
  case 4:
    return (nslots + 1) / 2;
  case 8:
    return nslots;
  case 10:
    return (nslots * 10 + 7) / 8 + 3;
  case 12:
    return (nslots + 1) / 2 * 3 + 1;
  default:
    return nslots * 2;
  }
}

/* Makes an empty filter, and finds its shape. */
static struct guarded make(const struct trial *trial, uint32_t nsegments, uint8_t log_nslots,
                           uint8_t width, struct filter_shape *shape)
{
  const uint64_t nslots = ((uint64_t)nsegments + 2) << log_nslots,
                 payload = payload_nbytes(nslots, width);
  struct guarded bytes = guarded_sparse((size_t)payload + TRAILER_NBYTES);
  uint8_t *trailer = bytes.bytes + payload;
  rng_fill(trial->rng, trailer, 8);
  for (size_t i = 0; i < 4; i++)
    trailer[8 + i] = (uint8_t)(nsegments >> 8 * i);
  trailer[12] = log_nslots;
  trailer[13] = width;
  const lanebloom_status status = trial->format->table->parse(
      trial->format->table, bytes.bytes, (size_t)payload + TRAILER_NBYTES, shape, &no_problem);
  cr_assert(status == LANEBLOOM_OK && shape->answer == ANSWER_BY_PROBES &&
                shape->nprobes == width && shape->nbytes == payload,
            "parse");
  return bytes;
}

/* Covers all widths, segments of one slot and more, and batches of all sizes. Half of the hashes
 * are fitted, and they are mixed with the others. */
void fuse_answers(const struct trial *trial)
{
  static const uint32_t counts[] = {1, 2, 3, 7, 100};
  static uint64_t hashes[MAX_BATCH];
  size_t round = 0;
  for (size_t w = 0; w < COUNT(widths); w++)
    for (size_t c = 0; c < COUNT(counts); c++)
      for (uint8_t log_nslots = 0; log_nslots < 12; log_nslots++, round++) {
        const size_t n = batch_sizes[round % NBATCH_SIZES];
        struct filter_shape shape;
        struct guarded bytes = make(trial, counts[c], log_nslots, widths[w], &shape);
        rng_fill(trial->rng, bytes.bytes, (size_t)shape.nbytes);
        rng_fill(trial->rng, hashes, n * sizeof *hashes);
        model_fuse_fit(&shape, bytes.bytes, hashes, n / 2);
        for (size_t i = 0; i < n / 2; i += 2) {
          const uint64_t hash = hashes[i];
          hashes[i] = hashes[n - 1 - i];
          hashes[n - 1 - i] = hash;
        }
        opened_check_probe(trial, &shape, bytes.bytes, (size_t)shape.nbytes + TRAILER_NBYTES,
                           hashes, n);
        guarded_free(&bytes);
      }
}

/* Tries hashes with no bit set, all bits, one bit, and all bits but one, before and after the seed
 * is added. Payloads have no bit set, all bits, or any bits. */
void fuse_every_kind_of_hash(const struct trial *trial)
{
  enum { N = 4 * 65 };
  uint64_t hashes[N];
  for (size_t w = 0; w < COUNT(widths); w++)
    for (int fill = 0; fill < 3; fill++) {
      struct filter_shape shape;
      struct guarded bytes = make(trial, 5, 6, widths[w], &shape);
      for (size_t bit = 0; bit < 65; bit++) {
        const uint64_t one = bit < 64 ? (uint64_t)1 << bit : 0;
        hashes[4 * bit] = one;
        hashes[4 * bit + 1] = ~one;
        hashes[4 * bit + 2] = one - shape.fuse.seed;
        hashes[4 * bit + 3] = ~one - shape.fuse.seed;
      }
      memset(bytes.bytes, fill == 1 ? 0xff : 0, (size_t)shape.nbytes);
      if (fill == 2)
        model_fuse_fit(&shape, bytes.bytes, hashes, N / 2);
      opened_check_probe(trial, &shape, bytes.bytes, (size_t)shape.nbytes + TRAILER_NBYTES, hashes,
                         N);
      guarded_free(&bytes);
    }
}

/* Covers filters beyond caches, where kernels prefetch lines; filters whose positions exceed 32
 * bits; and the most slots that a trailer can state. The large filters are sparse. */
void fuse_large(const struct trial *trial)
{
  enum { N = 2500 };
  static const struct {
    uint32_t nsegments;
    uint8_t log_nslots;
  } rows[] = {{300, 12}, {8189, 15}, {8191, 15}, {16380, 18}, {1, 30}, {UINT32_MAX - 2, 0}};
  static uint64_t hashes[N];
  for (size_t r = 0; r < COUNT(rows); r++)
    for (size_t w = 0; w < COUNT(widths); w++) {
      struct filter_shape shape;
      struct guarded bytes = make(trial, rows[r].nsegments, rows[r].log_nslots, widths[w], &shape);
      rng_fill(trial->rng, hashes, sizeof hashes);
      model_fuse_fit(&shape, bytes.bytes, hashes, N / 2);
      uint8_t expected[(N + 7) / 8], bitmap[(N + 7) / 8];
      trial_probe(trial, trial->reference, &shape, bytes.bytes, hashes, N, expected);
      trial_probe(trial, trial->ops, &shape, bytes.bytes, hashes, N, bitmap);
      test_context("%s: %u segments of 2^%u slots", trial->name, rows[r].nsegments,
                   rows[r].log_nslots);
      test_same_bytes("bitmap", bitmap, expected, sizeof bitmap);
      guarded_free(&bytes);
    }
}

/* Makes the public calls, which split keys into blocks and parts. */
void fuse_calls(const struct trial *trial)
{
  struct filter_shape shape;
  struct guarded bytes = make(trial, 9, 6, 4, &shape);
  rng_fill(trial->rng, bytes.bytes, (size_t)shape.nbytes);
  opened_check_calls(trial, bytes.bytes, (size_t)shape.nbytes + TRAILER_NBYTES);
  guarded_free(&bytes);
}
