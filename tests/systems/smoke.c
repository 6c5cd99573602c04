/* Builds and screens filters of every format with every kernel, and prints one digest of all bytes
 * and answers. The digest is the same on every system and CPU, and is stored here. With a FOLDER as
 * argument, the program also saves, replaces, loads and maps files in it. It needs only C11 and the
 * library, so it can be built for any system, and run there.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <lanebloom.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t the_digest = UINT64_C(0xc7de30439b223203);

static _Noreturn void fail(const char *format, ...)
{
  va_list values;
  va_start(values, format);
  printf("not ok - ");
  vprintf(format, values);
  printf("\n");
  va_end(values);
  exit(EXIT_FAILURE);
}

static void check(lanebloom_status status, const char *call)
{
  if (status)
    fail("%s: %s", call, lanebloom_status_text(status));
}

/* ---- Digests: FNV-1a ---- */

struct digest {
  uint64_t value;
};

static void add_bytes(struct digest *digest, const void *bytes, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    digest->value = (digest->value ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void store_little_endian(uint8_t *to, uint64_t number, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    to[i] = (uint8_t)(number >> 8 * i);
}

static void add_number(struct digest *digest, uint64_t number)
{
  uint8_t bytes[8];
  store_little_endian(bytes, number, sizeof bytes);
  add_bytes(digest, bytes, sizeof bytes);
}

/* ---- Keys: each number has one key in each kind of layout ---- */

enum {
  NKEYS = 200000,   /* of the largest filter */
  NQUERIES = 50000, /* every second key is in the filter */
  WIDTH = 16,
  MAX_TEXT = 40
};

/* The step of SplitMix64. */
static uint64_t random_of(uint64_t i)
{
  i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
  return i ^ i >> 31;
}

struct key_set {
  size_t n;
  uint8_t *fixed; /* WIDTH bytes each, of which some layouts use fewer */
  char *text;
  uint32_t *offsets;
  lanebloom_slice *slices;
};

static void *allocate(size_t nbytes)
{
  void *bytes = malloc(nbytes);
  if (!bytes)
    fail("out of memory");
  return bytes;
}

static void add_key(struct key_set *keys, uint64_t number)
{
  const size_t i = keys->n++;
  store_little_endian(keys->fixed + i * WIDTH, random_of(number), 8);
  store_little_endian(keys->fixed + i * WIDTH + 8, random_of(number) + number, 8);
  /* Texts are of mixed lengths, and one in 64 is longer than most kernels expect. */
  const uint64_t random = random_of(~number);
  const uint32_t length = (uint32_t)(random % (random >> 32 & 63 ? MAX_TEXT : 8 * MAX_TEXT));
  char *text = keys->text + keys->offsets[i];
  for (uint32_t at = 0; at < length; at++)
    text[at] = (char)('a' + ((random >> at % 57 ^ at) & 15));
  keys->offsets[i + 1] = keys->offsets[i] + length;
  keys->slices[i] = (lanebloom_slice){text, length};
}

static struct key_set new_keys(size_t capacity)
{
  struct key_set keys = {.fixed = allocate(capacity * WIDTH),
                         .text = allocate(capacity * 8 * MAX_TEXT / 4 + 8 * MAX_TEXT),
                         .offsets = allocate((capacity + 1) * sizeof *keys.offsets),
                         .slices = allocate(capacity * sizeof *keys.slices)};
  keys.offsets[0] = 0;
  return keys;
}

static void free_keys(struct key_set *keys)
{
  free(keys->fixed);
  free(keys->text);
  free(keys->offsets);
  free(keys->slices);
}

enum { NLAYOUTS = 6 };
static lanebloom_keys in_layout(const struct key_set *keys, size_t layout, size_t n)
{
  switch (layout) {
  case 0:
    return lanebloom_keys_strided(keys->fixed, 8, WIDTH, n);
  case 1:
    return lanebloom_keys_fixed(keys->fixed, WIDTH, n);
  case 2:
    return lanebloom_keys_strided(keys->fixed + 1, 4, WIDTH, n);
  case 3:
    return lanebloom_keys_strided(keys->fixed, 13, WIDTH, n);
  case 4:
    return lanebloom_keys_offsets32(keys->text, keys->offsets, n);
  default:
    return lanebloom_keys_slices(keys->slices, n);
  }
}

/* ---- Filters ---- */

static lanebloom_filter *build(lanebloom_format format, const lanebloom_keys *keys)
{
  lanebloom_filter *filter;
  check(lanebloom_filter_build(format, 10, keys, &filter), "lanebloom_filter_build");
  return filter;
}

/* Adds all that a filter answers. Queries of 1003 keys take the kernels' paths for short
 * batches. */
static void add_answers(struct digest *digest, const lanebloom_filter *filter,
                        const struct key_set *queries, size_t layout)
{
  static uint8_t bitmap[NQUERIES / 8 + 1];
  static uint32_t selected[NQUERIES];
  static const size_t sizes[] = {1, 31, 1003, NQUERIES};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const lanebloom_keys keys = in_layout(queries, layout, sizes[i]);
    const size_t n = lanebloom_filter_screen(filter, &keys, bitmap);
    add_number(digest, n);
    add_bytes(digest, bitmap, (sizes[i] + 7) / 8);
    if (lanebloom_filter_select(filter, &keys, selected) != n)
      fail("lanebloom_filter_select() and lanebloom_filter_screen() differ");
    for (size_t hit = 0; hit < n; hit++)
      add_number(digest, selected[hit]);
  }
}

static uint64_t digest_of(lanebloom_format format, const struct key_set *members, size_t nkeys,
                          const struct key_set *queries)
{
  struct digest digest = {0xcbf29ce484222325};
  for (size_t layout = 0; layout < NLAYOUTS; layout++) {
    const lanebloom_keys keys = in_layout(members, layout, nkeys);
    lanebloom_filter *filter = build(format, &keys);
    size_t nbytes;
    const void *bytes = lanebloom_filter_bytes(filter, &nbytes);
    add_number(&digest, nbytes);
    add_bytes(&digest, bytes, nbytes);
    add_answers(&digest, filter, queries, layout);
    lanebloom_filter_free(filter);
  }
  return digest.value;
}

/* ---- Files ---- */

static void save(const lanebloom_filter *filter, const char *path)
{
  if (lanebloom_filter_save(filter, path) != LANEBLOOM_OK)
    perror(path), fail("lanebloom_filter_save: %s", path);
}

static uint64_t answers_of(lanebloom_filter *filter, const struct key_set *queries)
{
  struct digest digest = {0};
  add_answers(&digest, filter, queries, 0);
  lanebloom_filter_free(filter);
  return digest.value;
}

/* Saves a filter, replaces it by another, and reads this one by both calls. */
static void check_files(lanebloom_format format, const char *folder, const struct key_set *members,
                        const struct key_set *queries)
{
  char path[4096], problem[256] = "";
  snprintf(path, sizeof path, "%s/smoke-%s.lbf", folder, lanebloom_format_name(format));
  const lanebloom_keys few = in_layout(members, 0, 10), many = in_layout(members, 0, 20000);
  lanebloom_filter *first = build(format, &few), *second = build(format, &many), *loaded, *mapped;
  save(first, path);
  save(second, path);
  lanebloom_filter_free(first);
  if (lanebloom_filter_load(path, &loaded, problem, sizeof problem) ||
      lanebloom_filter_map(path, &mapped, problem, sizeof problem))
    fail("%s: %s", path, problem);
  const uint64_t expected = answers_of(second, queries);
  if (answers_of(loaded, queries) != expected)
    fail("%s: a loaded filter has other answers", path);
  if (answers_of(mapped, queries) != expected)
    fail("%s: a mapped filter has other answers", path);
  if (remove(path) != 0)
    perror(path), fail("remove: %s", path);
}

int main(int argc, char **argv)
{
  struct key_set members = new_keys(NKEYS), queries = new_keys(NQUERIES);
  for (uint64_t i = 0; i < NKEYS; i++)
    add_key(&members, i);
  for (uint64_t i = 0; i < NQUERIES; i++)
    add_key(&queries, i % 2 ? i * 11 % NKEYS : NKEYS + i);

  static const size_t sizes[] = {0, 1, 300, 20000, NKEYS};
  struct digest all = {0xcbf29ce484222325};
  const size_t nkernels = lanebloom_kernel_count();
  for (size_t f = 0; f < lanebloom_format_count(); f++) {
    const lanebloom_format format = lanebloom_format_at(f);
    lanebloom_format_info info;
    check(lanebloom_format_describe(format, &info, sizeof info), "lanebloom_format_describe");
    if (!info.builds)
      continue;
    const char *name = lanebloom_format_name(format);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      uint64_t expected = 0;
      for (size_t k = nkernels; k-- > 0;) { /* all kernels are compared with the last one */
        const char *kernel = lanebloom_kernel_at(k);
        check(lanebloom_kernel_use(kernel), kernel);
        const uint64_t digest = digest_of(format, &members, sizes[s], &queries);
        if (k == nkernels - 1)
          expected = digest;
        else if (digest != expected)
          fail("%s, %zu keys: %s and %s differ", name, sizes[s], kernel,
               lanebloom_kernel_at(nkernels - 1));
      }
      printf("# %s, %zu keys: %016" PRIx64 "\n", name, sizes[s], expected);
      add_number(&all, expected);
    }
    if (argc > 1)
      check_files(format, argv[1], &members, &queries);
  }
  free_keys(&members);
  free_keys(&queries);
  printf("# kernels:");
  for (size_t k = 0; k < nkernels; k++)
    printf(" %s", lanebloom_kernel_at(k));
  printf("\n%s - digest %016" PRIx64 "%s\n", all.value == the_digest ? "ok" : "not ok", all.value,
         argc > 1 ? "; files saved, replaced, loaded and mapped" : "");
  return all.value == the_digest ? EXIT_SUCCESS : EXIT_FAILURE;
}
