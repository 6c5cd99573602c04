/* Frozen vectors of filter blocks.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "filter_block.h"

static char *next_word(char **rest, const char *separators)
{
  char *word = strtok_r(*rest, separators, rest);
  if (!word)
    test_fatal("a column is missing");
  return word;
}

/* Builds a block by these calls, which are written as start:key,key;start:key,... */
static void check_frozen_build(lanebloom_filter_block_builder *builder, char *calls,
                               const uint8_t *expected, size_t expected_size)
{
  for (char *call; (call = strtok_r(calls, ";", &calls));) {
    uint8_t key[64];
    cr_assert(lanebloom_filter_block_builder_start_block(
                  builder, strtoull(next_word(&call, ":"), NULL, 10)) == LANEBLOOM_OK);
    for (char *hex; (hex = strtok_r(call, ",", &call));) {
      const lanebloom_keys keys = lanebloom_keys_fixed(key, hex_decode(hex, key, sizeof key), 1);
      cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
    }
  }
  const void *bytes;
  size_t size;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
  if (size != expected_size)
    test_fatal("%zu bytes, expected %zu", size, expected_size);
  test_same_bytes("filter block", bytes, expected, size);
}

Test(filter_block, vectors)
{
  enum { NBUILT = 125, NASKED = 2250, MAX_SIZE = 4096 };
  uint8_t bytes[MAX_SIZE], key[64];
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    const char *kernel = use_kernel(k);
    size_t nbuilt = 0, nasked = 0, number = 0, room = 0;
    char *line = NULL;
    FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/leveldb_filter_blocks.txt", "r");
    if (!file)
      test_fatal("no vectors");
    while (getline(&line, &room, file) >= 0) {
      test_context("%s, line %zu", kernel, ++number);
      if (*line == '#')
        continue;
      char *rest = line;
      const bool is_build = *next_word(&rest, " \n") == 'B';
      const size_t size = hex_decode(next_word(&rest, " \n"), bytes, sizeof bytes);
      char *word = next_word(&rest, " \n");
      if (is_build) {
        lanebloom_filter_block_builder *builder;
        cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 10, LEVELDB_BASE_LG,
                                                        &builder) == LANEBLOOM_OK);
        check_frozen_build(builder, word, bytes, size);
        lanebloom_filter_block_builder_free(builder);
        nbuilt++;
        continue;
      }
      const uint64_t offset = strtoull(word, NULL, 10);
      const size_t key_size = hex_decode(next_word(&rest, " \n"), key, sizeof key);
      const bool expected = *next_word(&rest, " \n") == '1';
      const lanebloom_keys keys = lanebloom_keys_fixed(key, key_size, 1);
      lanebloom_filter_block *block = open_block(LANEBLOOM_LEVELDB, bytes, size);
      if (lanebloom_filter_block_may_contain(block, offset, key, key_size) != expected ||
          lanebloom_filter_block_screen(block, &offset, &keys, NULL) != expected)
        test_fatal("expected %d", expected);
      lanebloom_filter_block_free(block);
      nasked++;
    }
    cr_assert(nbuilt == NBUILT && nasked == NASKED, "%zu blocks built, %zu queries", nbuilt,
              nasked);
    fclose(file);
    free(line);
  }
}
