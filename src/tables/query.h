/* A query holds the hashes of all keys of a part (part.h). All tables whose filters need the same
 * hashes share a query, so that keys are hashed only once. A list of queries belongs to one call of
 * lanebloom_tables_screen().
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_QUERY_H
#define LANEBLOOM_TABLES_QUERY_H

#include "extractor.h"

struct query {
  struct query *next;
  lanebloom_format hash; /* the format for which keys are hashed */
  struct extractor extractor;
  bool is_ready;    /* do the members below belong to the current part? */
  bool has_passing; /* is any bit of `passing` set? */
  uint8_t *passing; /* bitmap of the keys that have no prefix; such keys may be in any table */
  lanebloom_hash_batch *batch; /* the hashes of all keys; NULL if memory ran out */
  uint64_t hashes[];           /* each of 8 or 4 bytes; then room for `passing` */
};

/* Finds the query for the hash of this format and for this extractor, or adds one to the list. If
 * the list is full, returns a query that other tables use with another hash or extractor;
 * lanebloom_query_hash() must then hash the keys again for each of these tables. max_nkeys: the
 * most keys that a part may have. Returns NULL if memory ran out. */
struct query *lanebloom_query_find(struct query **queries, size_t max_nkeys,
                                   lanebloom_format format, const struct extractor *extractor);
void lanebloom_queries_free(struct query *queries);

/* Must be called when a new part begins. Marks all queries as not ready. */
void lanebloom_queries_begin(struct query *queries);

/* Hashes the keys of the part into the query, unless it already has their hashes for this format
 * and extractor. slices: scratch memory for keys->n slices. nwide:
 * about this many filters will be screened with all the hashes. */
void lanebloom_query_hash(struct query *query, lanebloom_format format,
                          const struct extractor *extractor, const lanebloom_keys *keys,
                          lanebloom_slice *slices, size_t nwide);

#endif
