/* Cases of Ribbon filters. The library never builds these, so the model makes their solutions.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { TRAILER_NBYTES = 5, SEGMENT_NBYTES = 16, MAX_NCOLUMNS = 32 };

/* Parses a filter of nsegments segments and `rest` more bytes. Returns its shape. */
static struct filter_shape parse(const struct trial *trial, uint32_t nblocks, size_t nsegments,
                                 size_t rest)
{
  const size_t payload = nsegments * SEGMENT_NBYTES + rest, size = payload + TRAILER_NBYTES;
  const uint8_t trailer[TRAILER_NBYTES] = {0xfe, (uint8_t)rng_next(trial->rng), (uint8_t)nblocks,
                                           (uint8_t)(nblocks >> 8), (uint8_t)(nblocks >> 16)};
  struct guarded bytes = guarded_sparse(size);
  memcpy(bytes.bytes + payload, trailer, sizeof trailer);
  struct filter_shape shape;
  const lanebloom_status status =
      trial->format->table->parse(trial->format->table, bytes.bytes, size, &shape, &no_problem);
  cr_assert(status == LANEBLOOM_OK && shape.answer == ANSWER_BY_PROBES &&
                shape.ribbon.nblocks == nblocks && shape.nbytes == payload,
            "parse");
  guarded_free(&bytes);
  return shape;
}

/* Returns the number of bytes that a kernel may read. The bytes after them may be unmapped. */
static size_t readable_nbytes(const struct filter_shape *shape)
{
  return (size_t)(shape->nbits / 8);
}

/* Makes half of the hashes pass, except a few that begin at the same slot as another hash. */
static void check_solution(const struct trial *trial, uint32_t nblocks, size_t nsegments, size_t n)
{
  static uint64_t hashes[MAX_BATCH];
  const struct filter_shape shape =
      parse(trial, nblocks, nsegments, rng_below(trial->rng, SEGMENT_NBYTES));
  uint8_t *payload = test_alloc(readable_nbytes(&shape));
  rng_fill(trial->rng, payload, readable_nbytes(&shape));
  rng_fill(trial->rng, hashes, n * sizeof *hashes);
  model_ribbon_fit(&shape, payload, hashes, n / 2);
  for (size_t i = 0; i < n / 2; i += 2) { /* mixes the sorted hashes with the others */
    const uint64_t hash = hashes[i];
    hashes[i] = hashes[n - 1 - i];
    hashes[n - 1 - i] = hash;
  }
  opened_check_probe(trial, &shape, payload, readable_nbytes(&shape), hashes, n);
  free(payload);
}

/* Covers all numbers of columns, with and without narrow blocks, and batches of all sizes. */
void ribbon_solutions(const struct trial *trial)
{
  static const uint32_t sizes[] = {2, 3, 7, 40, 300};
  size_t round = 0;
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t ncolumns = 1; ncolumns <= MAX_NCOLUMNS + 2;
         ncolumns += test_exhaustive() || ncolumns < 12 || ncolumns > 30 ? 1 : 5)
      for (size_t narrow = 0; narrow < 3; narrow++, round++) {
        const size_t nnarrow = narrow == 0   ? 0
                               : narrow == 1 ? sizes[s] - 1
                                             : rng_below(trial->rng, sizes[s]);
        const size_t n = test_exhaustive() || s < 3 ? batch_sizes[round % NBATCH_SIZES] : 129;
        check_solution(trial, sizes[s], ncolumns * sizes[s] - nnarrow, n);
      }
}

/* Tries hashes with no bit set, all bits, one bit, and all bits but one, so that some begin at the
 * first and last slots. Also tries the hashes that the seed turns into all zeros and all ones. */
void ribbon_every_kind_of_hash(const struct trial *trial)
{
  enum { N = 2 * 65 + 2 };
  uint64_t hashes[N];
  for (size_t nsegments = 1; nsegments < 80; nsegments++) {
    const struct filter_shape shape = parse(trial, 2 + (uint32_t)nsegments % 7, nsegments, 0);
    for (size_t bit = 0; bit < 65; bit++) {
      hashes[2 * bit] = bit < 64 ? (uint64_t)1 << bit : 0;
      hashes[2 * bit + 1] = ~hashes[2 * bit];
    }
    hashes[N - 2] = shape.ribbon.seed;
    hashes[N - 1] = ~(uint64_t)shape.ribbon.seed;
    uint8_t *payload = test_alloc(readable_nbytes(&shape));
    opened_check_probe(trial, &shape, payload, readable_nbytes(&shape), hashes, N);
    memset(payload, 0xff, readable_nbytes(&shape));
    opened_check_probe(trial, &shape, payload, readable_nbytes(&shape), hashes, N);
    rng_fill(trial->rng, payload, readable_nbytes(&shape));
    model_ribbon_fit(&shape, payload, hashes, N / 2);
    opened_check_probe(trial, &shape, payload, readable_nbytes(&shape), hashes, N);
    free(payload);
  }
}

/* Covers filters beyond caches, where kernels prefetch lines, and the most blocks that a trailer
 * can state. The large filters are sparse: hashes pass because of bits in the slots where they
 * begin. */
void ribbon_large(const struct trial *trial)
{
  enum { N = 2500, MOST_BLOCKS = (1 << 24) - 1 };
  static const struct {
    uint32_t nblocks;
    size_t nsegments;
  } rows[] = {{20000, 150001}, {MOST_BLOCKS, 7 * (size_t)MOST_BLOCKS - 12345}};
  static uint64_t hashes[N];
  for (size_t r = 0; r < COUNT(rows); r++) {
    const struct filter_shape shape = parse(trial, rows[r].nblocks, rows[r].nsegments, 3);
    struct guarded payload = guarded_sparse(readable_nbytes(&shape));
    rng_fill(trial->rng, hashes, sizeof hashes);
    model_ribbon_fit(&shape, payload.bytes, hashes, N / 2);
    uint8_t expected[(N + 7) / 8], bitmap[(N + 7) / 8];
    trial_probe(trial, trial->reference, &shape, payload.bytes, hashes, N, expected);
    trial_probe(trial, trial->ops, &shape, payload.bytes, hashes, N, bitmap);
    test_context("%s: %u blocks", trial->name, rows[r].nblocks);
    test_same_bytes("bitmap", bitmap, expected, sizeof bitmap);
    guarded_free(&payload);
  }
}

/* Makes the public calls, which split keys into blocks and parts. */
void ribbon_calls(const struct trial *trial)
{
  enum { NBLOCKS = 64, NCOLUMNS = 3, NSEGMENTS = NBLOCKS * NCOLUMNS };
  uint8_t bytes[NSEGMENTS * SEGMENT_NBYTES + TRAILER_NBYTES];
  const uint8_t trailer[TRAILER_NBYTES] = {0xfe, 9, NBLOCKS, 0, 0};
  rng_fill(trial->rng, bytes, sizeof bytes);
  memcpy(bytes + sizeof bytes - TRAILER_NBYTES, trailer, sizeof trailer);
  opened_check_calls(trial, bytes, sizeof bytes);
}
