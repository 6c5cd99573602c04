/* The data of the scenarios: keys, filters of these keys, and files in a folder.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

struct guarded key_bytes;
lanebloom_format format;
lanebloom_filter *expected, *halves[2];
struct guarded engine_bytes;

lanebloom_keys keys_from(size_t first, size_t n)
{
  return lanebloom_keys_fixed(key_bytes.bytes + first * WIDTH, WIDTH, n);
}

void must(lanebloom_status status)
{
  cr_assert(status == LANEBLOOM_OK, "%s", lanebloom_status_text(status));
}

lanebloom_filter *build_sized(size_t first, size_t n, uint64_t expected_keys)
{
  const lanebloom_keys keys = keys_from(first, n);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  must(lanebloom_builder_create(format, 10, expected_keys, &builder));
  must(lanebloom_builder_add(builder, &keys));
  must(lanebloom_builder_finish(builder, &filter));
  lanebloom_builder_free(builder);
  return filter;
}

void make_filters(lanebloom_format of, size_t n, uint64_t expected_keys)
{
  struct rng rng = rng_start(1);
  format = of;
  key_bytes = guarded_make((size_t)NKEYS * WIDTH, AT_END);
  rng_fill(&rng, key_bytes.bytes, (size_t)NKEYS * WIDTH);
  guarded_freeze(&key_bytes);
  expected = build_sized(0, n, expected_keys);
  halves[0] = build_sized(0, n / 2, expected_keys);
  halves[1] = build_sized(n / 2, n - n / 2, expected_keys);
  size_t nbytes;
  const void *bytes = lanebloom_filter_bytes(expected, &nbytes);
  engine_bytes = guarded_copy(bytes, nbytes, AT_END);
  guarded_freeze(&engine_bytes);
}

void free_filters(void)
{
  lanebloom_filter_free(expected);
  lanebloom_filter_free(halves[0]);
  lanebloom_filter_free(halves[1]);
  guarded_free(&engine_bytes);
  guarded_free(&key_bytes);
}

void is_expected(const lanebloom_filter *filter)
{
  size_t nbytes;
  const void *bytes = lanebloom_filter_bytes(filter, &nbytes);
  if (nbytes != engine_bytes.nbytes)
    test_fatal("a filter of %zu bytes, expected %zu", nbytes, engine_bytes.nbytes);
  if (!test_is_filter(filter, engine_bytes.bytes, nbytes))
    test_same_bytes("filter", bytes, engine_bytes.bytes, nbytes);
}

lanebloom_status finish_expected(lanebloom_builder *builder, size_t nkeys)
{
  lanebloom_filter *filter;
  lanebloom_filter_info info;
  lanebloom_status status;
  INSIST_ON(filter, status, lanebloom_builder_finish(builder, &filter));
  if (!status) {
    is_expected(filter);
    lanebloom_filter_describe(filter, &info, sizeof info);
    if (info.nkeys != nkeys)
      test_fatal("%llu keys, expected %zu", (unsigned long long)info.nkeys, nkeys);
  }
  lanebloom_filter_free(filter);
  return status;
}

static char folder[] = "/tmp/lanebloom-faults-XXXXXX";

void enter_folder(void)
{
  cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

size_t empty_folder(void)
{
  size_t n = 0;
  DIR *here = opendir(".");
  cr_assert(here);
  for (struct dirent *entry; (entry = readdir(here));)
    n += entry->d_type == DT_REG && remove(entry->d_name) == 0;
  closedir(here);
  return n;
}

void leave_folder(void)
{
  empty_folder();
  cr_assert(chdir("/") == 0 && rmdir(folder) == 0);
}
