/* Measures the limits of the hardware, called the floor: how fast this CPU reads memory at random
 * and in sequence. The times of all other benchmarks can be stated as multiples of these limits.
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

/* Gathers cannot be written in plain C, so this file has code for x86-64. Apart from this file,
 * only the library's kernels have code for one kind of CPU. */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE_NBYTES = 64, MAX_DISTANCE = 256, MAX_STEP = 16 };

/* A way to prefetch. It says how many places ahead lines are prefetched, how many at a time (1 or
 * MAX_STEP), and whether into the first-level cache or only into the second. */
struct prefetch {
  size_t distance; /* 0 if the best way is not known yet */
  size_t step;
  bool first_level;
};

struct floor_row {
  size_t kib;
  struct prefetch best;
  _Atomic size_t next; /* the next place to read, modulo nplaces() */
};

/* ---- Memory to read, and random places in it ---- */

static struct bench_made make_memory(const struct bench_case *wanted)
{
  const struct bench_made made = bench_make_array(wanted->kib * 1024);
  memset(bench_array(&made), 1,
         wanted->kib * 1024); /* pages that were never written may all share one page of zeros */
  return made;
}

static const uint8_t *share_memory(size_t kib)
{
  return bench_share_array(make_memory, &(struct bench_case){.kib = kib});
}

/* Returns the number of random places for memory of this size. Large memory gets as many places as
 * other benchmarks have queries for a filter of this size. Small memory gets fewer places, so that
 * the list of places itself stays in a cache. */
static size_t nplaces(size_t kib)
{
  return kib < BENCH_LARGE_KIB ? 1 << 15 : 1 << 22;
}

static struct bench_made make_places(const struct bench_case *wanted)
{
  const size_t n = nplaces(wanted->kib) + MAX_DISTANCE;
  const struct bench_made made = bench_make_array(n * sizeof(uint32_t));
  uint32_t *places = (uint32_t *)bench_array(&made);
  for (size_t i = 0; i < n; i++)
    places[i] = (uint32_t)((bench_key(i) >> 32) * (wanted->kib * 1024 / sizeof(uint32_t)) >> 32);
  return made;
}

/* Returns random places in memory, as indices of 4-byte elements. The list has MAX_DISTANCE more
 * places than are read, because a prefetch looks ahead. */
static const uint32_t *share_places(size_t kib)
{
  return (const uint32_t *)bench_share_array(make_places, &(struct bench_case){.kib = kib});
}

static size_t next_places(struct floor_row *row)
{
  return atomic_fetch_add(&row->next, BENCH_CALL_NKEYS) % nplaces(row->kib);
}

/* ---- Random lines, prefetched ---- */

static inline __attribute__((always_inline)) uint32_t
read_lines_as(const uint32_t *elements, const uint32_t *places, struct prefetch prefetch)
{
  uint32_t sum = 0;
  for (size_t i = 0; i < BENCH_CALL_NKEYS; i += prefetch.step) {
    for (size_t j = i; j < i + prefetch.step; j++)
      if (prefetch.first_level)
        __builtin_prefetch(elements + places[j + prefetch.distance], 0, 3);
      else
        __builtin_prefetch(elements + places[j + prefetch.distance], 0, 2);
    for (size_t j = i; j < i + prefetch.step; j++)
      sum += elements[places[j]];
  }
  return sum;
}

/* Reads the elements at BENCH_CALL_NKEYS places, and returns their sum. The ways to prefetch are
 * constants here, so that the compiler makes a loop without branches for each of them. */
