/* The choice of a kernel: by default, by the environment and by force. Every test is a process of
 * its own, so it makes a first choice.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter.h"

static void set(const char *name)
{
  cr_assert(setenv("LANEBLOOM_KERNEL", name, 1) == 0);
}

Test(dispatch, the_list_is_complete_distinct_and_has_scalar)
{
  const size_t n = lanebloom_kernel_count();
  cr_assert(n >= 1);
  cr_assert(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  cr_assert(!lanebloom_kernel_at(n) && !lanebloom_kernel_at(SIZE_MAX));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++)
      cr_assert(strcmp(lanebloom_kernel_at(i), lanebloom_kernel_at(j)) != 0, "%s",
                lanebloom_kernel_at(i));
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
    const struct kernel_table *table = lanebloom_kernels_current();
    cr_assert(!table->hash[HASH_NONE]);
    for (int hash = HASH_NONE + 1; hash < HASH_END; hash++)
      cr_assert(table->hash[hash], "%s lacks hash %d", table->name, hash);
    for (int layout = 0; layout < LAYOUT_END; layout++)
      cr_assert(table->layout[layout].probe && !table->may_match[layout] == (layout == LAYOUT_HUDI),
                "%s lacks layout %d", table->name, layout);
    for (size_t f = 0; f < lanebloom_format_count(); f++) {
      const struct format_table *format = lanebloom_format_listed(f);
      cr_assert(!format->plan || table->layout[format->layout].add, "%s cannot add to %s",
                table->name, format->name);
    }
  }
}

/* The size of every hash is known, and a block of hashes has room for it. */
Test(dispatch, every_hash_has_a_size)
{
  cr_assert(HASH_NBYTES[HASH_NONE] == 0);
  for (int hash = HASH_NONE + 1; hash < HASH_END; hash++)
    cr_assert(HASH_NBYTES[hash] > 0 && HASH_NBYTES[hash] <= MAX_HASH_NBYTES, "hash %d: %u bytes",
              hash, HASH_NBYTES[hash]);
}

Test(dispatch, the_default_is_the_best)
{
  unsetenv("LANEBLOOM_KERNEL");
  cr_assert(strcmp(lanebloom_kernel_active(), lanebloom_kernel_at(0)) == 0);
}

/* These kernels are not the default, because it is not known on which CPUs they are faster. */
Test(dispatch, what_was_never_measured_is_not_the_default)
{
  unsetenv("LANEBLOOM_KERNEL");
  const char *const unmeasured[] = {"sve2", "rvv", "vsx"};
  for (size_t i = 0; i < sizeof unmeasured / sizeof *unmeasured; i++)
    cr_assert(strcmp(lanebloom_kernel_active(), unmeasured[i]) != 0, "%s", unmeasured[i]);
}

/* The names belong to the right tables, and kernels with higher scores come first. */
Test(dispatch, better_kernels_come_first)
{
  unsigned last = UINT_MAX;
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const char *name = lanebloom_kernel_at(i);
    cr_assert(lanebloom_kernel_use(name) == LANEBLOOM_OK);
    const struct kernel_table *table = lanebloom_kernels_current();
    const unsigned score = table->score();
    cr_assert(strcmp(table->name, name) == 0, "%s", name);
    cr_assert(score > 0 && score <= last, "%s, of score %u, comes after %u", name, score, last);
    for (int time = 0; time < 100; time++)
      cr_assert(table->score() == score, "%s: %u, then %u", name, score, table->score());
    last = score;
  }
}

static bool is_listed(const char *name)
{
  for (size_t i = 0; i < lanebloom_kernel_count(); i++)
    if (strcmp(lanebloom_kernel_at(i), name) == 0)
      return true;
  return false;
}

/* Is this one of the words in a list? A space comes before each word of the list. */
static bool has_word(const char *words, const char *word)
{
  const size_t size = strlen(word);
  for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
    if (at > words && at[-1] == ' ' && strchr(" \n", at[size]))
      return true;
  return false;
}

