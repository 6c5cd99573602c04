/* Compares lanebloom_leveldb.h with LevelDB's built-in Bloom policy: the bytes of filters, answers,
 * the expectations of LevelDB's own test, whole databases, and allocations that fail.
 * SPDX-License-Identifier: MIT */
#include "policy.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../oracle/key_set.h"
#include "support.h"

static policy *make(enum maker maker, int bits_per_key)
{
  policy *made = policy_create(maker, bits_per_key);
  cr_assert(made, "maker %d, %d bits per key", maker, bits_per_key);
  return made;
}

static bool matches(const policy *with, const uint8_t *filter, size_t size, const void *key,
                    size_t key_size)
{
  return policy_may_match(with, filter, size, key, key_size);
}

Test(policy, has_the_name_of_the_built_in_one)
{
  policy *built_in = make(BUILT_IN, 10);
  for (enum maker maker = BY_CLASS; maker < NMAKERS; maker++) {
    policy *made = make(maker, 10);
    cr_assert(strcmp(policy_name(made), policy_name(built_in)) == 0, "maker %d", maker);
    policy_destroy(made);
    cr_assert(!policy_create(maker, -1), "maker %d", maker);
  }
  policy_destroy(built_in);
}

/* ---- Bytes and answers ---- */

/* Covers every number of bits per key, and numbers of keys around the largest whose slices fit on
 * the stack. */
Test(policy, makes_the_same_bytes)
{
  static const size_t counts[] = {0, 255, 256, 257, MAX_KEYS};
  enum { MAX_BITS = 50, NSETS = 12 * (MAX_BITS + 1) };
  struct rng rng = rng_start(1);
  struct key_set *set = key_set_make(&rng);
  for (int bits = 0; bits <= MAX_BITS; bits++) {
    policy *built_in = make(BUILT_IN, bits);
    policy *made[] = {make(BY_CLASS, bits), make(BY_C_API, bits)};
    for (size_t s = 0; s < 12 + COUNT(counts); s++) {
      const size_t n = s < 12 ? draw_nkeys(&rng, rng_below(&rng, 2000)) : counts[s - 12];
      test_context("%d bits per key, %zu keys", bits, n);
      key_set_draw(set, &rng, n);
      size_t expected_size, size;
      uint8_t *expected = policy_filter(built_in, set->slices, n, &expected_size);
      for (size_t i = 0; i < COUNT(made); i++) {
        uint8_t *found = policy_filter(made[i], set->slices, n, &size);
        if (size != expected_size)
          test_fatal("%zu bytes, expected %zu", size, expected_size);
        test_same_bytes("filter", found, expected, size);
        free(found);
      }
      free(expected);
    }
    policy_destroy(made[0]);
    policy_destroy(made[1]);
    policy_destroy(built_in);
  }
  key_set_free(set);
}

/* The bytes are arbitrary, and include those that no policy writes. */
Test(policy, answers_the_same)
{
  enum { NFILTERS = 3000, NQUERIES = 50, MAX_SIZE = 100 };
  struct rng rng = rng_start(2);
  struct key_set *set = key_set_make(&rng);
  policy *built_in = make(BUILT_IN, 10), *made[] = {make(BY_CLASS, 10), make(BY_C_API, 10)};
  size_t nhits = 0;
  for (size_t f = 0; f < NFILTERS; f++) {
    uint8_t bytes[MAX_SIZE];
    const size_t size = leveldb_bytes_draw(&rng, f, bytes, MAX_SIZE);
    test_context("filter %zu: %zu bytes", f, size);
    key_set_draw(set, &rng, NQUERIES);
    for (size_t i = 0; i < NQUERIES; i++) {
      const lanebloom_slice *key = &set->slices[i];
      const bool expected = matches(built_in, bytes, size, key->data, key->size);
      for (size_t m = 0; m < COUNT(made); m++)
        if (matches(made[m], bytes, size, key->data, key->size) != expected)
          test_fatal("key %zu of %zu bytes: LevelDB answers %d", i, key->size, expected);
      nhits += expected;
    }
  }
  cr_assert(nhits > NFILTERS * NQUERIES / 10 && nhits < NFILTERS * NQUERIES * 9 / 10,
            "%zu hits: too uneven to tell much", nhits);
  for (size_t m = 0; m < COUNT(made); m++)
    policy_destroy(made[m]);
  policy_destroy(built_in);
  key_set_free(set);
}

/* ---- The expectations of LevelDB's own test of a Bloom policy (1.23 util/bloom_test.cc) ---- */