static uint32_t read_lines(const uint32_t *elements, const uint32_t *places,
                           struct prefetch prefetch)
{
  const size_t distance = prefetch.distance;
  if (prefetch.step == 1)
    return prefetch.first_level
               ? read_lines_as(elements, places, (struct prefetch){distance, 1, true})
               : read_lines_as(elements, places, (struct prefetch){distance, 1, false});
  return prefetch.first_level
             ? read_lines_as(elements, places, (struct prefetch){distance, MAX_STEP, true})
             : read_lines_as(elements, places, (struct prefetch){distance, MAX_STEP, false});
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct prefetch best_prefetch(struct floor_row *row, const uint32_t *elements,
                                     const uint32_t *places)
{
  struct prefetch best = {0};
  double best_seconds = 1e9;
  for (unsigned round = 0; round < 12; round++)
    for (size_t distance = 4; distance <= MAX_DISTANCE; distance *= 2) {
      const struct prefetch prefetch = {distance, round / 2 % 2 ? MAX_STEP : 1, round % 2};
      const double begin = seconds();
      for (int call = 0; call < 8; call++) {
        const uint32_t sum = read_lines(elements, places + next_places(row), prefetch);
        bench_keep(&sum);
      }
      const double took = seconds() - begin;
      if (took < best_seconds) {
        best_seconds = took;
        best = prefetch;
      }
    }
  return best;
}

static void line_row(struct bench *bench, void *argument)
{
  struct floor_row *row = argument;
  const uint32_t *elements = (const uint32_t *)share_memory(row->kib),
                 *places = share_places(row->kib);
  if (row->best.distance == 0)
    row->best = best_prefetch(row, elements, places);
  while (bench_next(bench, BENCH_CALL_NKEYS)) {
    const uint32_t sum = read_lines(elements, places + next_places(row), row->best);
    bench_keep(&sum);
  }
  bench_bytes(bench, LINE_NBYTES);
  char note[80];
  snprintf(note, sizeof note, "per line, prefetched %zu ahead into L%d, %zu in a row",
           row->best.distance, row->best.first_level ? 1 : 2, row->best.step);
  bench_note(bench, note);
}

/* ---- Gathered elements ---- */

typedef uint32_t gather_function(const uint32_t *elements, const uint32_t *places);

static uint32_t gather_scalar(const uint32_t *elements, const uint32_t *places)
{
  uint32_t sum = 0;
  for (size_t i = 0; i < BENCH_CALL_NKEYS; i++)
    sum += elements[places[i]];
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint32_t gather_avx2(const uint32_t *elements,
                                                            const uint32_t *places)
{
  __m256i sum = _mm256_setzero_si256(), all = _mm256_set1_epi32(-1);
  for (size_t i = 0; i < BENCH_CALL_NKEYS; i += 8) {
    const __m256i at = _mm256_loadu_si256((const __m256i *)(places + i));
    /* The gather has a mask and a destination of zeros. Without these, gcc 12 makes each gather
     * wait for the previous one. */
    __asm__("" : "+x"(all));
    const __m256i got =
        _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)elements, at, all, 4);
    sum = _mm256_add_epi32(sum, got);
  }
  uint32_t sums[8];
  memcpy(sums, &sum, sizeof sums);
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

static gather_function *gather(const char **how)
{
  const bool avx2 = __builtin_cpu_supports("avx2");
  *how = avx2 ? "per element, by AVX2 gathers" : "per element, by scalar loads";
  return avx2 ? gather_avx2 : gather_scalar;
}
#else
static gather_function *gather(const char **how)
{
  *how = "per element, by scalar loads";
  return gather_scalar;
}
#endif

static void gather_row(struct bench *bench, void *argument)
{
  struct floor_row *row = argument;
  const uint32_t *elements = (const uint32_t *)share_memory(row->kib),
                 *places = share_places(row->kib);
  const char *how;
  gather_function *function = gather(&how);
  while (bench_next(bench, BENCH_CALL_NKEYS)) {
    const uint32_t sum = function(elements, places + next_places(row));
    bench_keep(&sum);
  }
  bench_note(bench, how);
}

/* ---- Reading sequentially ---- */

/* Reads memory in sequence, by searching it for a byte that does not occur in it. The C library's
 * search uses the CPU's widest loads, so it reads as fast as this CPU can. */
static void read_row(struct bench *bench, void *argument)
{
  const struct floor_row *row = argument;
  const uint8_t *bytes = share_memory(row->kib);
  const size_t nbytes = row->kib * 1024;
  while (bench_next(bench, nbytes / LINE_NBYTES)) {
    const void *found = memchr(bytes, 0, nbytes);
    bench_keep(found);
  }
  bench_bytes(bench, LINE_NBYTES);
  bench_note(bench, "per line");
}

void bench_register_floor(void)
{
  static const struct {
    const char *name;
    bench_function *function;
  } floors[] = {{"line", line_row}, {"gather", gather_row}, {"read", read_row}};
  for (size_t f = 0; f < sizeof floors / sizeof *floors; f++)
    for (size_t size = 0; size < BENCH_NSIZES; size++) {
      const struct floor_row row = {.kib = bench_sizes[size]};
      bench_register(floors[f].function, &row, sizeof row, "floor/%s/KiB:%zu", floors[f].name,
                     row.kib);
    }
  for (size_t size = 0; size < BENCH_NSIZES; size++) {
    const struct floor_row row = {.kib = bench_sizes[size]};
    if (row.kib >= BENCH_THREADS_KIB)
      bench_register_threads(line_row, &row, sizeof row, "threads/floor/line/KiB:%zu", row.kib);
  }
}
