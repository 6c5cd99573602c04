/* Compares with the real LevelDB: hashes, filters and answers must equal its own, also for unusual
 * inputs and unfavourable sizes.
 * SPDX-License-Identifier: MIT */
#include "engine_leveldb.h"
#include "key_set.h"
#include "model.h"

/* Screens the key set, and checks that every answer is LevelDB's. Returns the number of queries,
 * and adds the number of hits to *nhits. */
static size_t check_answers(const uint8_t *bytes, size_t size, const struct key_set *set,
                            size_t *nhits)
{
  uint8_t bitmap[(MAX_KEYS + 7) / 8];
  const size_t n = set->keys.n;
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, bytes, size, NULL, &filter, NULL, 0) ==
                LANEBLOOM_OK,
            "open");
  const size_t count = lanebloom_filter_screen(filter, &set->keys, bitmap);
  lanebloom_filter_free(filter);

  size_t expected_count = 0;
  for (size_t i = 0; i < n; i++) {
    const bool expected =
        oracle_leveldb_may_match(bytes, size, set->slices[i].data, set->slices[i].size);
    expected_count += expected;
    if ((bitmap[i / 8] >> i % 8 & 1) != expected)
      test_fatal("filter of %zu bytes, key %zu of %zu bytes: LevelDB answers %d", size, i,
                 set->slices[i].size, expected);
  }
  if (count != expected_count)
    test_fatal("filter of %zu bytes: %zu of %zu keys pass, expected %zu", size, count, n,
               expected_count);
  *nhits += count;
  return n;
}

/* ---- Hashes ---- */

static void check_hash(const uint8_t *key, size_t size)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  uint32_t hash = 0;
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, &hash) == LANEBLOOM_OK);
  const uint32_t expected = oracle_leveldb_hash(key, size);
  cr_assert(hash == expected, "a key of %zu bytes hashes to %08x, expected %08x", size, hash,
            expected);
}

Test(oracle, hashes)
{
  static const size_t more[] = {1023, 1024, 1025, 4099, 65537, 1000003};
  struct rng rng = rng_start(1);
  uint8_t *key = test_alloc(more[COUNT(more) - 1]);
  for (size_t time = 0; time < 100; time++)
    for (size_t size = 0; size <= MAX_LENGTH; size++) {
      rng_fill(&rng, key, size);
      check_hash(key, size);
    }
  for (size_t i = 0; i < COUNT(more); i++) {
    rng_fill(&rng, key, more[i]);
    check_hash(key, more[i]);
  }
  free(key);
}

/* ---- Filters ---- */

/* Compares the bytes of filters with 0 to 130 bits per key, and the answers for keys, about half of
 * which are in the filter. */
Test(oracle, filters)
{
  enum { MAX_BITS = 130, NSETS = 17 * (MAX_BITS + 1), NQUERIES = 250 };
  struct rng rng = rng_start(2);
  struct key_set *set = key_set_make(&rng), *others = key_set_make(&rng);
  size_t nqueries = 0, nhits = 0;
  for (size_t s = 0; s < NSETS; s++) {
    const int bits = (int)(s % (MAX_BITS + 1));
    const size_t n = draw_nkeys(&rng, s);
    test_context("set %zu: %zu keys at %d bits", s, n, bits);
    key_set_draw(set, &rng, n);

    size_t size, expected_size;
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, bits, &set->keys, &filter) == LANEBLOOM_OK,
              "build");
    uint8_t *expected = oracle_leveldb_create(bits, set->slices, n, &expected_size);
    const void *bytes = lanebloom_filter_bytes(filter, &size);
    if (size != expected_size)
      test_fatal("%zu bytes, expected %zu", size, expected_size);
    test_same_bytes("filter", bytes, expected, size);

    key_set_draw(others, &rng, NQUERIES);
    for (size_t i = 0; n > 0 && i < NQUERIES; i += 2)
      others->slices[i] = set->slices[rng_below(&rng, n)];
    nqueries += check_answers(bytes, size, others, &nhits);
    lanebloom_filter_free(filter);
    free(expected);
  }
  cr_assert(nqueries == (size_t)NSETS * NQUERIES && nhits > nqueries / 3 &&
                nhits < nqueries * 9 / 10,
            "%zu of %zu queries hit: too uneven to tell much", nhits, nqueries);
  key_set_free(set);
  key_set_free(others);
}

