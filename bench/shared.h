/* Data that several rows (measured cases) use: keys, filters and queries. Data are made when a row
 * first needs them, outside the time that is measured, and are then stored in a cache.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_SHARED_H
#define LANEBLOOM_BENCH_SHARED_H

#include <filter.h>

#include "formats.h"

/* The case that a row measures, and for which makers (below) make data. Members that a maker does
 * not use are set to 0, so that rows that differ only in these members share the data. */
struct bench_case {
  lanebloom_format format;
  size_t kib;       /* the size of the filter */
  unsigned nprobes; /* probes per key, k */
  unsigned hits;    /* the percentage of queries whose key is in the filter */
  size_t width;     /* bytes per key: 16, or 0 for 8 */
};

enum {
  BENCH_CALL_NKEYS = 16384, /* default number of keys per call */
  BENCH_NPROBES = 6,        /* default number of probes; it takes 10 bits per key */
};

/* The sizes of filters, in KiB. The first fits into the first-level cache, the second into the
 * second-level cache, the fourth into the third-level cache, and the last only into memory. The
 * third is about as large as the second-level cache. Filters from BENCH_LARGE_KIB on do not fit
 * into the caches of one core. With filters from BENCH_THREADS_KIB on, screening by several threads
 * is measured, too. */
enum { BENCH_NSIZES = 5, BENCH_THREADS_KIB = 256, BENCH_LARGE_KIB = 16384 };
extern const size_t bench_sizes[BENCH_NSIZES];

/* Returns key i of a sequence in which no key occurs twice. Filters hold the first keys of the
 * sequence. */
uint64_t bench_key(uint64_t i);
enum { BENCH_MAX_KEY_NWORDS = 2 };
lanebloom_keys bench_keys(const uint64_t *keys, size_t n);

/* The result of a maker (below): data, their size, and the function that frees them. */
struct bench_made {
  void *value;
  size_t nbytes;
  void (*release)(void *value);
};

/* A filter. Without its engine's trailer, it has at most the wanted KiB, and as many keys as fit
 * with bits_per_key. */
struct bench_filter {
  lanebloom_filter *filter;
  struct bench_made array; /* the filter's bytes */
  double bits_per_key;     /* the largest whole number that makes k probes */
  uint64_t nkeys;
};
const struct bench_filter *bench_filter(const struct bench_case *wanted);

/* Loads a filter into the caches that have room for it, because the previous row may have used
 * another filter. */
void bench_warm(const lanebloom_filter *filter);

/* Queries: keys to look up in any filter of one size with k <= 10, in calls of BENCH_CALL_NKEYS.
 * There are more queries than a branch predictor can learn. */
struct bench_queries {
  uint64_t *keys;
  size_t n;
  size_t width; /* bytes per key */
  /* The first query of the next call, modulo n. Each repetition continues where the last one ended,
   * so that all queries are used. Several threads divide the queries among themselves. */
  _Atomic size_t next;
  struct memory *array;
};
struct bench_queries *bench_queries(size_t kib, unsigned hits); /* keys of 8 bytes */
struct bench_queries *bench_queries_for(const struct bench_case *wanted);
size_t bench_queries_next(struct bench_queries *queries); /* the first query of the next call */
lanebloom_keys bench_queries_part(const struct bench_queries *queries, size_t first, size_t n);

/* Returns the hashes of the queries of 8 bytes, for a format. */
const uint8_t *bench_hashes(lanebloom_format format, size_t kib, unsigned hits);

/* Returns keys for building: the first keys of the sequence, as many as a filter of this size holds
 * at 8 bits per key. */
const uint64_t *bench_members(size_t kib);

/* Screens the first BENCH_CHECK_NKEYS queries by the scalar kernel, so that other kernels can be
 * compared with it. Returns how many may be in the filter, and sets their bits in `bitmap`. If hits
 * is 100, all of them must be in the filter; if the kernel reports one as absent, returns
 * SIZE_MAX. */
enum { BENCH_CHECK_NKEYS = 16 * BENCH_CALL_NKEYS };
size_t bench_expected(const lanebloom_filter *filter, const struct bench_queries *queries,
                      unsigned hits, uint8_t bitmap[BENCH_CHECK_NKEYS / 8]);

/* ---- The cache of shared data. An error ends the program ---- */

typedef struct bench_made bench_maker(const struct bench_case *wanted);

/* Returns the data that `maker` makes for `wanted`, from the cache or by calling `maker`. If the
 * cache would exceed 2 GiB, the least recently used data are released. The four most recently used
 * data are never released, and no row needs more than four at once. */
void *bench_share(bench_maker *maker, const struct bench_case *wanted);
void bench_share_nothing(void); /* releases everything */
void bench_check(lanebloom_status status);
void bench_use(const char *kernel); /* NULL means the default kernel */

/* Makers of arrays use these two functions. An array is zeroed, and is on huge pages. */
struct bench_made bench_make_array(size_t nbytes);
uint8_t *bench_array(const struct bench_made *made);
uint8_t *bench_share_array(bench_maker *maker, const struct bench_case *wanted);

#endif