Test(expectations, an_empty_filter_holds_no_key)
{
  for (enum maker maker = BUILT_IN; maker < NMAKERS; maker++) {
    policy *made = make(maker, 10);
    cr_assert(!matches(made, NULL, 0, "hello", 5) && !matches(made, NULL, 0, "world", 5),
              "maker %d", maker);
    policy_destroy(made);
  }
}

Test(expectations, two_keys_are_found_and_two_others_are_not)
{
  static const lanebloom_slice keys[] = {{"hello", 5}, {"world", 5}};
  for (enum maker maker = BUILT_IN; maker < NMAKERS; maker++) {
    policy *made = make(maker, 10);
    size_t size;
    uint8_t *filter = policy_filter(made, keys, 2, &size);
    cr_assert(matches(made, filter, size, "hello", 5) && matches(made, filter, size, "world", 5),
              "maker %d", maker);
    cr_assert(!matches(made, filter, size, "x", 1) && !matches(made, filter, size, "foo", 3),
              "maker %d", maker);
    free(filter);
    policy_destroy(made);
  }
}

static void store_number(uint8_t bytes[4], uint32_t number)
{
  for (int i = 0; i < 4; i++)
    bytes[i] = (uint8_t)(number >> 8 * i);
}

/* Returns the share of 10,000 absent keys that pass. Checks that all n present keys pass. */
static double rate_of(const policy *with, size_t n)
{
  enum { NABSENT = 10000, FIRST_ABSENT = 1000000000 };
  uint8_t *bytes = test_alloc(4 * n);
  lanebloom_slice *keys = test_alloc(n * sizeof *keys);
  for (size_t i = 0; i < n; i++) {
    store_number(bytes + 4 * i, (uint32_t)i);
    keys[i] = (lanebloom_slice){bytes + 4 * i, 4};
  }
  size_t size, nhits = 0;
  uint8_t *filter = policy_filter(with, keys, n, &size);
  cr_assert(size <= n * 10 / 8 + 40, "%zu keys: %zu bytes", n, size);
  for (size_t i = 0; i < n; i++)
    if (!matches(with, filter, size, keys[i].data, 4))
      test_fatal("key %zu of %zu is lost", i, n);
  for (uint32_t i = 0; i < NABSENT; i++) {
    uint8_t absent[4];
    store_number(absent, FIRST_ABSENT + i);
    nhits += matches(with, filter, size, absent, 4);
  }
  free(filter);
  free(keys);
  free(bytes);
  return (double)nhits / NABSENT;
}

static size_t next_count(size_t n)
{
  return n + (n < 10 ? 1 : n < 100 ? 10 : n < 1000 ? 100 : 1000);
}

Test(expectations, of_1_to_10000_keys_at_most_2_percent_pass_and_mostly_less)
{
  for (enum maker maker = BUILT_IN; maker < NMAKERS; maker++) {
    policy *made = make(maker, 10);
    size_t ngood = 0, nmediocre = 0;
    for (size_t n = 1; n <= 10000; n = next_count(n)) {
      test_context("maker %d, %zu keys", maker, n);
      const double rate = rate_of(made, n);
      cr_assert(rate <= 0.02, "maker %d, %zu keys: %g of absent keys pass", maker, n, rate);
      ngood += rate <= 0.0125;
      nmediocre += rate > 0.0125;
    }
    cr_assert(ngood + nmediocre > 30 && nmediocre <= ngood / 5, "%zu good, %zu mediocre", ngood,
              nmediocre);
    policy_destroy(made);
  }
}

/* ---- Databases ---- */

enum { PATH_NBYTES = 600 };

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
  (void)status, (void)type, (void)at;
  return remove(path);
}

/* Appends a file's bytes to `all`, which has nbytes already. Returns the new number of bytes. */
static size_t append_file(const char *path, uint8_t **all, size_t nbytes)
{
  FILE *file = fopen(path, "rb");
  cr_assert(file, "%s: %s", path, strerror(errno));
  cr_assert(fseek(file, 0, SEEK_END) == 0);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  *all = realloc(*all, nbytes + size);
  cr_assert(*all && fread(*all + nbytes, 1, size, file) == size);
  fclose(file);
  return nbytes + size;
}

static int is_table(const struct dirent *entry)
{
  const size_t length = strlen(entry->d_name);
  return length > 4 && strcmp(entry->d_name + length - 4, ".ldb") == 0;
}

/* Reads the names and the bytes of all tables, one after another. Returns the number of tables. */
static int tables_of(const char *folder, uint8_t **all, size_t *nbytes)
{
  struct dirent **entries;
  const int n = scandir(folder, &entries, is_table, alphasort);
  cr_assert(n >= 0);
  *all = NULL;
  *nbytes = 0;
  for (int i = 0; i < n; i++) {
    char path[PATH_NBYTES];
    cr_assert(strlen(entries[i]->d_name) == 10);
    snprintf(path, sizeof path, "%.500s/%.10s", folder, entries[i]->d_name);
    *all = realloc(*all, *nbytes + 10);
    cr_assert(*all);
    memcpy(*all + *nbytes, entries[i]->d_name, 10);
    *nbytes = append_file(path, all, *nbytes + 10);
    free(entries[i]);
  }
  free(entries);
  return n;
}

