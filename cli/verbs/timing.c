/* Times the kernels. They take turns, so that other load on the machine slows all of them equally.
 * Only the fastest call of each kernel counts.
 * SPDX-License-Identifier: MIT */
#include "timing.h"

#include <math.h>
#include <stdlib.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/filters.h"

/* The number of queries in one call. If there were few queries, the branch predictor would learn
 * their results: the scalar kernel took 11.5 ns per absent key with 8192 queries, 17.3 ns with
 * 32768, and 18.5 ns with 131072 (LevelDB, Intel Xeon). */
enum { NQUERIES = 65536 };

/* The length of a turn, in which one kernel runs. Some CPUs lower their clock for wide vectors, and
 * then need a part of the next turn to raise the clock again. */
static const double TURN_SECONDS = 0.002;
static const double ALL_SECONDS = 1;

/* If two times differ by less than this factor, their order may be different in the next run. */
static const double TIE = 1.03;

static void use_kernel(const char *name)
{
  if (lanebloom_kernel_use(name) != LANEBLOOM_OK)
    die(NULL, "%s", lanebloom_status_text(LANEBLOOM_ERR_KERNEL));
}

/* Returns the seconds of the fastest call in one turn. The address of the stack is random, and a
 * bad address costs up to 35 % (avx2, LevelDB, absent keys, Intel Xeon). So each round moves the
 * stack by another distance. */
static double take_turn(const lanebloom_filter *filter, const lanebloom_keys *queries,
                        unsigned round)
{
  enum { STEP_NBYTES = 29 * 16, PAGE_NBYTES = 4096 };
  volatile char shift[1 + round * STEP_NBYTES % PAGE_NBYTES];
  shift[0] = 0;
  (void)shift;
  static uint8_t bitmap[NQUERIES / 8];
  const double first = lanebloom_system_seconds();
  double least = INFINITY, before = first;
  while (before - first < TURN_SECONDS) {
    lanebloom_filter_screen(filter, queries, bitmap);
    const double now = lanebloom_system_seconds();
    least = fmin(least, now - before);
    before = now;
  }
  return least;
}

static void update(struct timing *timing, size_t kernel, double call_seconds)
{
  const double ns = call_seconds * 1e9 / NQUERIES;
  timing->ns[kernel] = fmin(timing->ns[kernel], ns);
  timing->least_ns = fmin(timing->least_ns, ns);
}

/* Times all kernels, round after round, until the deadline. There is at least one round. */
static void time_filter(const lanebloom_filter *filter, const lanebloom_keys queries[2],
                        struct timing timings[2], double deadline)
{
  for (unsigned round = 0; round == 0 || lanebloom_system_seconds() < deadline; round++)
    for (size_t kernel = 0; kernel < lanebloom_kernel_count(); kernel++) {
      use_kernel(lanebloom_kernel_at(kernel));
      for (size_t i = 0; i < 2; i++)
        update(&timings[i], kernel, take_turn(filter, &queries[i], round));
    }
}

static struct timing create_timing(lanebloom_format format, bool present)
{
  const size_t nkernels = lanebloom_kernel_count();
  struct timing timing = {.format = format,
                          .present = present,
                          .ns = resize(NULL, nkernels * sizeof *timing.ns),
                          .least_ns = INFINITY};
  for (size_t i = 0; i < nkernels; i++)
    timing.ns[i] = INFINITY;
  return timing;
}

static lanebloom_filter *build_filter(lanebloom_format format, const lanebloom_keys *keys)
{
  lanebloom_filter *filter;
  const lanebloom_status status =
      lanebloom_filter_build(format, TIMING_BITS_PER_KEY, keys, &filter);
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
  return filter;
}

size_t time_kernels(struct timing **timings)
{
  enum { NKEYS = TIMING_NKEYS + NQUERIES };
  uint64_t *numbers = resize(NULL, NKEYS * sizeof *numbers);
  for (uint64_t i = 0; i < NKEYS; i++)
    numbers[i] = i * 0x9e3779b97f4a7c15; /* since the factor is odd, all numbers are different */
  const lanebloom_keys all = lanebloom_keys_fixed(numbers, sizeof *numbers, NKEYS);
  const lanebloom_keys keys = lanebloom_keys_part(&all, 0, TIMING_NKEYS);
  const lanebloom_keys queries[2] = {lanebloom_keys_part(&all, TIMING_NKEYS, NQUERIES),
                                     lanebloom_keys_part(&all, 0, NQUERIES)};

  const char *active = lanebloom_kernel_active();
  const size_t nformats = lanebloom_format_count();
  const double first = lanebloom_system_seconds();
  size_t n = 0;
  *timings = resize(NULL, 2 * nformats * sizeof **timings);
  for (size_t i = 0; i < nformats; i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    lanebloom_format_info info;
    if (lanebloom_format_describe(format, &info, sizeof info) != LANEBLOOM_OK || !info.builds)
      continue;
    (*timings)[n] = create_timing(format, false);
    (*timings)[n + 1] = create_timing(format, true);
    lanebloom_filter *filter = build_filter(format, &keys);
    time_filter(filter, queries, *timings + n,
                first + ALL_SECONDS * (double)(i + 1) / (double)nformats);
    lanebloom_filter_free(filter);
    n += 2;
  }
  use_kernel(active);
  free(numbers);
  return n;
}

void timings_destroy(struct timing *timings, size_t n)
{
  for (size_t i = 0; i < n; i++)
    free(timings[i].ns);
  free(timings);
}

bool is_fastest(const struct timing *timing, size_t kernel)
{
  return timing->ns[kernel] <= TIE * timing->least_ns;
}
