/* What rows share: keys, filters, queries; each made when a row first needs it, outside what is
 * timed.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_SHARED_H
#define LANEBLOOM_BENCH_SHARED_H

#include <filter.h>

#include "formats.h"

/* What a row is about. What a maker does not look at stays 0, so that more rows share what it
 * makes. */
struct bench_case {
  lanebloom_format format;
  size_t kib;       /* of filter */
  unsigned nprobes; /* k */
  unsigned hits;    /* per cent of the queries that are for keys of the filter */
  size_t width;     /* bytes per key, 16; 0: 8 */
};

enum {
  BENCH_CALL_NKEYS = 16384, /* keys per call where nothing else is said */
  BENCH_NPROBES = 6,        /* where nothing else is said: 10 bits per key */
};

/* The sizes of filters, in KiB: first-level cache, second, around its end, third, memory. From
 * BENCH_LARGE_KIB on they are in no cache that a core has to itself. From BENCH_THREADS_KIB on,
 * several threads screen one filter, too. */
enum { BENCH_NSIZES = 5, BENCH_THREADS_KIB = 256, BENCH_LARGE_KIB = 16384 };
extern const size_t bench_sizes[BENCH_NSIZES];

/* Key i of an endless sequence without repetition. Filters hold the first ones. */
uint64_t bench_key(uint64_t i);
enum { BENCH_MAX_KEY_NWORDS = 2 };
lanebloom_keys bench_keys(const uint64_t *keys, size_t n);

/* What a maker, below, made. */
struct bench_made {
  void *value;
  size_t nbytes;
  void (*release)(void *value);
};

/* A filter of at most so many KiB and its engine's trailer, as full as bits_per_key makes it. */
struct bench_filter {
  lanebloom_filter *filter;
  struct bench_made array; /* of the filter's bytes */
  double bits_per_key;     /* the most whole ones that make k probes */
  uint64_t nkeys;
};
const struct bench_filter *bench_filter(const struct bench_case *wanted);

/* Brings a filter into whatever caches have room for it: the row before this one was another's. */
void bench_warm(const lanebloom_filter *filter);

/* Queries for any filter of one size and k <= 10: more than a branch predictor learns, in calls of
 * BENCH_CALL_NKEYS. */
struct bench_queries {
  uint64_t *keys;
  size_t n;
  size_t width; /* bytes per key */
  /* where the next call begins, modulo n: repetitions go on where the last one ended, so that
   * they see all, and threads share them out */
  _Atomic size_t next;
  struct memory *array;
};
struct bench_queries *bench_queries(size_t kib, unsigned hits); /* keys of 8 bytes */
struct bench_queries *bench_queries_for(const struct bench_case *wanted);
size_t bench_queries_next(struct bench_queries *queries); /* the first query of the next call */
lanebloom_keys bench_queries_part(const struct bench_queries *queries, size_t first, size_t n);

/* The hashes of those of 8 bytes. */
const uint8_t *bench_hashes(lanebloom_format format, size_t kib, unsigned hits);

/* The first keys, as many as a filter of this size holds at 8 bits per key: for building. */
const uint64_t *bench_members(size_t kib);

/* How many of the first BENCH_CHECK_NKEYS queries pass, by the scalar kernel, and which, a bit
 * each; SIZE_MAX if that lost a key. */
enum { BENCH_CHECK_NKEYS = 16 * BENCH_CALL_NKEYS };
size_t bench_expected(const lanebloom_filter *filter, const struct bench_queries *queries,
                      unsigned hits, uint8_t bitmap[BENCH_CHECK_NKEYS / 8]);

/* ---- The cache behind these: whatever fails here ends the program ---- */

typedef struct bench_made bench_maker(const struct bench_case *wanted);

/* What `maker` makes of `wanted`, made now unless it is there. When all of it exceeds 2 GiB, what
 * was not used for longest is released; the four used last never are, and no row needs more. */
void *bench_share(bench_maker *maker, const struct bench_case *wanted);
void bench_share_nothing(void); /* releases everything */
void bench_check(lanebloom_status status);
void bench_use(const char *kernel); /* NULL: the default */

/* For makers of arrays: zeroed, on huge pages. */
struct bench_made bench_make_array(size_t nbytes);
uint8_t *bench_array(const struct bench_made *made);
uint8_t *bench_share_array(bench_maker *maker, const struct bench_case *wanted);

#endif
