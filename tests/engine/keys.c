/* Batches of keys: every layout gives the same hashes, filters and answers.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "few_keys.h"

Test(keys, every_layout_hashes_alike)
{
  uint8_t bytes[NKEYS * WIDTH];
  static uint32_t offsets32[NKEYS + 1], expected[NKEYS], found[NKEYS];
  static uint64_t offsets64[NKEYS + 1];
  static lanebloom_slice slices[NKEYS];
  fill_keys(bytes);
  for (size_t i = 0; i <= NKEYS; i++)
    offsets64[i] = offsets32[i] = (uint32_t)(i * WIDTH);
  for (size_t i = 0; i < NKEYS; i++)
    slices[i] = (lanebloom_slice){bytes + i * WIDTH, WIDTH};

  const lanebloom_keys fixed = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  const lanebloom_keys layouts[] = {
      lanebloom_keys_offsets32(bytes, offsets32, NKEYS),
      lanebloom_keys_offsets64(bytes, offsets64, NKEYS),
      lanebloom_keys_slices(slices, NKEYS),
  };
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &fixed, expected) == LANEBLOOM_OK);
  for (size_t layout = 0; layout < sizeof layouts / sizeof *layouts; layout++) {
    memset(found, 0, sizeof found);
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &layouts[layout], found) == LANEBLOOM_OK);
    cr_assert(memcmp(found, expected, sizeof found) == 0, "layout %zu", layout);
    for (size_t first = 0; first < NKEYS; first += 77) {
      lanebloom_keys part = lanebloom_keys_part(&layouts[layout], first, 100);
      size_t n = NKEYS - first < 100 ? NKEYS - first : 100;
      cr_assert(part.n == n, "layout %zu, first %zu: %zu keys", layout, first, part.n);
      memset(found, 0, sizeof found);
      cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &part, found) == LANEBLOOM_OK);
      cr_assert(memcmp(found, expected + first, n * sizeof *found) == 0, "layout %zu, first %zu",
                layout, first);
    }
  }
}

/* Offsets at equal distances are hashed as keys of one width. If any one offset is moved, they must
 * not be. */
Test(keys, one_offset_at_another_distance)
{
  enum { N = 130, MAX_WIDTH = 20, FIRST = 3 };
  static const size_t counts[] = {1, 2, 64, 65, N}, widths[] = {1, 8, MAX_WIDTH};
  uint8_t bytes[FIRST + N * MAX_WIDTH + 1];
  uint32_t offsets32[N + 1], expected[N], found[2][N];
  uint64_t offsets64[N + 1];
  lanebloom_slice slices[N];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(i * i >> 3);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (size_t n = counts[c], moved = 0; moved <= n + 1; moved++) { /* n + 1: none */
        for (size_t i = 0; i <= n; i++) {
          offsets64[i] = FIRST + i * widths[w] + (i == moved);
          offsets32[i] = (uint32_t)offsets64[i];
        }
        for (size_t i = 0; i < n; i++)
          slices[i] = (lanebloom_slice){bytes + offsets64[i], offsets64[i + 1] - offsets64[i]};
        const lanebloom_keys keys[] = {lanebloom_keys_slices(slices, n),
                                       lanebloom_keys_offsets32(bytes, offsets32, n),
                                       lanebloom_keys_offsets64(bytes, offsets64, n)};
        cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys[0], expected) == LANEBLOOM_OK);
        for (size_t l = 0; l < 2; l++) {
          cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys[l + 1], found[l]) == LANEBLOOM_OK);
          cr_assert(memcmp(found[l], expected, n * sizeof *expected) == 0,
                    "%zu keys of %zu bytes, offset %zu moved, layout %zu", n, widths[w], moved, l);
        }
      }
}

/* Each key ends with its page, and the pages between them cannot be read. */
Test(keys, gaps_need_not_be_readable)
{
  enum { N = 40 };
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *pages = mmap(NULL, 2 * N * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(pages != MAP_FAILED);
  for (size_t i = 0; i < N; i++) {
    cr_assert(mprotect(pages + 2 * i * page, page, PROT_READ | PROT_WRITE) == 0);
    for (size_t at = 0; at < page; at++)
      pages[2 * i * page + at] = (uint8_t)(at * 7 + i);
  }
  for (size_t kernel = 0; kernel < lanebloom_kernel_count(); kernel++) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(kernel)) == LANEBLOOM_OK);
    for (size_t f = 0; f < lanebloom_format_count(); f++)
      for (size_t width = 1; width <= 40; width++) {
        const lanebloom_format format = lanebloom_format_at(f);
        uint8_t found[N * LANEBLOOM_MAX_HASH_SIZE], expected[sizeof found];
        const size_t nbytes = N * lanebloom_format_hash_size(format);
        lanebloom_slice slices[N];
        for (size_t i = 0; i < N; i++)
          slices[i] = (lanebloom_slice){pages + (2 * i + 1) * page - width, width};
        const lanebloom_keys strided = lanebloom_keys_strided(slices[0].data, width, 2 * page, N),
                             listed = lanebloom_keys_slices(slices, N);
        if (nbytes == 0)
          continue;
        cr_assert(lanebloom_hash(format, &strided, found) == LANEBLOOM_OK);
        cr_assert(lanebloom_hash(format, &listed, expected) == LANEBLOOM_OK);
        cr_assert(memcmp(found, expected, nbytes) == 0, "format %zu, width %zu", f, width);
      }
  }
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
  munmap(pages, 2 * N * page);
}

