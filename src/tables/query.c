/* Hashes the keys of a part, once for all tables that need the same hashes (see query.h).
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../common/problem.h"
#include "../hits.h"
#include "../keys.h"
#include "query.h"

/* The most queries of a call. Each query takes memory for a part, and every table could name an
 * extractor of its own. If tables need more queries than this, the further tables share one query,
 * and keys may be hashed again for each of them. */
enum { MAX_QUERIES = 16 };

static bool is_for(const struct query *query, lanebloom_format format,
                   const struct extractor *extractor)
{
  return query->hash == lanebloom_format_hash(format) && query->extractor.kind == extractor->kind &&
         query->extractor.nbytes == extractor->nbytes;
}

struct query *lanebloom_query_find(struct query **queries, size_t max_nkeys,
                                   lanebloom_format format, const struct extractor *extractor)
{
  struct query *query = *queries;
  size_t n = 0;
  for (; query && !is_for(query, format, extractor); query = query->next)
    n++;
  if (query)
    return query;
  if (n == MAX_QUERIES)
    return *queries;
  const size_t hashes_nbytes = max_nkeys * sizeof *query->hashes;
  query = malloc(sizeof *query + hashes_nbytes + hits_nbytes(max_nkeys));
  if (!query)
    return NULL;
  *query = (struct query){.next = *queries,
                          .hash = lanebloom_format_hash(format),
                          .extractor = *extractor,
                          .passing = (uint8_t *)query->hashes + hashes_nbytes};
  *queries = query;
  return query;
}

void lanebloom_queries_free(struct query *queries)
{
  for (struct query *query = queries, *next; query; query = next) {
    next = query->next;
    lanebloom_hash_batch_free(query->batch);
    free(query);
  }
}

void lanebloom_queries_begin(struct query *queries)
{
  for (struct query *query = queries; query; query = query->next)
    query->is_ready = false;
}

static void extract_all(struct query *query, const lanebloom_keys *keys, lanebloom_slice *slices)
{
  memset(query->passing, 0, hits_nbytes(keys->n));
  query->has_passing = false;
  for (size_t i = 0; i < keys->n; i++) {
    slices[i] = keys_at(keys, i);
    if (!extract(&query->extractor, &slices[i])) {
      hits_set_bit(query->passing, i);
      query->has_passing = true;
    }
  }
}

void lanebloom_query_hash(struct query *query, lanebloom_format format,
                          const struct extractor *extractor, const lanebloom_keys *keys,
                          lanebloom_slice *slices, size_t nwide)
{
  if (query->is_ready && is_for(query, format, extractor))
    return;
  query->hash = lanebloom_format_hash(format);
  query->extractor = *extractor;
  query->has_passing = false;
  lanebloom_keys extracted = *keys;
  if (query->extractor.kind != EXTRACT_KEY) {
    extract_all(query, keys, slices);
    extracted = lanebloom_keys_slices(slices, keys->n);
  }
  /* A filter of this format is open, so the format is valid and a kernel is active. */
  cannot_fail(lanebloom_hash(query->hash, &extracted, query->hashes));
  /* Hashes are not sorted if they replace others of the same part, because tables that need
   * different hashes in turn would sort again and again. */
  lanebloom_hash_batch_free(query->batch);
  if (lanebloom_hash_batch_create(query->hash, query->hashes, keys->n,
                                  query->is_ready || nwide == 0 ? 1 : nwide, &query->batch))
    query->batch = NULL;
  query->is_ready = true;
}
