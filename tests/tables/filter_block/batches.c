/* Batches of every length and layout, and filters beyond 2^32 bits.
 * SPDX-License-Identifier: MIT */
#include "filter_block.h"

struct guarded build_mixed(lanebloom_format format, const uint8_t *pool, size_t place)
{
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(format, 10, LEVELDB_BASE_LG, &builder) ==
            LANEBLOOM_OK);
  for (size_t f = 0; f < NFILTERS; f++) {
    const lanebloom_keys keys =
        lanebloom_keys_fixed(pool + f * KEYS_PER_FILTER * WIDTH, WIDTH, KEYS_PER_FILTER);
    cr_assert(lanebloom_filter_block_builder_start_block(builder, (uint64_t)f << LEVELDB_BASE_LG) ==
              LANEBLOOM_OK);
    if (f != EMPTY)
      cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  struct guarded copy = guarded_copy(bytes, size, place);
  lanebloom_filter_block_builder_free(builder);
  const uint8_t *offsets = copy.bytes + load_le32(copy.bytes + size - TRAILER_NBYTES);
  copy.bytes[load_le32(offsets + (size_t)(FULL + 1) * 4) - 1] = 0; /* FULL's number of probes */
  guarded_freeze(&copy);
  return copy;
}

void draw_runs(struct queries *queries, uint8_t *pool, struct rng *rng)
{
  static const size_t long_runs[] = {300, 1023, 1024, 1025, 3000};
  queries->n = 0;
  for (size_t left = 0, filter = 0, i = 0; i < MAX_QUERIES; i++, left--) {
    if (left == 0) {
      filter = rng_below(rng, NFILTERS + 2);
      left = rng_below(rng, 12) == 0 ? long_runs[rng_below(rng, COUNT(long_runs))]
                                     : rng_below(rng, 40) + 1;
    }
    uint8_t *key = pool + i * WIDTH;
    if (i >= (size_t)(NFILTERS + 2) * KEYS_PER_FILTER && rng_below(rng, 2))
      memcpy(key, pool + (filter * KEYS_PER_FILTER + rng_below(rng, KEYS_PER_FILTER)) * WIDTH,
             WIDTH);
    queries_add(queries, (uint64_t)filter << LEVELDB_BASE_LG | rng_below(rng, 1 << LEVELDB_BASE_LG),
                (lanebloom_slice){key, WIDTH});
  }
}

/* Batches have runs of every length, one after another, and keys in every layout, and end
 * anywhere. */
Test(filter_block, batches)
{
  static const size_t ends[] = {0,  1,    7,    8,    9,    15,   16,   17,         31,
                                33, 1000, 1023, 1024, 1025, 2047, 2049, MAX_QUERIES};
  struct rng rng = rng_start(7);
  struct queries *queries = test_alloc(sizeof *queries);
  uint8_t *pool = test_alloc((size_t)WIDTH * MAX_QUERIES);
  uint32_t *offsets32 = test_alloc((MAX_QUERIES + 1) * sizeof *offsets32);
  uint64_t *offsets64 = test_alloc((MAX_QUERIES + 1) * sizeof *offsets64);
  for (size_t i = 0; i <= MAX_QUERIES; i++)
    offsets64[i] = offsets32[i] = (uint32_t)(i * WIDTH);
  const size_t ntimes = test_exhaustive() ? 12 : 3;
  for (size_t time = 0; time < ntimes; time++) {
    const lanebloom_format format = formats[time % COUNT(formats)];
    rng_fill(&rng, pool, (size_t)WIDTH * MAX_QUERIES);
    struct guarded bytes = build_mixed(format, pool, time % NPLACES);
    draw_runs(queries, pool, &rng);
    expect_leveldb(format, bytes.bytes, bytes.nbytes, queries);
    lanebloom_filter_block *block = open_block(format, bytes.bytes, bytes.nbytes);
    const lanebloom_keys layouts[] = {lanebloom_keys_fixed(pool, WIDTH, MAX_QUERIES),
                                      lanebloom_keys_offsets32(pool, offsets32, MAX_QUERIES),
                                      lanebloom_keys_offsets64(pool, offsets64, MAX_QUERIES),
                                      lanebloom_keys_slices(queries->slices, MAX_QUERIES)};
    for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
      const char *kernel = use_kernel(k);
      test_context("time %zu, %s, one by one", time, kernel);
      check_singles(block, queries);
      for (size_t l = 0; l < COUNT(layouts); l++)
        for (size_t e = 0; e < COUNT(ends); e++) {
          test_context("time %zu, %s, layout %zu, %zu keys", time, kernel, l, ends[e]);
          const lanebloom_keys keys = lanebloom_keys_part(&layouts[l], 0, ends[e]);
          check_batch(block, queries, queries->offsets, &keys, e % NPLACES);
        }
    }
    lanebloom_filter_block_free(block);
    guarded_free(&bytes);
  }
  free(offsets64);
  free(offsets32);
  free(pool);
  free(queries);
}

/* Filters have just below, exactly and above 2^32 bits. In larger ones, probes reach only the first
 * 2^32 bits. */
Test(filter_block, filters_of_2_to_the_32_bits)
{
  static const size_t filter_nbytes[] = {((size_t)1 << 29) - 1, (size_t)1 << 29,
                                         ((size_t)1 << 29) + 1000001};
  enum { NKEYS = 200, NPROBES = 6 };
  struct queries *queries = test_alloc(sizeof *queries);
  uint64_t key_bytes[NKEYS];
  uint32_t hashes[NKEYS];
  for (uint64_t i = 0; i < NKEYS; i++) {
    key_bytes[i] = i * 0x9e3779b97f4a7c15;
    queries_add(queries, 0, (lanebloom_slice){&key_bytes[i], sizeof *key_bytes});
  }
  const lanebloom_keys keys = lanebloom_keys_fixed(key_bytes, sizeof *key_bytes, NKEYS);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, hashes) == LANEBLOOM_OK);
  for (size_t f = 0; f < COUNT(filter_nbytes); f++) {
    const size_t payload_nbytes = filter_nbytes[f];
    struct guarded block_bytes = guarded_sparse(payload_nbytes + 1 + 4 + TRAILER_NBYTES);
    uint8_t *bytes = block_bytes.bytes;
    bytes[payload_nbytes] = NPROBES;
    store_le32(bytes + payload_nbytes + 1 + 4, (uint32_t)payload_nbytes + 1);
    bytes[payload_nbytes + 1 + 4 + 4] = LEVELDB_BASE_LG;
    for (size_t i = 0; i < NKEYS; i += 2) { /* adds half of the keys */
      uint32_t probe = hashes[i];
      for (size_t p = 0; p < NPROBES; p++, probe += hashes[i] >> 17 | hashes[i] << 15)
        bytes[probe % (payload_nbytes * 8) / 8] |= (uint8_t)(1 << probe % (payload_nbytes * 8) % 8);
    }
    expect_leveldb(LANEBLOOM_LEVELDB, bytes, block_bytes.nbytes, queries);
    lanebloom_filter_block *block = open_block(LANEBLOOM_LEVELDB, bytes, block_bytes.nbytes);
    for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
      test_context("%zu bytes, %s", payload_nbytes, use_kernel(k));
      check_batch(block, queries, queries->offsets, &keys, AT_END);
      cr_assert(lanebloom_filter_block_screen(block, queries->offsets, &keys, NULL) == NKEYS / 2);
    }
    check_singles(block, queries);
    lanebloom_filter_block_free(block);
    guarded_free(&block_bytes);
  }
  free(queries);
}
