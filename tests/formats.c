/* The list of formats: what it says of each is what the other calls do.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <math.h>
#include <string.h>

static lanebloom_format_info describe(lanebloom_format format)
{
  lanebloom_format_info info;
  cr_assert(lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK, "format %d",
            (int)format);
  return info;
}

Test(formats, each_is_listed_once_and_found_by_name)
{
  const size_t n = lanebloom_format_count();
  cr_assert(n >= 5);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    const lanebloom_format_info info = describe(format);
    cr_assert(strcmp(info.name, lanebloom_format_name(format)) == 0 && info.text[0] != '\0');
    cr_assert(lanebloom_format_by_name(info.name) == format, "%s", info.name);
    cr_assert(info.hash_size == lanebloom_format_hash_size(format));
    for (size_t j = 0; j < i; j++)
      cr_assert(lanebloom_format_at(j) != format &&
                    strcmp(describe(lanebloom_format_at(j)).name, info.name) != 0,
                "%s is listed twice", info.name);
  }
}

/* All values of the enum: a new one has a line here. */
Test(formats, every_format_of_the_header_is_listed)
{
  size_t nlisted = 0;
  for (int number = 0; number < 100; number++)
    nlisted += strcmp(lanebloom_format_name((lanebloom_format)number), "unknown") != 0;
  cr_assert(nlisted == lanebloom_format_count());
  cr_assert(describe(LANEBLOOM_LEVELDB).builds && describe(LANEBLOOM_LEVELDB_SIGNED).builds);
  cr_assert(describe(LANEBLOOM_ROCKSDB_LEGACY).builds && describe(LANEBLOOM_ROCKSDB_LOCAL).builds);
  cr_assert(!describe(LANEBLOOM_ROCKSDB).builds);
}

Test(formats, what_is_not_there)
{
  lanebloom_format_info info = {.name = "as it was"};
  cr_assert(lanebloom_format_at(lanebloom_format_count()) == 0 &&
            lanebloom_format_at(SIZE_MAX) == 0);
  cr_assert(lanebloom_format_by_name("") == 0 && lanebloom_format_by_name("unknown") == 0 &&
            lanebloom_format_by_name("level") == 0 && lanebloom_format_by_name("leveldb ") == 0);
  cr_assert(lanebloom_format_describe((lanebloom_format)0, &info, sizeof info) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(info.name, "as it was") == 0);
}

Test(formats, a_struct_of_another_size)
{
  struct {
    lanebloom_format_info info;
    char later[32];
  } larger;
  static const char zeros[sizeof larger.later];
  memset(&larger, 0x55, sizeof larger);
  cr_assert(lanebloom_format_describe(LANEBLOOM_LEVELDB, &larger.info, sizeof larger) ==
            LANEBLOOM_OK);
  cr_assert(memcmp(larger.later, zeros, sizeof zeros) == 0 && larger.info.max_nprobes == 30);

  const char *names[2] = {NULL, "as it was"};
  cr_assert(lanebloom_format_describe(LANEBLOOM_LEVELDB, (lanebloom_format_info *)(void *)names,
                                      sizeof *names) == LANEBLOOM_OK);
  cr_assert(strcmp(names[0], "leveldb") == 0 && strcmp(names[1], "as it was") == 0);
}

static lanebloom_status build_at(lanebloom_format format, double bits_per_key, double *in_effect)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  lanebloom_filter *filter;
  lanebloom_filter_info info;
  lanebloom_status status = lanebloom_filter_build(format, bits_per_key, &keys, &filter);
  if (status)
    return status;
  lanebloom_filter_describe(filter, &info, sizeof info);
  *in_effect = info.bits_per_key;
  lanebloom_filter_close(filter);
  return LANEBLOOM_OK;
}

/* At most so far from what was asked for, and from a whole number of steps. */
static const double EPSILON = 1e-9;

Test(formats, bits_per_key_are_as_described)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    const lanebloom_format_info info = describe(format);
    double bits = NAN;
    if (!info.builds) {
      cr_assert(info.max_bits_per_key == 0 && info.bits_per_key_step == 0);
      cr_assert(build_at(format, 10, &bits) == LANEBLOOM_ERR_FORMAT);
      continue;
    }
    const double min = info.min_bits_per_key, max = info.max_bits_per_key,
                 step = info.bits_per_key_step;
    cr_assert(min < max && step > 0, "%s", info.name);
    cr_assert(build_at(format, min, &bits) == LANEBLOOM_OK && bits >= min);
    cr_assert(build_at(format, nextafter(min, -1), &bits) == LANEBLOOM_ERR_ARGUMENT, "%s",
              info.name);
    cr_assert(build_at(format, max, &bits) == LANEBLOOM_OK && bits == max);
    for (double asked = 10; asked < 12; asked += step)
      cr_assert(build_at(format, asked, &bits) == LANEBLOOM_OK && fabs(bits - asked) < EPSILON,
                "%s: %.17g bits in effect, not %.17g", info.name, bits, asked);
    if (info.rounds_bits) {
      cr_assert(build_at(format, max + step, &bits) == LANEBLOOM_OK && bits == max);
      cr_assert(build_at(format, 10 + step / 4, &bits) == LANEBLOOM_OK && bits == 10);
    } else {
      cr_assert(build_at(format, max + step, &bits) == LANEBLOOM_ERR_ARGUMENT);
      cr_assert(build_at(format, 10 + step / 4, &bits) == LANEBLOOM_ERR_ARGUMENT);
    }
  }
}

Test(formats, probes_are_as_described)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format_info info = describe(lanebloom_format_at(i));
    for (double bits = 1; info.builds && bits <= 100; bits++) {
      uint64_t nbytes;
      unsigned nprobes;
      cr_assert(lanebloom_plan_size(lanebloom_format_at(i), bits, 1000, &nbytes, &nprobes) ==
                LANEBLOOM_OK);
      cr_assert(nprobes >= info.min_nprobes && nprobes <= info.max_nprobes &&
                    nbytes <= info.max_size,
                "%s at %g bits per key: %u probes", info.name, bits, nprobes);
    }
  }
}