/* The bytes of these filters are arbitrary. */
Test(oracle, any_bytes)
{
  enum { NFILTERS = 6000, NQUERIES = 100, MAX_SIZE = 200 };
  struct rng rng = rng_start(3);
  struct key_set *set = key_set_make(&rng);
  size_t nqueries = 0, nhits = 0;
  for (size_t f = 0; f < NFILTERS; f++) {
    uint8_t bytes[MAX_SIZE];
    const size_t size = leveldb_bytes_draw(&rng, f, bytes, MAX_SIZE);
    test_context("filter %zu: %zu bytes", f, size);
    key_set_draw(set, &rng, NQUERIES);
    nqueries += check_answers(bytes, size, set, &nhits);
  }
  cr_assert(nhits > nqueries / 10 && nhits < nqueries * 9 / 10,
            "%zu of %zu queries hit: too uneven to tell much", nhits, nqueries);
  key_set_free(set);
}

/* Filters of more than 2^29 bytes have more than 2^32 bits. A key passes only if all its bits are
 * set. */
Test(oracle, above_2_to_29_bytes)
{
  enum { NPROBES = 30, NKEYS = 200 };
  struct rng rng = rng_start(4);
  struct key_set *set = key_set_make(&rng);
  key_set_draw(set, &rng, NKEYS);
  for (int64_t beyond = -1; beyond <= 100; beyond += beyond < 2 ? 1 : 98) {
    const size_t nbytes = ((size_t)1 << 29) + (size_t)beyond;
    test_context("payload of %zu bytes", nbytes);
    struct guarded filter = guarded_sparse(nbytes + 1);
    filter.bytes[nbytes] = NPROBES;
    for (size_t i = 0; i < NKEYS; i++) {
      const uint32_t hash = oracle_leveldb_hash(set->slices[i].data, set->slices[i].size);
      for (unsigned p = 0; p < NPROBES - i % 2; p++) { /* every second key lacks its last bit */
        const uint64_t position = model_position(hash, p, nbytes);
        filter.bytes[position / 8] |= (uint8_t)(1 << position % 8);
      }
    }
    size_t nhits = 0;
    check_answers(filter.bytes, filter.nbytes, set, &nhits);
    cr_assert(nhits >= NKEYS / 2 && nhits < NKEYS, "%zu of %d keys pass", nhits, NKEYS);
    guarded_free(&filter);
  }
  key_set_free(set);
}

/* ---- Rates ---- */

/* Because of double hashing on 32 bits, some sizes are much worse than their neighbours. Bytes,
 * answers and rate must be LevelDB's own, whatever the textbook formula gives. */
static void check_rate(size_t nkeys, double least, double most)
{
  enum { WIDTH = 16, NABSENT = 1000000 };
  struct rng rng = rng_start(nkeys);
  uint8_t *bytes = test_alloc((nkeys + NABSENT) * WIDTH);
  rng_fill(&rng, bytes, (nkeys + NABSENT) * WIDTH);
  lanebloom_slice *slices = test_alloc(nkeys * sizeof *slices);
  for (size_t i = 0; i < nkeys; i++)
    slices[i] = (lanebloom_slice){bytes + i * WIDTH, WIDTH};

  const lanebloom_keys keys = lanebloom_keys_fixed(bytes, WIDTH, nkeys);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &keys, &filter) == LANEBLOOM_OK, "build");
  size_t size, expected_size;
  const void *found = lanebloom_filter_bytes(filter, &size);
  uint8_t *expected = oracle_leveldb_create(10, slices, nkeys, &expected_size);
  cr_assert(size == expected_size, "%zu bytes, expected %zu", size, expected_size);
  test_same_bytes("filter", found, expected, size);

  const lanebloom_keys absent = lanebloom_keys_fixed(bytes + nkeys * WIDTH, WIDTH, NABSENT);
  uint8_t *bitmap = test_alloc((NABSENT + 7) / 8);
  const size_t count = lanebloom_filter_screen(filter, &absent, bitmap);
  for (size_t i = 0; i < NABSENT; i++) {
    const bool answer =
        oracle_leveldb_may_match(expected, size, bytes + (nkeys + i) * WIDTH, WIDTH);
    if ((bitmap[i / 8] >> i % 8 & 1) != answer)
      test_fatal("absent key %zu: LevelDB answers %d", i, answer);
  }
  const double percent = 100.0 * (double)count / NABSENT;
  cr_assert(percent > least && percent < most,
            "%zu keys: %.2f %% of absent keys pass, expected %.1f to %.1f", nkeys, percent, least,
            most);

  lanebloom_filter_free(filter);
  free(bitmap);
  free(expected);
  free(slices);
  free(bytes);
}

Test(oracle, rate_at_an_unlucky_size)
{
  check_rate(209712, 3.5, 4.5);
}

Test(oracle, rate_three_keys_on)
{
  check_rate(209715, 1.6, 2.2);
}