#if defined(__aarch64__) || defined(__riscv)

/* Asks the system whether the CPU has a feature. Under qemu-user, /proc/cpuinfo describes
 * the host. */
static bool cpu_has(const char *feature)
{
#if defined(__aarch64__)
  return strcmp(feature, "sve2") == 0 && (getauxval(AT_HWCAP2) & HWCAP2_SVE2);
#else
  return strcmp(feature, "v") == 0 && (getauxval(AT_HWCAP) >> ('v' - 'a') & 1);
#endif
}

#else

static bool cpu_has(const char *feature)
{
  static char line[1 << 16];
  FILE *file = fopen("/proc/cpuinfo", "r");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file))
    found = strncmp(line, "flags", strlen("flags")) == 0 && has_word(line, feature);
  if (file)
    fclose(file);
  return found;
}

#endif

/* A kernel that cannot run here is not listed, and cannot be used. */
Test(dispatch, what_the_CPU_lacks_is_not_listed_and_refused)
{
  FILE *file = fopen(LANEBLOOM_TEST_VECTORS "/../kernels/instruction_sets.txt", "r");
  char line[256], name[32], needs[128];
  cr_assert(file);
  while (fgets(line, sizeof line, file)) {
    if (*line == '#')
      continue;
    cr_assert(sscanf(line, "%31s %127s", name, needs) == 2, "%s", line);
    bool expected = has_word(" scalar " LANEBLOOM_TEST_INSTRUCTION_SETS, name);
    for (char *rest = needs, *need = strsep(&rest, ","); need; need = strsep(&rest, ","))
      expected = expected && (strcmp(need, "-") == 0 || cpu_has(need));
    cr_assert(is_listed(name) == expected, "%s: listed %d, expected %d", name, is_listed(name),
              expected);
    cr_assert((lanebloom_kernel_use(name) == LANEBLOOM_OK) == expected, "%s", name);
  }
  fclose(file);
}

/* The active kernel is reported with a reason. */
Test(dispatch, the_choice_has_a_reason)
{
  unsetenv("LANEBLOOM_KERNEL");
  const char *best = lanebloom_kernel_reason();
  cr_assert(best && *best);
  cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(0)) == LANEBLOOM_OK);
  cr_assert(strcmp(lanebloom_kernel_reason(), best) == 0);
  if (lanebloom_kernel_count() > 1) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(1)) == LANEBLOOM_OK);
    cr_assert(strstr(lanebloom_kernel_reason(), "program"), "%s", lanebloom_kernel_reason());
  }
}

Test(dispatch, the_variable_is_a_reason)
{
  const size_t n = lanebloom_kernel_count();
  if (n == 1)
    cr_skip_test("with one kernel the variable chooses nothing");
  set(lanebloom_kernel_at(n - 1));
  cr_assert(strstr(lanebloom_kernel_reason(), "LANEBLOOM_KERNEL"), "%s", lanebloom_kernel_reason());
}

Test(dispatch, an_empty_variable_is_unset)
{
  set("");
  cr_assert(strcmp(lanebloom_kernel_active(), lanebloom_kernel_at(0)) == 0);
}

Test(dispatch, the_variable_names_the_default_and_is_read_once)
{
  set("scalar");
  cr_assert(strcmp(lanebloom_kernel_active(), "scalar") == 0);
  set("nonsense");
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
  cr_assert(strcmp(lanebloom_kernel_active(), "scalar") == 0);
}

