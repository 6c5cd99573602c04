/* Cases of probing and adding: shapes of filters, batch sizes, and special hashes.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* Lets a kernel and the reference add hashes to copies of a payload, and compares the copies. The
 * payload becomes the reference's copy. */
static void check_add(const struct trial *trial, const struct filter_shape *shape, uint8_t *payload,
                      const void *hashes, size_t n)
{
  struct guarded found[NROUNDS];
  for (size_t round = 0; round < NROUNDS; round++) {
    trial_note(trial, shape, n, round);
    struct guarded input =
        guarded_copy(hashes, n * trial->format->hash_nbytes, trial_place(trial, round));
    guarded_freeze(&input);
    found[round] = guarded_copy(payload, shape->nbytes, trial_place(trial, round));
    trial_add(trial, trial->ops, shape, found[round].bytes, input.bytes, n);
    guarded_free(&input);
  }
  trial_add(trial, trial->reference, shape, payload, hashes, n);
  for (size_t round = 0; round < NROUNDS; round++) {
    trial_note(trial, shape, n, round);
    test_same_bytes("payload", found[round].bytes, payload, shape->nbytes);
    guarded_free(&found[round]);
  }
}

static void check_probe(const struct trial *trial, const struct filter_shape *shape,
                        const uint8_t *payload, const void *hashes, size_t n)
{
  uint8_t expected[(MAX_BATCH + 7) / 8];
  trial_probe(trial, trial->reference, shape, payload, hashes, n, expected);
  for (size_t round = 0; round < NROUNDS; round++) {
    trial_note(trial, shape, n, round);
    struct guarded input =
        guarded_copy(hashes, n * trial->format->hash_nbytes, trial_place(trial, round));
    struct guarded filter = guarded_copy(payload, shape->nbytes, trial_place(trial, round));
    guarded_freeze(&input);
    guarded_freeze(&filter);
    struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, round));
    trial_probe(trial, trial->ops, shape, filter.bytes, input.bytes, n, bitmap.bytes);
    test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
    probe_one_by_one(trial->ops, shape, filter.bytes, input.bytes, trial->format->hash_nbytes, n,
                     bitmap.bytes);
    test_same_bytes("bits of single keys", bitmap.bytes, expected, (n + 7) / 8);
    guarded_free(&input);
    guarded_free(&filter);
    guarded_free(&bitmap);
  }
}

/* Adds n random hashes, some of them equal, to an empty filter. Then probes n hashes, about half of
 * which are in the filter. */
static void check_shape(const struct trial *trial, const struct filter_shape *shape, size_t n)
{
  const size_t hash_nbytes = trial->format->hash_nbytes;
  static uint8_t added[MAX_HASH_NBYTES * MAX_BATCH], probed[MAX_HASH_NBYTES * MAX_BATCH];
  rng_fill(trial->rng, added, n * hash_nbytes);
  rng_fill(trial->rng, probed, n * hash_nbytes);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && rng_below(trial->rng, 4) == 0)
      memcpy(added + i * hash_nbytes, added + (i - 1) * hash_nbytes, hash_nbytes);
    if (rng_below(trial->rng, 2))
      memcpy(probed + i * hash_nbytes, added + i * hash_nbytes, hash_nbytes);
  }

  uint8_t *payload = test_alloc(shape->nbytes);
  check_add(trial, shape, payload, added, n);
  check_probe(trial, shape, payload, probed, n);
  free(payload);
}

static void check_filter(const struct trial *trial, uint64_t nunits, uint32_t nprobes, size_t n)
{
  const struct filter_shape shape =
      format_shape(trial->format, nunits * trial->format->line_nbytes, nprobes);
  check_shape(trial, &shape, n);
}

void filter_batch_sizes(const struct trial *trial)
{
  static const uint64_t sizes[] = {8, 61, 1250, 8191};
  const bool exhaustive = test_exhaustive();
  const uint32_t step = exhaustive ? 1 : 5;
  for (size_t s = 0; s < COUNT(sizes) - !trial->format->is_built; s++)
    for (size_t b = exhaustive ? 0 : s % 2; b < NBATCH_SIZES; b += exhaustive ? 1 : 2)
      for (uint32_t p = trial->format->table->min_nprobes; p > 0;
           p = format_next_nprobes(trial->format, p, p < 8 ? step : 11))
        check_filter(trial, sizes[s], p, batch_sizes[b]);
}

/* Small filters are full after few hashes, so their batches are small. Filters of megabytes take
 * most of the time. Unless exhaustive, they are tried with only one or two numbers of probes. */
