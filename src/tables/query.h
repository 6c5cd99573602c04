/* Queries: the hashes of a part's keys, once for all tables whose filters want the same ones.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_QUERY_H
#define LANEBLOOM_TABLES_QUERY_H

#include "extractor.h"

struct query {
  struct query *next;
  lanebloom_format hash;
  struct extractor extractor;
  bool is_ready;     /* for the part */
  bool has_passing;  /* is any bit of `passing` set? */
  uint8_t *passing;  /* bits: keys without a prefix, which may be in any table */
  uint64_t hashes[]; /* of 8 bytes or of 4; then `passing` */
};

/* Finds the query for this hash and extractor, or adds it. NULL: memory is short. */
struct query *lanebloom_query_find(struct query **queries, size_t max_nkeys, lanebloom_format hash,
                                   const struct extractor *extractor);
void lanebloom_queries_free(struct query *queries);

/* Another part begins: no hashes are ready. */
void lanebloom_queries_begin(struct query *queries);

/* Makes the hashes ready. slices: room for as many as there are keys. */
void lanebloom_query_hash(struct query *query, const lanebloom_keys *keys, lanebloom_slice *slices);

#endif
