/* Data that rows share: keys, filters and queries. Each is made when a row first needs it, outside
 * the time that is measured.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_SHARED_H
#define LANEBLOOM_BENCH_SHARED_H

#include <filter.h>

#include "formats.h"

/* The case that a row measures. Members that a maker does not use stay 0, so that more rows share
 * its result. */
struct bench_case {
  lanebloom_format format;
  size_t kib;       /* the size of the filter */
  unsigned nprobes; /* probes per key, k */
  unsigned hits;    /* the percentage of queries whose key is in the filter */
  size_t width;     /* bytes per key: 16, or 0 for 8 */
};

enum {
  BENCH_CALL_NKEYS = 16384, /* keys per call, by default */
  BENCH_NPROBES = 6,        /* by default: 10 bits per key */
};

/* The sizes of filters, in KiB: for the first-level cache, the second, around its end, the third,
 * and memory. Filters from BENCH_LARGE_KIB on do not fit into a core's own caches. From
 * BENCH_THREADS_KIB on, several threads screen one filter, too. */
enum { BENCH_NSIZES = 5, BENCH_THREADS_KIB = 256, BENCH_LARGE_KIB = 16384 };
extern const size_t bench_sizes[BENCH_NSIZES];

/* Key i of an endless sequence without repetition. Filters hold the first ones. */
uint64_t bench_key(uint64_t i);
enum { BENCH_MAX_KEY_NWORDS = 2 };
lanebloom_keys bench_keys(const uint64_t *keys, size_t n);

/* The result of a maker, below. */
struct bench_made {
  void *value;
  size_t nbytes;
  void (*release)(void *value);
};

/* A filter of at most the given KiB plus its engine's trailer, as full as bits_per_key makes it. */
struct bench_filter {
  lanebloom_filter *filter;
  struct bench_made array; /* the filter's bytes */
  double bits_per_key;     /* the largest whole number that makes k probes */
  uint64_t nkeys;
};
const struct bench_filter *bench_filter(const struct bench_case *wanted);

/* Loads a filter into the caches that have room for it: the row before may have used another
 * filter. */
void bench_warm(const lanebloom_filter *filter);

/* Queries for any filter of one size and k <= 10, in calls of BENCH_CALL_NKEYS. There are more than
 * a branch predictor learns. */
struct bench_queries {
  uint64_t *keys;
  size_t n;
  size_t width; /* bytes per key */
  /* the first query of the next call, modulo n: each repetition continues where the last one ended,
   * so that all queries are used, and threads divide them among themselves */
  _Atomic size_t next;
  struct memory *array;
};
struct bench_queries *bench_queries(size_t kib, unsigned hits); /* keys of 8 bytes */
struct bench_queries *bench_queries_for(const struct bench_case *wanted);
size_t bench_queries_next(struct bench_queries *queries); /* the first query of the next call */
lanebloom_keys bench_queries_part(const struct bench_queries *queries, size_t first, size_t n);

/* The hashes of the queries of 8 bytes. */
const uint8_t *bench_hashes(lanebloom_format format, size_t kib, unsigned hits);

/* Keys for building: the first ones, as many as a filter of this size holds at 8 bits per key. */
const uint64_t *bench_members(size_t kib);

/* Returns how many of the first BENCH_CHECK_NKEYS queries pass by the scalar kernel, and which, as
 * one bit each; SIZE_MAX if the scalar kernel lost a key. */
enum { BENCH_CHECK_NKEYS = 16 * BENCH_CALL_NKEYS };
size_t bench_expected(const lanebloom_filter *filter, const struct bench_queries *queries,
                      unsigned hits, uint8_t bitmap[BENCH_CHECK_NKEYS / 8]);

/* ---- The cache of shared data. An error ends the program ---- */

typedef struct bench_made bench_maker(const struct bench_case *wanted);

/* Returns what `maker` makes of `wanted`, and calls it unless the result is in the cache. If the
 * cache exceeds 2 GiB, the least recently used data are released, but never the last four that were
 * used; no row needs more. */
void *bench_share(bench_maker *maker, const struct bench_case *wanted);
void bench_share_nothing(void); /* releases everything */
void bench_check(lanebloom_status status);
void bench_use(const char *kernel); /* NULL: the default */

/* For makers of arrays: zeroed, on huge pages. */
struct bench_made bench_make_array(size_t nbytes);
uint8_t *bench_array(const struct bench_made *made);
uint8_t *bench_share_array(bench_maker *maker, const struct bench_case *wanted);

#endif
