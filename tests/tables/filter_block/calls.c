/* Calls of filter blocks: their errors, and that a failed call changes nothing.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>

#include "filter_block.h"

Test(filter_block, formats_that_have_no_filter_blocks)
{
  static const lanebloom_format others[] = {(lanebloom_format)0,     LANEBLOOM_ROCKSDB_LEGACY,
                                            LANEBLOOM_ROCKSDB_LOCAL, LANEBLOOM_ROCKSDB_RIBBON,
                                            LANEBLOOM_ROCKSDB,       (lanebloom_format)99};
  for (size_t i = 0; i < COUNT(others); i++) {
    lanebloom_filter_block *block = (void *)1;
    lanebloom_filter_block_builder *builder = (void *)1;
    cr_assert(lanebloom_filter_block_parse(others[i], "", 0, &block, NULL, 0) ==
                  LANEBLOOM_ERR_FORMAT &&
              !block);
    cr_assert(lanebloom_filter_block_builder_create(others[i], 10, 11, &builder) ==
                  LANEBLOOM_ERR_FORMAT &&
              !builder);
  }
  lanebloom_filter_block_free(NULL);
  lanebloom_filter_block_builder_free(NULL);
}

Test(filter_block, no_kernel)
{
  setenv("LANEBLOOM_KERNEL", "none", 1);
  lanebloom_filter_block *block = (void *)1;
  lanebloom_filter_block_builder *builder = (void *)1;
  cr_assert(lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, "", 0, &block, NULL, 0) ==
                LANEBLOOM_ERR_KERNEL &&
            !block);
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &builder) ==
            LANEBLOOM_ERR_KERNEL);
  cr_assert(!builder);
}

Test(filter_block, arguments)
{
  static const double bits_per_key[] = {-1, 0.5, NAN, INFINITY, 2147483648.0};
  lanebloom_filter_block *block = (void *)1;
  cr_assert(lanebloom_filter_block_parse(LANEBLOOM_LEVELDB, NULL, 1, &block, NULL, 0) ==
                LANEBLOOM_ERR_ARGUMENT &&
            !block);
  lanebloom_filter_block_builder *builder = (void *)1;
  for (size_t i = 0; i < COUNT(bits_per_key); i++)
    cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, bits_per_key[i], 11,
                                                    &builder) == LANEBLOOM_ERR_ARGUMENT &&
              !builder);
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 64, &builder) ==
            LANEBLOOM_ERR_ARGUMENT);

  block = open_block(LANEBLOOM_LEVELDB, NULL, 0);
  const lanebloom_keys none = lanebloom_keys_slices(NULL, 0);
  cr_assert(lanebloom_filter_block_may_contain(block, 0, NULL, 0));
  cr_assert(lanebloom_filter_block_screen(block, NULL, &none, NULL) == 0);
  lanebloom_filter_block_free(block);
}

/* The block has the bytes that the successful calls alone would make. */
Test(filter_block, calls_that_are_refused_change_nothing)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, 26);
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 3) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 2) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, UINT64_MAX) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, (uint64_t)PTRDIFF_MAX / 4) ==
            LANEBLOOM_ERR_MEMORY);
  cr_assert(lanebloom_filter_block_builder_start_block(builder, 3) == LANEBLOOM_OK);
  const void *bytes;
  size_t size, expected_size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);

  oracle_block_builder *oracle = oracle_block_builder_create(LANEBLOOM_LEVELDB, 10);
  oracle_block_builder_start_block(oracle, 3 << LEVELDB_BASE_LG);
  for (size_t i = 0; i < keys.n; i++)
    oracle_block_builder_add(oracle, (const char *)keys.data + i, 1);
  uint8_t *expected = oracle_block_builder_finish(oracle, &expected_size);
  cr_assert(size == expected_size);
  test_same_bytes("filter block", bytes, expected, size - 1);
  free(expected);
  lanebloom_filter_block_builder_free(builder);
}

/* A builder that is used again makes the same bytes as a new builder. */
Test(filter_block, a_builder_is_fed_again)
{
  enum { NBLOCKS = 20, NKEYS = 26 };
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, NKEYS);
  lanebloom_filter_block_builder *again, *fresh;
  const void *bytes, *expected;
  size_t size, expected_size;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &again) ==
            LANEBLOOM_OK);
  for (size_t nblocks = NBLOCKS; nblocks-- > 0;) {
    cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, 11, &fresh) ==
              LANEBLOOM_OK);
    for (size_t i = 0; i < nblocks; i++) {
      const lanebloom_keys part = lanebloom_keys_part(&keys, i, NKEYS - i);
      cr_assert(lanebloom_filter_block_builder_start_block(again, i * 1500) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_start_block(fresh, i * 1500) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_add(again, &part) == LANEBLOOM_OK);
      cr_assert(lanebloom_filter_block_builder_add(fresh, &part) == LANEBLOOM_OK);
    }
    cr_assert(lanebloom_filter_block_builder_finish(again, &bytes, &size) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_block_builder_finish(fresh, &expected, &expected_size) ==
              LANEBLOOM_OK);
    cr_assert(size == expected_size, "%zu blocks: %zu bytes, expected %zu", nblocks, size,
              expected_size);
    test_same_bytes("filter block", bytes, expected, size);
    lanebloom_filter_block_builder_free(fresh);
  }
  lanebloom_filter_block_builder_free(again);
}

/* 16 keys of 2^31 - 1 bits each make a filter of 2^32 - 1 bytes, which is the last offset at which
 * the next filter may begin. The filter is not built here. */
Test(filter_block, offsets_have_32_bits)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdefghijklmnopqrstuvwxyz", 1, 26);
  const lanebloom_keys most = lanebloom_keys_part(&keys, 0, 16),
                       more = lanebloom_keys_part(&keys, 0, 17),
                       one = lanebloom_keys_part(&keys, 0, 1),
                       none = lanebloom_keys_part(&keys, 0, 0);
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, INT_MAX, 11, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &more) == LANEBLOOM_ERR_LIMIT);
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  cr_assert(size == TRAILER_NBYTES && memcmp(bytes, "\0\0\0\0\x0b", TRAILER_NBYTES) == 0);
  lanebloom_filter_block_builder_free(builder);

  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, INT_MAX, 11, &builder) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &most) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_block_builder_add(builder, &one) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_block_builder_add(builder, &none) == LANEBLOOM_OK);
  const lanebloom_keys many =
      lanebloom_keys_fixed("", 0, SIZE_MAX); /* the count would wrap around */
  cr_assert(lanebloom_filter_block_builder_add(builder, &many) == LANEBLOOM_ERR_LIMIT);
  lanebloom_filter_block_builder_free(builder);
}
