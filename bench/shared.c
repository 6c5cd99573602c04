/* Makes the data that several rows share, and stores them in a cache of limited size (see
 * shared.h).
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"
#include "shim.h"

const size_t bench_sizes[BENCH_NSIZES] = {16, 256, 1024, BENCH_LARGE_KIB, 262144};

void bench_check(lanebloom_status status)
{
  if (!status)
    return;
  fprintf(stderr, "lanebloom-bench: %s\n", lanebloom_status_text(status));
  exit(1);
}

void bench_use(const char *kernel)
{
  bench_check(lanebloom_kernel_use(kernel));
}

/* ---- The cache ---- */

enum { MAX_NSHARED = 512, NALWAYS_KEPT = 4 };
static const size_t MAX_SHARED_NBYTES = (size_t)2 << 30;

struct shared {
  bench_maker *maker;
  struct bench_case wanted;
  struct bench_made made;
};
static struct shared shared[MAX_NSHARED]; /* ordered by use: the most recently used data are last */
static size_t nshared;

static void move_to_end(size_t i)
{
  struct shared used = shared[i];
  for (; i + 1 < nshared; i++)
    shared[i] = shared[i + 1];
  shared[nshared - 1] = used;
}

static void release(size_t i)
{
  move_to_end(i);
  nshared--;
  shared[nshared].made.release(shared[nshared].made.value);
}

static size_t shared_nbytes(void)
{
  size_t nbytes = 0;
  for (size_t i = 0; i < nshared; i++)
    nbytes += shared[i].made.nbytes;
  return nbytes;
}

static bool same_case(const struct bench_case *a, const struct bench_case *b)
{
  return a->format == b->format && a->kib == b->kib && a->nprobes == b->nprobes &&
         a->hits == b->hits && a->width == b->width;
}

void *bench_share(bench_maker *maker, const struct bench_case *wanted)
{
  for (size_t i = 0; i < nshared; i++)
    if (shared[i].maker == maker && same_case(&shared[i].wanted, wanted)) {
      move_to_end(i);
      return shared[nshared - 1].made.value;
    }
  const struct bench_made made = maker(wanted); /* the maker may call bench_share() itself */
  while (nshared >= NALWAYS_KEPT &&
         (nshared == MAX_NSHARED || shared_nbytes() + made.nbytes > MAX_SHARED_NBYTES))
    release(0);
  shared[nshared++] = (struct shared){maker, *wanted, made};
  return made.value;
}

void bench_share_nothing(void)
{
  while (nshared > 0)
    release(0);
}

/* ---- Arrays ---- */

static void release_array(void *value)
{
  struct memory *memory = value;
  lanebloom_memory_free(memory);
  free(memory);
}