#ifndef NDEBUG
static void hash_falling(const lanebloom_keys *keys)
{
  uint32_t hashes[3];
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, keys, hashes) == LANEBLOOM_OK);
}

static void screen_falling(const lanebloom_keys *keys)
{
  uint8_t filter_bytes[9] = {[8] = 6};
  lanebloom_filter *filter;
  if (lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, filter_bytes, sizeof filter_bytes, NULL,
                                 &filter, NULL, 0) == LANEBLOOM_OK)
    lanebloom_filter_screen(filter, keys, NULL);
}

/* Only builds with assertions can be tested. */
Test(keys, offsets_that_fall_are_asserted)
{
  void (*const uses[])(const lanebloom_keys *) = {hash_falling, screen_falling};
  const lanebloom_keys keys[] = {
      lanebloom_keys_offsets32("0123456789", (uint32_t[]){0, 5, 3, 8}, 3),
      lanebloom_keys_offsets64("0123456789", (uint64_t[]){0, 5, 3, 8}, 3)};
  for (size_t i = 0; i < 4; i++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      close(STDERR_FILENO);
      uses[i % 2](&keys[i / 2]);
      _exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child, "no child");
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
              "use %zu of layout %zu: status %x", i % 2, i / 2, (unsigned)status);
  }
}
#endif

Test(keys, a_part_never_leaves_the_batch)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("abcdef", 2, 3);
  cr_assert(lanebloom_keys_part(&keys, 0, SIZE_MAX).n == 3);
  cr_assert(lanebloom_keys_part(&keys, 2, SIZE_MAX).n == 1);
  cr_assert(lanebloom_keys_part(&keys, 3, 1).n == 0);
  cr_assert(lanebloom_keys_part(&keys, SIZE_MAX, SIZE_MAX).n == 0);
  const lanebloom_keys part = lanebloom_keys_part(&keys, 1, 2),
                       part_of_part = lanebloom_keys_part(&part, 1, 2);
  cr_assert(part_of_part.n == 1);
  uint32_t found, expected;
  const lanebloom_keys last = lanebloom_keys_fixed("ef", 2, 1);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &part_of_part, &found) == LANEBLOOM_OK);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &last, &expected) == LANEBLOOM_OK);
  cr_assert(found == expected);
}

Test(keys, empty_batches_and_empty_keys)
{
  const lanebloom_slice empty_slice = {NULL, 0};
  const uint32_t zeros32[3] = {0};
  const uint64_t zeros64[3] = {0};
  const lanebloom_keys none[] = {
      lanebloom_keys_fixed(NULL, 8, 0),
      lanebloom_keys_offsets32(NULL, NULL, 0),
      lanebloom_keys_offsets64(NULL, NULL, 0),
      lanebloom_keys_slices(NULL, 0),
  };
  const lanebloom_keys empty[] = {
      lanebloom_keys_fixed(NULL, 0, 1),
      lanebloom_keys_offsets32(NULL, zeros32, 1),
      lanebloom_keys_offsets64(NULL, zeros64, 1),
      lanebloom_keys_slices(&empty_slice, 1),
  };
  for (size_t i = 0; i < 4; i++) {
    lanebloom_filter *filter = build(&none[i]);
    uint8_t bitmap = 0xa5;
    uint32_t word = 0xa5a5a5a5;
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &none[i], &word) == LANEBLOOM_OK &&
              word == 0xa5a5a5a5);
    cr_assert(lanebloom_filter_screen(filter, &none[i], &bitmap) == 0 && bitmap == 0xa5);
    cr_assert(lanebloom_filter_select(filter, &none[i], &word) == 0 && word == 0xa5a5a5a5);
    cr_assert(lanebloom_filter_screen_hashes(filter, NULL, 0, &bitmap) == 0 && bitmap == 0xa5);
    cr_assert(!lanebloom_filter_may_contain(filter, NULL, 0),
              "a filter of no keys has no empty key");
    lanebloom_filter_free(filter);

    filter = build(&empty[i]);
    cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &empty[i], &word) == LANEBLOOM_OK &&
              word == 0xbc9f1d34);
    cr_assert(lanebloom_filter_screen(filter, &empty[i], &bitmap) == 1 && bitmap == 1);
    cr_assert(lanebloom_filter_may_contain(filter, NULL, 0));
    lanebloom_filter_free(filter);
  }
}