void filter_shapes(const struct trial *trial)
{
  static const uint64_t more[] = {100,  127,  128,  129,  255,   256,  257,
                                  1000, 4095, 4096, 4097, 65537, 99991};
  const bool built = trial->format->is_built, exhaustive = test_exhaustive();
  const uint32_t step = built && exhaustive ? 1 : 7;
  for (uint64_t s = 1; s <= 80 + COUNT(more) - (built ? 0 : 2);
       s += exhaustive || s < 18 || s > 77 ? 1 : 3)
    for (uint32_t p = trial->format->table->min_nprobes; p > 0;
         p = format_next_nprobes(trial->format, p, s <= 80 ? step : 7)) {
      const uint64_t nunits = s <= 80 ? s : more[s - 81];
      if (!exhaustive && nunits * trial->format->line_nbytes > 1 << 20 && p != 8 && p != 30)
        continue;
      check_filter(trial, nunits, p, 1 + nunits * 4 / p % 100);
    }
}

/* The bytes after the last whole line are neither read nor written, and may be unmapped. */
void filter_rests_of_lines(const struct trial *trial)
{
  enum { N = 100 };
  static const uint64_t rests[] = {1, 5, 8, 31, 32, 59, 63};
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (uint64_t nlines = 1; nlines <= 9 && trial->format->may_have_rest; nlines++)
    for (size_t r = 0; r < COUNT(rests); r++) {
      struct filter_shape shape =
          format_shape(trial->format, nlines * trial->format->line_nbytes, 6);
      const uint64_t whole_nbytes = shape.nbytes;
      shape.nbytes += rests[r];
      check_shape(trial, &shape, N);

      uint8_t hashes[MAX_HASH_NBYTES * N], expected[(N + 7) / 8], bitmap[(N + 7) / 8];
      rng_fill(trial->rng, hashes, sizeof hashes);
      struct guarded payload = guarded_make(whole_nbytes, AT_END);
      memset(payload.bytes, 0, whole_nbytes);
      trial_note(trial, &shape, N, 0);
      trial_add(trial, trial->ops, &shape, payload.bytes, hashes, N / 2);
      guarded_freeze(&payload);
      trial_probe(trial, trial->reference, &shape, payload.bytes, hashes, N, expected);
      trial_probe(trial, trial->ops, &shape, payload.bytes, hashes, N, bitmap);
      test_same_bytes("bitmap", bitmap, expected, sizeof expected);
      for (size_t i = 0; i < N / 2; i++)
        if (!(bitmap[i / 8] >> i % 8 & 1))
          test_fatal("hash %zu of %zu bytes was added and does not pass", i, hash_nbytes);
      guarded_free(&payload);
    }
}

/* Tries hashes with no bit set, all bits, one bit, and all bits but one, in filters with no bits
 * set, some bits, and all bits. */
