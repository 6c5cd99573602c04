/* Queries: the hashes of a part's keys, shared by all tables whose filters need the same ones. A
 * list of queries belongs to one call.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_QUERY_H
#define LANEBLOOM_TABLES_QUERY_H

#include "extractor.h"

struct query {
  struct query *next;
  lanebloom_format hash; /* keys are hashed for this format */
  struct extractor extractor;
  bool is_ready;     /* do the other fields belong to the current part? */
  bool has_passing;  /* is any bit of `passing` set? */
  uint8_t *passing;  /* bitmap of keys that have no prefix, so they may be in any table */
  uint64_t hashes[]; /* hashes of 8 or of 4 bytes; then room for `passing` */
};

/* Finds the query for the hash of this format and this extractor, or adds it to the list. If there
 * are too many, the result is the query of another hash or extractor, and lanebloom_query_hash()
 * hashes the keys again. max_nkeys: the most keys of a part. NULL: memory ran out. */
struct query *lanebloom_query_find(struct query **queries, size_t max_nkeys,
                                   lanebloom_format format, const struct extractor *extractor);
void lanebloom_queries_free(struct query *queries);

/* Begins another part: no query is ready. */
void lanebloom_queries_begin(struct query *queries);

/* Hashes the keys of the part, unless the query is ready for this hash and extractor. slices:
 * scratch memory for keys->n slices. */
void lanebloom_query_hash(struct query *query, lanebloom_format format,
                          const struct extractor *extractor, const lanebloom_keys *keys,
                          lanebloom_slice *slices);

#endif