/* Strided fields and string views hold the same keys. Every call accepts both, whole and in parts,
 * also for more keys than screening takes at once. */
Test(keys, fields_and_views_are_built_and_screened_alike)
{
  enum { N = 70000, FIELD = 8, RECORD = 21, AT = 5 };
  static uint8_t records[N * RECORD], packed[N * FIELD], views[N * 16], bitmaps[3][N / 8 + 1],
      masks[3][N];
  static uint32_t indices[3][N];
  for (size_t i = 0; i < N; i++) {
    const uint64_t key = i * 0x9e3779b97f4a7c15;
    const uint32_t size = FIELD;
    memcpy(packed + i * FIELD, &key, FIELD);
    memcpy(records + i * RECORD + AT, &key, FIELD);
    memcpy(views + i * 16, &size, sizeof size);
    memcpy(views + i * 16 + 4, &key, FIELD);
  }
  const lanebloom_keys layouts[3] = {
      lanebloom_keys_fixed(packed, FIELD, N),
      lanebloom_keys_strided(records + AT, FIELD, RECORD, N),
      lanebloom_keys_strings(views, N),
  };
  for (size_t f = 0; f < lanebloom_format_count(); f++) {
    const lanebloom_format format = lanebloom_format_at(f);
    lanebloom_filter *filters[3];
    size_t sizes[3], counts[3];
    lanebloom_format_info info;
    if (lanebloom_format_describe(format, &info, sizeof info) != LANEBLOOM_OK || !info.builds)
      continue;
    for (size_t l = 0; l < 3; l++) {
      const lanebloom_keys part = lanebloom_keys_part(&layouts[l], 1000, N / 2);
      cr_assert(lanebloom_filter_build(format, 10, &part, &filters[l]) == LANEBLOOM_OK);
      const void *bytes = lanebloom_filter_bytes(filters[l], &sizes[l]);
      cr_assert(sizes[l] == sizes[0] &&
                    memcmp(bytes, lanebloom_filter_bytes(filters[0], &sizes[0]), sizes[0]) == 0,
                "%s, layout %zu", lanebloom_format_name(format), l);
      counts[l] = lanebloom_filter_screen(filters[0], &layouts[l], bitmaps[l]);
      cr_assert(counts[l] >= N / 2 && counts[l] < N);
      cr_assert(lanebloom_filter_mask(filters[0], &layouts[l], masks[l]) == counts[l]);
      cr_assert(lanebloom_filter_select(filters[0], &layouts[l], indices[l]) == counts[l]);
      cr_assert(counts[l] == counts[0] && memcmp(bitmaps[l], bitmaps[0], N / 8) == 0);
      cr_assert(memcmp(masks[l], masks[0], N) == 0);
      cr_assert(memcmp(indices[l], indices[0], counts[0] * sizeof **indices) == 0);
    }
    for (size_t i = 0; i < N; i++)
      cr_assert(masks[0][i] == (bitmaps[0][i / 8] >> i % 8 & 1), "key %zu", i);
    for (size_t l = 0; l < 3; l++)
      lanebloom_filter_free(filters[l]);
  }
}

/* Strides of 0 and empty keys are allowed, and have a defined meaning. */
Test(keys, strides_of_nothing)
{
  uint32_t one, found[3];
  lanebloom_keys keys = lanebloom_keys_fixed("key", 3, 1);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, &one) == LANEBLOOM_OK);
  keys = lanebloom_keys_strided("key", 3, 0, 3); /* one key, three times */
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, found) == LANEBLOOM_OK);
  cr_assert(found[0] == one && found[1] == one && found[2] == one);
  keys = lanebloom_keys_fixed(NULL, 0, 1);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, &one) == LANEBLOOM_OK);
  keys = lanebloom_keys_strided(NULL, 0, 100, 3); /* three empty keys, so nothing is read */
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, found) == LANEBLOOM_OK);
  cr_assert(found[0] == one && found[1] == one && found[2] == one);
  keys = lanebloom_keys_strings(NULL, 0);
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, NULL) == LANEBLOOM_OK);
  const lanebloom_keys part = lanebloom_keys_part(&keys, 5, 5);
  cr_assert(part.n == 0);
}