void filter_every_kind_of_hash(const struct trial *trial)
{
  const size_t hash_nbytes = trial->format->hash_nbytes, nbits = hash_nbytes * 8;
  uint8_t hashes[MAX_HASH_NBYTES * 2 * (8 * MAX_HASH_NBYTES + 1)] = {0};
  size_t n = 0;
  for (size_t bit = 0; bit <= nbits; bit++)
    for (uint8_t around = 0; around < 2; around++) {
      uint8_t *hash = hashes + hash_nbytes * n++;
      memset(hash, around ? 0xff : 0, hash_nbytes);
      if (bit < nbits)
        hash[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }

  static const uint64_t sizes[] = {1, 8, 9, 1250};
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (uint32_t p = trial->format->table->min_nprobes; p > 0;
         p = format_next_nprobes(trial->format, p, 1)) {
      const struct filter_shape shape =
          format_shape(trial->format, sizes[s] * trial->format->line_nbytes, p);
      uint8_t *payload = test_alloc(shape.nbytes);
      check_probe(trial, &shape, payload, hashes, n);
      check_add(trial, &shape, payload, hashes, n / 2);
      check_probe(trial, &shape, payload, hashes, n);
      rng_fill(trial->rng, payload, shape.nbytes);
      check_add(trial, &shape, payload, hashes + n / 2 * hash_nbytes, 5); /* set bits stay set */
      memset(payload, 0xff, shape.nbytes);
      check_probe(trial, &shape, payload, hashes, n);
      free(payload);
    }
}

/* Kernels compute remainders by a reciprocal, whose error depends on the number of bits. The words
 * of these hashes are next to multiples of it, and so are the sums of double hashing. */
void filter_hashes_at_multiples(const struct trial *trial)
{
  enum { N = 300 };
  static const uint64_t sizes[] = {1, 3, 8, 129, 1251, 8191, 65537, 600001};
  const size_t hash_nbytes = trial->format->hash_nbytes;
  uint64_t hashes[MAX_HASH_NBYTES / sizeof(uint64_t) * N];
  for (size_t s = 0; s < COUNT(sizes) - (trial->format->line_nbytes > 8); s++)
    for (uint32_t p = trial->format->table->min_nprobes; p > 0;
         p = format_next_nprobes(trial->format, p, test_exhaustive() ? 3 : 9)) {
      const struct filter_shape shape =
          format_shape(trial->format, sizes[s] * trial->format->line_nbytes, p);
      for (size_t i = 0; i < COUNT(hashes); i++)
        hashes[i] = rng_next(trial->rng) / shape.nbits * shape.nbits + rng_below(trial->rng, 3) - 1;
      uint8_t *payload = test_alloc(shape.nbytes);
      check_add(trial, &shape, payload, (const uint8_t *)hashes, N / 3);
      check_probe(trial, &shape, payload, (const uint8_t *)hashes, N);
      check_probe(trial, &shape, payload, (const uint8_t *)hashes + hash_nbytes, N - 1);
      free(payload);
    }
}

/* All bits are set except one bit that one hash probes. That hash must not pass, whichever of its
 * probes finds the bit. */
void filter_each_probe_decides(const struct trial *trial)
{
  enum { N = 65 };
  const struct format_table *table = trial->format->table;
  const size_t hash_nbytes = trial->format->hash_nbytes;
  uint8_t hashes[MAX_HASH_NBYTES * N];
  uint64_t positions[256];
  const uint32_t step = test_exhaustive() ? 1 : 3;
  for (uint32_t nprobes = trial->format->table->min_nprobes; nprobes > 0;
       nprobes = format_next_nprobes(trial->format, nprobes, step)) {
    const struct filter_shape shape =
        format_shape(trial->format, 1251 * trial->format->line_nbytes, nprobes);
    uint8_t *payload = test_alloc(shape.nbytes);
    for (uint32_t p = 0; p < nprobes; p++) {
      rng_fill(trial->rng, hashes, N * hash_nbytes);
      const size_t lane = rng_below(trial->rng, N);
      table->positions(&shape, hashes + lane * hash_nbytes, positions);
      const uint64_t expected =
          trial->format->model->position(&shape, hashes + lane * hash_nbytes, p);
      if (positions[p] != expected)
        test_fatal("probe %u of %u is at %llu, expected %llu", p, nprobes,
                   (unsigned long long)positions[p], (unsigned long long)expected);
      memset(payload, 0xff, shape.nbytes);
      payload[positions[p] / 8] ^= (uint8_t)(1 << positions[p] % 8);
      check_probe(trial, &shape, payload, hashes, N);

      uint8_t bitmap[(N + 7) / 8];
      trial_probe(trial, trial->ops, &shape, payload, hashes, N, bitmap);
      if (bitmap[lane / 8] >> lane % 8 & 1)
        test_fatal("probe %u of hash %zu meets a clear bit, and the hash passes", p, lane);
    }
    free(payload);
  }
}

static void check_large(const struct trial *trial, uint64_t nbytes)
{
  enum { N = 33 };
  const size_t hash_nbytes = trial->format->hash_nbytes;
  const struct filter_shape shape = format_shape(trial->format, nbytes, 11);
  uint8_t hashes[MAX_HASH_NBYTES * 2 * N], expected[(2 * N + 7) / 8];
  rng_fill(trial->rng, hashes, sizeof hashes);
  memset(hashes, 0xff,
         hash_nbytes); /* the highest bit; bit 7 if a LevelDB filter has eight bits less */
  trial_note(trial, &shape, N, 0);

  struct guarded found = guarded_sparse(shape.nbytes), wanted = guarded_sparse(shape.nbytes);
  trial_add(trial, trial->ops, &shape, found.bytes, hashes, N);
  trial_add(trial, trial->reference, &shape, wanted.bytes, hashes, N);
  test_same_sparse("payload", &found, &wanted);
  trial_probe(trial, trial->reference, &shape, wanted.bytes, hashes, 2 * N, expected);

  struct guarded bitmap = guarded_make(sizeof expected, AT_END);
  guarded_freeze(&found);
  trial_probe(trial, trial->ops, &shape, found.bytes, hashes, 2 * N, bitmap.bytes);
  test_same_bytes("bitmap", bitmap.bytes, expected, sizeof expected);
  guarded_free(&bitmap);
  guarded_free(&found);
  guarded_free(&wanted);
}

/* From 2^29 bytes on, the number of bits does not fit 32 bits, and a 32-bit hash cannot reach all
 * of them. */
void filter_around_2_to_32_bits(const struct trial *trial)
{
  static const int64_t beyond[] = {-1, 0, 1, 12345};
  for (size_t b = 0; b < COUNT(beyond); b++)
    check_large(trial, ((uint64_t)1 << 29) + (uint64_t)beyond[b]);
}

/* Filters are larger than all caches. Batches have from one hash to more hashes than partitions can
 * hold. Hashes are random, or are equal, so that they go to few partitions, or partitions get no
 * memory. With rocksdb-local, only the largest filters collect hashes in partitions. */
void filter_beyond_caches(const struct trial *trial)
{
  enum { MANY = 700000, MIB = 1 << 20, QUICK = 6, TWO_PER_LINE = 2 << 21 };
  static const struct {
    uint64_t nbytes;
    uint32_t nprobes;
    size_t n;
    enum { RANDOM, EQUAL, HALF_EQUAL, NO_SCRATCH } kind;
  } rows[] = {
      {24 * MIB, 6, 65535, RANDOM},
      {24 * MIB, 6, 65536, RANDOM},
      {21 * MIB, 30, 97000, RANDOM}, /* each partition is filled, and is added twice */
      {21 * MIB - 77, 6, 60007, EQUAL},
      {21 * MIB - 77, 6, 60007, NO_SCRATCH},
      {128 * MIB + 12345, 6, TWO_PER_LINE + 999, HALF_EQUAL},
      /* the rows below only if exhaustive */
      {24 * MIB, 6, 1, RANDOM},
      {24 * MIB, 6, MANY, RANDOM},
      {24 * MIB + 1, 6, 70000, RANDOM},
      {28 * MIB - 77, 6, 80007, EQUAL},
      {28 * MIB - 77, 6, 80007, NO_SCRATCH},
      {24 * MIB, 6, MANY, EQUAL},
      {24 * MIB, 6, MANY, NO_SCRATCH},
      {24 * MIB + 1, 30, MANY, RANDOM},
      {28 * MIB - 77, 1, MANY, RANDOM},
      {28 * MIB - 77, 6, MANY, EQUAL},
  };
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (size_t r = 0; r < (test_exhaustive() ? COUNT(rows) : QUICK); r++) {
    if (rows[r].nbytes > 128 * MIB && trial->format->table->layout != LAYOUT_ROCKSDB_LOCAL)
      continue;
    const struct filter_shape shape = format_shape(trial->format, rows[r].nbytes, rows[r].nprobes);
    const size_t n = rows[r].n;
    struct guarded hashes = guarded_make(n * hash_nbytes, trial_place(trial, r));
    rng_fill(trial->rng, hashes.bytes, n * hash_nbytes);
    const size_t nequal = rows[r].kind == EQUAL ? n : rows[r].kind == HALF_EQUAL ? n / 2 : 0;
    for (size_t i = 3; i < nequal; i++)
      memcpy(hashes.bytes + i * hash_nbytes, hashes.bytes + i % 3 * hash_nbytes, hash_nbytes);
    guarded_freeze(&hashes);
    struct guarded found = guarded_make(shape.nbytes, trial_place(trial, r));
    struct guarded wanted = guarded_make(shape.nbytes, AT_END);
    memset(found.bytes, 0, shape.nbytes);
    memset(wanted.bytes, 0, shape.nbytes);
    trial_note(trial, &shape, n, r);
    if (rows[r].kind == NO_SCRATCH)
      trial_add(trial, trial->ops, &shape, found.bytes, hashes.bytes, n);
    else
      trial_add_with_scratch(trial, trial->ops, &shape, found.bytes, hashes.bytes, n);
    trial_add(trial, trial->reference, &shape, wanted.bytes, hashes.bytes, n);
    test_same_bytes("payload", found.bytes, wanted.bytes, shape.nbytes);
    guarded_free(&hashes);
    guarded_free(&found);
    guarded_free(&wanted);
  }
}

/* Tests formats with a limit of 2^32 bytes, with filters of about half that size and of the largest
 * size. These have up to 2^26 lines, or up to 2^32 small lines. */
void filter_around_2_to_32_bytes(const struct trial *trial)
{
  if (trial->format->max_nbytes == 0)
    return;
  check_large(trial, ((uint64_t)1 << 31) + 12345);
  check_large(trial, trial->format->max_nbytes);
}