Test(dispatch, an_unknown_name_changes_nothing)
{
  const char *before = lanebloom_kernel_active();
  cr_assert(lanebloom_kernel_use("nonsense") == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_kernel_use("") == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_kernel_use("Scalar") == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_kernel_active() == before);
  cr_assert(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  cr_assert(strcmp(lanebloom_kernel_active(), "scalar") == 0);
}

/* Calls every function that returns a status. */
static void assert_all_refuse(void)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  lanebloom_filter *filter;
  lanebloom_builder *builder;
  uint64_t number;
  unsigned nprobes;
  double value;
  char why[80];
  cr_assert(!lanebloom_kernel_active() && !lanebloom_kernel_reason());
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &keys, &number) == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_plan_size(LANEBLOOM_LEVELDB, 10, 1, &number, &nprobes) ==
            LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_plan_rate(LANEBLOOM_LEVELDB, 10, 1, &value) == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_plan_bits(LANEBLOOM_LEVELDB, 0.1, 1, &value) == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\0\0\1", 3, NULL, &filter, NULL, 0) ==
                LANEBLOOM_ERR_KERNEL &&
            !filter);
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &keys, &filter) == LANEBLOOM_ERR_KERNEL &&
            !filter);
  size_t size;
  cr_assert(lanebloom_filter_build_raw(LANEBLOOM_LEVELDB, 10, &keys, why, sizeof why, &size) ==
            LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_filter_merge(NULL, 0, &filter, NULL, NULL, 0) == LANEBLOOM_ERR_KERNEL &&
            !filter);
  cr_assert(lanebloom_filter_load("/dev/null", &filter, NULL, 0) == LANEBLOOM_ERR_KERNEL &&
            !filter);
  cr_assert(lanebloom_filter_load("/dev/null", &filter, why, sizeof why) == LANEBLOOM_ERR_KERNEL &&
            !filter && *why);
  cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "/dev/null", NULL, &filter, NULL, 0) ==
                LANEBLOOM_ERR_KERNEL &&
            !filter);
  cr_assert(lanebloom_filter_map("/dev/null", &filter, NULL, 0) == LANEBLOOM_ERR_KERNEL && !filter);
  cr_assert(lanebloom_filter_parse("", 0, &filter, NULL, 0) == LANEBLOOM_ERR_KERNEL && !filter);
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_ERR_KERNEL &&
            !builder);
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_ERR_KERNEL);
}

Test(dispatch, a_variable_that_cannot_be_obeyed_stops_everything)
{
  set("avx1024");
  cr_assert(lanebloom_kernel_count() >= 1, "what there is can still be asked for");
  assert_all_refuse();
}

/* If no kernel can be used, save() reports that before it hashes the payload, which may be large.
 * Here only the last byte of the payload can be read. */
Test(dispatch, saving_asks_for_a_kernel_first)
{
  set("avx1024");
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *bytes = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(bytes != MAP_FAILED);
  bytes[page] = 6;
  cr_assert(mprotect(bytes, page, PROT_NONE) == 0);
  lanebloom_filter *filter;
  const struct filter_facts facts = {.bits_per_key = NAN};
  cr_assert(lanebloom_filter_adopt(&lanebloom_format_leveldb, bytes, page + 1, &facts,
                                   (struct memory){.kind = MEMORY_BORROWED}, &filter,
                                   &no_problem) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_save(filter, "/dev/null") == LANEBLOOM_ERR_KERNEL);
  cr_assert(lanebloom_filter_save_raw(filter, "/dev/null") == LANEBLOOM_ERR_KERNEL);
  lanebloom_filter_free(filter);
  munmap(bytes, 2 * page);
}

Test(dispatch, use_overrides_the_variable)
{
  set("avx1024");
  cr_assert(lanebloom_kernel_use("avx1024") == LANEBLOOM_ERR_KERNEL);
  assert_all_refuse();
  cr_assert(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, "\xff\x01", 2, NULL, &filter, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_ERR_KERNEL,
            "there is no default to go back to");
  cr_assert(strcmp(lanebloom_kernel_active(), "scalar") == 0, "and so nothing has changed");
  cr_assert(lanebloom_filter_may_contain(filter, "a", 1));
  lanebloom_filter_free(filter);
}