Test(databases, have_the_same_tables_and_open_with_any_policy)
{
  const size_t nkeys = test_exhaustive() ? 100000 : 20000;
  char parent[] = "/tmp/lanebloom-policy-XXXXXX";
  cr_assert(mkdtemp(parent), "%s", strerror(errno));
  policy *makers[NMAKERS];
  char folders[NMAKERS][PATH_NBYTES];
  uint8_t *expected = NULL, *found;
  size_t expected_nbytes = 0, nbytes;
  for (enum maker maker = BUILT_IN; maker < NMAKERS; maker++) {
    makers[maker] = make(maker, 10);
    snprintf(folders[maker], PATH_NBYTES, "%s/%d", parent, maker);
    database_write(makers[maker], folders[maker], nkeys);
    const int ntables = tables_of(folders[maker], &found, &nbytes);
    cr_assert(ntables > 1, "%d tables", ntables);
    if (maker == BUILT_IN) {
      expected = found;
      expected_nbytes = nbytes;
      continue;
    }
    test_context("maker %d", maker);
    cr_assert(nbytes == expected_nbytes, "%zu bytes of tables, expected %zu", nbytes,
              expected_nbytes);
    test_same_bytes("tables", found, expected, nbytes);
    free(found);
  }
  for (enum maker writer = BUILT_IN; writer < NMAKERS; writer++)
    for (enum maker reader = BUILT_IN; reader < NMAKERS; reader++) {
      const size_t nright = database_read(makers[reader], folders[writer], nkeys);
      cr_assert(nright == 2 * nkeys, "written by %d, read by %d: %zu of %zu answers are right",
                writer, reader, nright, 2 * nkeys);
    }
  for (enum maker maker = BUILT_IN; maker < NMAKERS; maker++)
    policy_destroy(makers[maker]);
  free(expected);
  nftw(parent, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- Filters that cannot be built ---- */

/* The next `nfine` allocations succeed, and the next `nfailing` after these fail. */
static size_t nfine, nfailing;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
  if (nfailing == 0)
    return __real_malloc(size);
  if (nfine > 0) {
    nfine--;
    return __real_malloc(size);
  }
  nfailing--;
  return NULL;
}

enum { NMANY = 300 }; /* for so many keys the C API allocates slices */

/* The C API first allocates the slices and then the filter. If either allocation fails, the filter
 * lets every key pass. */
Test(no_memory, a_filter_holds_every_key)
{
  struct rng rng = rng_start(3);
  struct key_set *set = key_set_make(&rng);
  key_set_draw(set, &rng, NMANY);
  policy *made = make(BY_C_API, 10), *built_in = make(BUILT_IN, 10);
  for (size_t n = 0; n < 3; n++) {
    size_t size;
    nfine = n;
    nfailing = n < 2; /* the third allocation is not the policy's */
    uint8_t *filter = policy_filter(made, set->slices, NMANY, &size);
    nfailing = 0;
    cr_assert((size == 2) == (n < 2), "after %zu allocations: %zu bytes", n, size);
    for (size_t i = 0; i < MAX_KEYS && n < 2; i++)
      cr_assert(matches(made, filter, size, set->pool + i, 16) &&
                    matches(built_in, filter, size, set->pool + i, 16),
                "after %zu allocations: key %zu", n, i);
    free(filter);
  }
  policy_destroy(built_in);
  policy_destroy(made);
  key_set_free(set);
}

Test(no_memory, the_program_ends_before_a_key_is_lost)
{
  static const lanebloom_slice key = {"key", 3};
  policy *made = make(BY_C_API, 10);
  const pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    size_t size;
    nfine = 0;
    nfailing = 2;
    policy_filter(made, &key, 1, &size);
    _exit(0);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
                WTERMSIG(status) == SIGABRT,
            "status %x", (unsigned)status);
  policy_destroy(made);
}

Test(no_memory, no_policy)
{
  nfine = 0;
  nfailing = 1;
  cr_assert(!policy_create(BY_C_API, 10));
}

Test(no_kernel, no_policy)
{
  cr_assert(setenv("LANEBLOOM_KERNEL", "nonsense", 1) == 0);
  cr_assert(!policy_create(BY_CLASS, 10) && !policy_create(BY_C_API, 10));
}