/* Returns the time that a number of random loads takes, in seconds. */
static double load_seconds(const uint8_t *bytes, size_t nbytes)
{
  enum { NLOADS = 1 << 14 };
  struct timespec begin, end;
  uint32_t sum = 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (uint32_t i = 0; i < NLOADS; i++)
    sum += bytes[(uint64_t)(i * UINT32_C(2654435769)) * nbytes >> 32];
  bench_keep(&sum);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* Allocates a huge page for a small array, too. Allocates several pages and chooses the one with
 * the fastest loads, because the host of a virtual machine may back a huge page with small ones.
 * With the filter in such a page, whole runs were 12 % slower. */
static struct memory create_small(size_t nbytes)
{
  enum { NPAGES = 16, NROUNDS = 8 };
  const size_t huge_page_nbytes = (size_t)2 << 20;
  struct memory pages[NPAGES];
  double seconds[NPAGES];
  for (size_t i = 0; i < NPAGES; i++) {
    pages[i] = lanebloom_memory_create(huge_page_nbytes);
    if (!pages[i].bytes)
      bench_check(LANEBLOOM_ERR_MEMORY);
    memset(pages[i].bytes, 0, nbytes); /* pages that were never written may all share one page */
    seconds[i] = load_seconds(pages[i].bytes, nbytes);
  }
  size_t best = 0;
  for (size_t round = 0; round < NROUNDS; round++)
    for (size_t i = 0; i < NPAGES; i++) {
      load_seconds(pages[i].bytes, nbytes); /* loads the bytes into the caches */
      const double now = load_seconds(pages[i].bytes, nbytes);
      seconds[i] = now < seconds[i] ? now : seconds[i];
      best = seconds[i] < seconds[best] ? i : best;
    }
  for (size_t i = 0; i < NPAGES; i++)
    if (i != best)
      lanebloom_memory_free(&pages[i]);
  return pages[best];
}

struct bench_made bench_make_array(size_t nbytes)
{
  const size_t small_nbytes = (size_t)2 << 20;
  struct memory *memory = malloc(sizeof *memory);
  if (!memory)
    bench_check(LANEBLOOM_ERR_MEMORY);
  *memory = nbytes < small_nbytes ? create_small(nbytes) : lanebloom_memory_create(nbytes);
  if (!memory->bytes)
    bench_check(LANEBLOOM_ERR_MEMORY);
  return (struct bench_made){memory, nbytes, release_array};
}

uint8_t *bench_array(const struct bench_made *made)
{
  return ((const struct memory *)made->value)->bytes;
}

uint8_t *bench_share_array(bench_maker *maker, const struct bench_case *wanted)
{
  return ((const struct memory *)bench_share(maker, wanted))->bytes;
}

/* ---- Keys ---- */

/* This is the output function of SplitMix64. It is a bijection, so different i give different keys
 * (G. L. Steele, D. Lea and C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA
 * 2014). */
uint64_t bench_key(uint64_t i)
{
  uint64_t key = (i + 1) * 0x9e3779b97f4a7c15;
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
  key = (key ^ key >> 27) * 0x94d049bb133111eb;
  return key ^ key >> 31;
}

static size_t width_of(const struct bench_case *wanted)
{
  return wanted->width > 0 ? wanted->width : sizeof(uint64_t);
}

/* Writes key i to element `at` of an array of keys. A key of 16 bytes is a key of 8 bytes followed
 * by its complement. */
static void put_key(uint64_t *keys, size_t width, size_t at, uint64_t i)
{
  keys += at * width / sizeof *keys;
  keys[0] = bench_key(i);
  if (width > sizeof *keys)
    keys[1] = ~keys[0];
}

lanebloom_keys bench_keys(const uint64_t *keys, size_t n)
{
  return lanebloom_keys_fixed(keys, sizeof *keys, n);
}

static struct bench_made make_members(const struct bench_case *wanted)
{
  const size_t n = wanted->kib * 1024; /* as many keys as a filter of this size holds at 8 bits per
                                        * key */
  const struct bench_made made = bench_make_array(n * sizeof(uint64_t));
  uint64_t *keys = (uint64_t *)bench_array(&made);
  for (size_t i = 0; i < n; i++)
    keys[i] = bench_key(i);
  return made;
}

const uint64_t *bench_members(size_t kib)
{
  return (const uint64_t *)bench_share_array(make_members, &(struct bench_case){.kib = kib});
}

/* ---- Filters ---- */

/* Plans a filter. bits_per_key becomes the largest whole number for which the format uses the
 * wanted number of probes. If the format has only one number of probes, bits_per_key becomes 10.
 * nkeys becomes the largest number of keys whose filter is then not larger than wanted. */
static struct bench_filter plan(const struct bench_case *wanted)
{
  const struct format_table *format = lanebloom_format_table(wanted->format);
  struct filter_shape shape;
  uint64_t bits = format->min_nprobes == format->max_nprobes ? 11 : 100;
  do
    bench_check(format->plan(format, 1000 * --bits, 1, &shape));
  while (shape.nprobes != bench_nprobes(wanted->format, wanted->nprobes));

  uint64_t nkeys = wanted->kib * 1024 * 8 / bits;
  while (format->plan(format, 1000 * bits, nkeys, &shape) == LANEBLOOM_OK &&
         shape.nbytes > wanted->kib * 1024)
    nkeys--; /* the format may round sizes up, for example to an odd number of lines */
  return (struct bench_filter){.bits_per_key = (double)bits, .nkeys = nkeys};
}

static void release_filter(void *value)
{
  struct bench_filter *filter = value;
  lanebloom_filter_free(filter->filter);
  filter->array.release(filter->array.value);
  free(filter);
}

/* The part of a filter that one thread builds, from keys first .. end - 1. */
struct part {
  lanebloom_builder *builder;
  uint64_t first, end;
  size_t width;
};

static int add_part(void *argument)
{
  const struct part *part = argument;
  for (uint64_t first = part->first; first < part->end; first += BENCH_CALL_NKEYS) {
    uint64_t keys[BENCH_MAX_KEY_NWORDS * BENCH_CALL_NKEYS];
    const uint64_t left = part->end - first;
    const size_t n = left < BENCH_CALL_NKEYS ? (size_t)left : BENCH_CALL_NKEYS;
    for (size_t i = 0; i < n; i++)
      put_key(keys, part->width, i, first + i);
    const lanebloom_keys batch = lanebloom_keys_fixed(keys, part->width, n);
    bench_check(lanebloom_builder_add(part->builder, &batch));
  }
  return 0;
}

/* Builds a filter. Several threads build a large filter, because one thread would need a third of
 * the time of a quick run. */
static struct bench_made make_filter(const struct bench_case *wanted)
{
  enum { MAX_NPARTS = 4 };
  struct part parts[MAX_NPARTS];
  thrd_t threads[MAX_NPARTS];
  const long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
  const uint64_t nparts = wanted->kib < BENCH_LARGE_KIB ? 1
                          : ncpus < MAX_NPARTS          ? (uint64_t)ncpus
                                                        : MAX_NPARTS;
  struct bench_filter *made = malloc(sizeof *made);
  if (!made)
    bench_check(LANEBLOOM_ERR_MEMORY);
  *made = plan(wanted);

  bench_use(NULL);
  for (uint64_t i = 0; i < nparts; i++) {
    parts[i] = (struct part){NULL, made->nkeys * i / nparts, made->nkeys * (i + 1) / nparts,
                             width_of(wanted)};
    bench_check(lanebloom_builder_create(wanted->format, made->bits_per_key, made->nkeys,
                                         &parts[i].builder));
    if (thrd_create(&threads[i], add_part, &parts[i]) != thrd_success)
      bench_check(LANEBLOOM_ERR_MEMORY);
  }
  for (uint64_t i = 0; i < nparts; i++) {
    thrd_join(threads[i], NULL);
    if (i > 0) {
      bench_check(lanebloom_builder_merge(parts[0].builder, parts[i].builder, NULL, 0));
      lanebloom_builder_free(parts[i].builder);
    }
  }
  lanebloom_filter *built;
  bench_check(lanebloom_builder_finish(parts[0].builder, &built));
  lanebloom_builder_free(parts[0].builder);
  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(built, &size);
  made->array = bench_make_array(size);
  memcpy(bench_array(&made->array), bytes, size);
  bench_check(lanebloom_filter_parse_raw(wanted->format, bench_array(&made->array), size, NULL,
                                         &made->filter, NULL, 0));
  lanebloom_filter_free(built);
  return (struct bench_made){made, wanted->kib * 1024, release_filter};
}

const struct bench_filter *bench_filter(const struct bench_case *wanted)
{
  return bench_share(make_filter, &(struct bench_case){wanted->format, wanted->kib, wanted->nprobes,
                                                       0, wanted->width});
}

void bench_warm(const lanebloom_filter *filter)
{
  const size_t largest_cache_nbytes = (size_t)128 << 20;
  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  uint64_t sum = 0;
  if (size > largest_cache_nbytes)
    return; /* no cache could hold it */
  for (size_t i = 0; i < size; i += 64)
    sum += bytes[i];
  bench_keep(&sum);
}

/* ---- Queries ---- */

/* Returns the number of queries for filters of this size. It is a power of two and a multiple of
 * the keys of a call. Filters from 16 MiB on get 2^22 queries, and smaller ones 2^20. If only 2^20
 * queries of a large filter were repeated, they would find their cache lines in a cache again, and
 * the times would be too short by a fifth. */
static size_t nqueries(size_t kib)
{
  return kib < BENCH_LARGE_KIB ? (size_t)1 << 20 : (size_t)1 << 22;
}

static void release_queries(void *value)
{
  struct bench_queries *queries = value;
  release_array(queries->array);
  free(queries);
}

static struct bench_made make_queries(const struct bench_case *wanted)
{
  struct bench_queries *made = malloc(sizeof *made);
  if (!made)
    bench_check(LANEBLOOM_ERR_MEMORY);
  const size_t n = nqueries(wanted->kib), width = width_of(wanted);
  const struct bench_made array = bench_make_array(n * width);
  *made = (struct bench_queries){(uint64_t *)bench_array(&array), n, width, 0, array.value};

  /* A filter with k <= 10 has at most 18 bits per key, so the first nmembers keys are in every
   * filter of this size. Whether a query is present, and which key it is, is chosen at random. */
  const uint64_t nmembers = wanted->kib * 1024 * 8 / 20;
  const uint64_t absent = (uint64_t)1 << 40, choices = (uint64_t)1 << 41;
  for (size_t i = 0; i < n; i++) {
    const uint64_t choice = bench_key(choices + i);
    const bool hit = (choice >> 32) * 100 >> 32 < wanted->hits;
    put_key(made->keys, width, i, hit ? (choice & 0xffffffff) * nmembers >> 32 : absent + i);
  }
  return (struct bench_made){made, array.nbytes, release_queries};
}

struct bench_queries *bench_queries(size_t kib, unsigned hits)
{
  return bench_share(make_queries, &(struct bench_case){.kib = kib, .hits = hits});
}

struct bench_queries *bench_queries_for(const struct bench_case *wanted)
{
  return bench_share(
      make_queries,
      &(struct bench_case){.kib = wanted->kib, .hits = wanted->hits, .width = wanted->width});
}

lanebloom_keys bench_queries_part(const struct bench_queries *queries, size_t first, size_t n)
{
  return lanebloom_keys_fixed((const uint8_t *)queries->keys + first * queries->width,
                              queries->width, n);
}

size_t bench_queries_next(struct bench_queries *queries)
{
  return atomic_fetch_add(&queries->next, BENCH_CALL_NKEYS) % queries->n;
}

static struct bench_made make_hashes(const struct bench_case *wanted)
{
  const struct bench_queries *queries = bench_queries(wanted->kib, wanted->hits);
  const struct bench_made made =
      bench_make_array(queries->n * lanebloom_format_hash_size(wanted->format));
  const lanebloom_keys keys = bench_keys(queries->keys, queries->n);
  bench_use("scalar");
  bench_check(lanebloom_hash(wanted->format, &keys, bench_array(&made)));
  return made;
}

const uint8_t *bench_hashes(lanebloom_format format, size_t kib, unsigned hits)
{
  return bench_share_array(make_hashes,
                           &(struct bench_case){.format = format, .kib = kib, .hits = hits});
}

size_t bench_expected(const lanebloom_filter *filter, const struct bench_queries *queries,
                      unsigned hits, uint8_t bitmap[BENCH_CHECK_NKEYS / 8])
{
  const lanebloom_keys keys = bench_queries_part(queries, 0, BENCH_CHECK_NKEYS);
  bench_use("scalar");
  const size_t expected = lanebloom_filter_screen(filter, &keys, bitmap);
  return hits == 100 && expected != keys.n ? SIZE_MAX : expected;
}
