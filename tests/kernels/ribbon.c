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
      trial->format->table->parse(bytes.bytes, size, &shape, &no_problem);
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

static void check_probe(const struct trial *trial, const struct filter_shape *shape,
                        const uint8_t *payload, const uint64_t *hashes, size_t n)
{
  uint8_t *expected = test_alloc((n + 7) / 8);
  trial_probe(trial, trial->reference, shape, payload, hashes, n, expected);
  for (size_t round = 0; round < NROUNDS; round++) {
    test_context("%s: %u blocks, %llu bits, %zu hashes, round %zu", trial->name,
                 shape->ribbon.nblocks, (unsigned long long)shape->nbits, n, round);
    struct guarded input = guarded_copy(hashes, n * sizeof *hashes, trial_place(trial, round));
    struct guarded filter =
        guarded_copy(payload, readable_nbytes(shape), trial_place(trial, round));
    guarded_freeze(&input);
    guarded_freeze(&filter);
    struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, round));
    trial_probe(trial, trial->ops, shape, filter.bytes, input.bytes, n, bitmap.bytes);
    test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
    guarded_free(&input);
    guarded_free(&filter);
    guarded_free(&bitmap);
  }
  free(expected);
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
  check_probe(trial, &shape, payload, hashes, n);
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
    check_probe(trial, &shape, payload, hashes, N);
    memset(payload, 0xff, readable_nbytes(&shape));
    check_probe(trial, &shape, payload, hashes, N);
    rng_fill(trial->rng, payload, readable_nbytes(&shape));
    model_ribbon_fit(&shape, payload, hashes, N / 2);
    check_probe(trial, &shape, payload, hashes, N);
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

/* Screens a batch of hashes that was made for rocksdb-local, whose hash is the same. Batches are
 * sorted for filters of that format, and never for Ribbon filters. */
static void check_batch(const lanebloom_filter *filter, const uint64_t *hashes, size_t n,
                        const uint8_t *expected, size_t count)
{
  enum { NCALLS = 40 };
  uint8_t *bitmap = test_alloc((n + 7) / 8);
  lanebloom_hash_batch *batch;
  cr_assert(!lanebloom_hash_batch_create(LANEBLOOM_ROCKSDB_LOCAL, hashes, n, 0, &batch));
  for (size_t call = 0; call < NCALLS; call++) {
    cr_assert(lanebloom_filter_screen_batch(filter, batch, bitmap) == count, "call %zu", call);
    test_same_bytes("screen_batch", bitmap, expected, (n + 7) / 8);
  }
  lanebloom_hash_batch_free(batch);
  free(bitmap);
}

/* Makes the public calls, which split keys into blocks and parts. */
void ribbon_calls(const struct trial *trial)
{
  enum { WIDTH = 8, NBLOCKS = 64, NCOLUMNS = 3, NSEGMENTS = NBLOCKS * NCOLUMNS };
  static const size_t sizes[] = {0, 1, 4, 5, 1023, 1024, 1025, 5 * 1024 + 7, 32769};
  for (size_t s = 0; s < COUNT(sizes); s++) {
    const size_t n = sizes[s], nbytes = NSEGMENTS * SEGMENT_NBYTES + TRAILER_NBYTES;
    uint8_t bytes[NSEGMENTS * SEGMENT_NBYTES + TRAILER_NBYTES],
        trailer[] = {0xfe, 9, NBLOCKS, 0, 0};
    rng_fill(trial->rng, bytes, sizeof bytes);
    memcpy(bytes + nbytes - TRAILER_NBYTES, trailer, sizeof trailer);
    uint8_t *text = test_alloc(n * WIDTH), *bitmap = test_alloc((n + 7) / 8),
            *expected = test_alloc((n + 7) / 8);
    uint64_t *hashes = test_alloc(n * sizeof *hashes);
    uint32_t *indices = test_alloc(n * sizeof *indices);
    rng_fill(trial->rng, text, n * WIDTH);
    const lanebloom_keys keys = lanebloom_keys_fixed(text, WIDTH, n);
    test_context("%s: public calls on %zu keys", trial->name, n);

    lanebloom_filter *filter;
    struct filter_shape shape;
    cr_assert(lanebloom_filter_parse_raw(trial->format->id, bytes, nbytes, NULL, &filter, NULL,
                                         0) == LANEBLOOM_OK);
    cr_assert(trial->format->table->parse(bytes, nbytes, &shape, &no_problem) == LANEBLOOM_OK);
    cr_assert(lanebloom_hash(trial->format->id, &keys, hashes) == LANEBLOOM_OK);
    trial_probe(trial, trial->reference, &shape, bytes, hashes, n, expected);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
      count += expected[i / 8] >> i % 8 & 1;
    cr_assert(lanebloom_filter_screen(filter, &keys, bitmap) == count, "screen");
    test_same_bytes("screen", bitmap, expected, (n + 7) / 8);
    cr_assert(lanebloom_filter_screen_hashes(filter, hashes, n, bitmap) == count, "hashes");
    test_same_bytes("screen_hashes", bitmap, expected, (n + 7) / 8);
    check_batch(filter, hashes, n, expected, count);
    cr_assert(lanebloom_filter_select(filter, &keys, indices) == count, "select");
    for (size_t i = 0; i < count; i++)
      cr_assert(expected[indices[i] / 8] >> indices[i] % 8 & 1, "index %u", indices[i]);
    for (size_t i = 0; i < n && i < 200; i++)
      cr_assert(lanebloom_filter_may_contain(filter, text + i * WIDTH, WIDTH) ==
                    (expected[i / 8] >> i % 8 & 1),
                "key %zu", i);
    lanebloom_filter_free(filter);
    free(indices);
    free(hashes);
    free(expected);
    free(bitmap);
    free(text);
  }
}
