/* Collects the hashes of keys from logs, and finds them again in a set.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../hits.h"
#include "key_hashes.h"

enum {
  MAX_NENTRIES = 4 << 20, /* 64 MiB */
  MIN_ROOM = 1 << 10,

  /* The most keys that are hashed together, and the most bytes that these keys may have. A larger
   * key is hashed alone. */
  NHASHED = 1 << 10,
  HASHED_NBYTES = 64 << 10,
};

/* ---- Collecting ---- */

lanebloom_status lanebloom_collector_init(struct key_collector *collector, size_t max_nentries)
{
  *collector = (struct key_collector){.max_nentries = max_nentries ? max_nentries : MAX_NENTRIES};
  collector->bytes = malloc(HASHED_NBYTES);
  collector->bytes_room = HASHED_NBYTES;
  collector->ends = malloc((NHASHED + 1) * sizeof *collector->ends);
  collector->unhashed = malloc(NHASHED * sizeof *collector->unhashed);
  if (collector->bytes && collector->ends && collector->unhashed)
    return LANEBLOOM_OK;
  lanebloom_collector_free(collector);
  return LANEBLOOM_ERR_MEMORY;
}

void lanebloom_collector_free(struct key_collector *collector)
{
  free(collector->entries);
  free(collector->bytes);
  free(collector->ends);
  free(collector->unhashed);
  lanebloom_builder_free(collector->others);
  *collector = (struct key_collector){0};
}

static int compare_entries(const void *a, const void *b)
{
  const struct hashed_entry *left = a, *right = b;
  if (left->hash != right->hash)
    return left->hash < right->hash ? -1 : 1;
  if (left->log != right->log)
    return left->log < right->log ? -1 : 1;
  if (left->family != right->family)
    return left->family < right->family ? -1 : 1;
  return (int)left->is_prepared - (int)right->is_prepared;
}

/* Sorts the entries, and drops duplicates. */
static void unite_entries(struct key_collector *collector)
{
  size_t n = 0;
  qsort(collector->entries, collector->n, sizeof *collector->entries, compare_entries);
  for (size_t i = 0; i < collector->n; i++)
    if (n == 0 || compare_entries(&collector->entries[n - 1], &collector->entries[i]) != 0)
      collector->entries[n++] = collector->entries[i];
  collector->n = n;
}

/* Makes room for one more entry. Returns false if the limit is reached or memory ran out; in the
 * second case, sets *status. */
static bool make_room(struct key_collector *collector, lanebloom_status *status)
{
  *status = LANEBLOOM_OK;
  if (collector->n < collector->room)
    return true;
  if (collector->room == collector->max_nentries) {
    if (!collector->others)
      unite_entries(collector);
    /* If few entries were duplicates, the next sort would come soon and free little room, so the
     * collector counts as full. */
    return collector->n <= collector->max_nentries / 2;
  }
  size_t room = collector->room ? 2 * collector->room : MIN_ROOM;
  room = room < collector->max_nentries ? room : collector->max_nentries;
  struct hashed_entry *entries = realloc(collector->entries, room * sizeof *entries);
  if (!entries) {
    *status = LANEBLOOM_ERR_MEMORY;
    return false;
  }
  collector->entries = entries;
  collector->room = room;
  return true;
}

/* Adds the waiting keys from number `first` on to the filter. */
static lanebloom_status add_others(struct key_collector *collector, size_t first)
{
  lanebloom_status status = LANEBLOOM_OK;
  if (!collector->others)
    status = lanebloom_builder_create(KEY_HASH_FORMAT, OTHERS_BITS_PER_KEY, OTHERS_NKEYS,
                                      &collector->others);
  if (status)
    return status;
  const lanebloom_keys keys =
      lanebloom_keys_offsets64(collector->bytes, collector->ends + first, collector->nkeys - first);
  collector->nothers += keys.n;
  return lanebloom_builder_add(collector->others, &keys);
}

lanebloom_status lanebloom_collector_flush(struct key_collector *collector)
{
  uint64_t hashes[NHASHED];
  const lanebloom_keys keys =
      lanebloom_keys_offsets64(collector->bytes, collector->ends, collector->nkeys);
  lanebloom_status status = lanebloom_hash(KEY_HASH_FORMAT, &keys, hashes);
  size_t i = 0;
  for (; !status && i < keys.n && make_room(collector, &status); i++) {
    collector->unhashed[i].hash = hashes[i];
    collector->entries[collector->n++] = collector->unhashed[i];
  }
  if (!status && i < keys.n)
    status = add_others(collector, i);
  collector->nkeys = 0;
  collector->nbytes = 0;
  return status;
}

lanebloom_status lanebloom_collector_add(struct key_collector *collector, lanebloom_slice key,
                                         struct hashed_entry entry)
{
  if (collector->nkeys == NHASHED || key.size > collector->bytes_room - collector->nbytes) {
    lanebloom_status status = lanebloom_collector_flush(collector);
    if (status)
      return status;
  }
  if (key.size > collector->bytes_room) {
    uint8_t *bytes = realloc(collector->bytes, key.size);
    if (!bytes)
      return LANEBLOOM_ERR_MEMORY;
    collector->bytes = bytes;
    collector->bytes_room = key.size;
  }
  if (key.size > 0)
    memcpy(collector->bytes + collector->nbytes, key.data, key.size);
  collector->ends[collector->nkeys] = collector->nbytes; /* needed only for the first key */
  collector->nbytes += key.size;
  collector->ends[collector->nkeys + 1] = collector->nbytes;
  collector->unhashed[collector->nkeys++] = entry;
  return LANEBLOOM_OK;
}

/* ---- Finding ---- */

static int compare_hashes(const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

static size_t group_of(const struct hash_set *set, uint64_t hash)
{
  return set->nbits > 0 ? (size_t)(hash >> (64 - set->nbits)) : 0;
}

lanebloom_status lanebloom_hash_set_make(struct hash_set *set, const uint64_t *hashes, size_t n)
{
  *set = (struct hash_set){.n = n};
  while ((size_t)2 << set->nbits <= n)
    set->nbits++;
  const size_t ngroups = (size_t)1 << set->nbits;
  set->hashes = malloc((n + 1) * sizeof *set->hashes);
  set->starts = calloc(ngroups + 2, sizeof *set->starts);
  if (!set->hashes || !set->starts) {
    lanebloom_hash_set_free(set);
    return LANEBLOOM_ERR_MEMORY;
  }
  /* Sorts the hashes by group with a counting sort. First, the hashes of group i are counted in
   * starts[i + 2]. When the counts are summed up, starts[i + 1] is the start of group i. Each hash
   * that is then stored in group i advances starts[i + 1]. When all hashes are stored, starts[i] is
   * the start of group i, and starts[i + 1] is its end. */
  for (size_t i = 0; i < n; i++)
    set->starts[group_of(set, hashes[i]) + 2]++;
  for (size_t i = 2; i < ngroups + 2; i++)
    set->starts[i] += set->starts[i - 1];
  for (size_t i = 0; i < n; i++)
    set->hashes[set->starts[group_of(set, hashes[i]) + 1]++] = hashes[i];
  for (size_t i = 0; i < ngroups; i++) {
    const size_t start = set->starts[i], nhashes = set->starts[i + 1] - start;
    if (nhashes > 1)
      qsort(set->hashes + start, nhashes, sizeof *set->hashes, compare_hashes);
  }
  return LANEBLOOM_OK;
}

void lanebloom_hash_set_free(struct hash_set *set)
{
  free(set->hashes);
  free(set->starts);
  *set = (struct hash_set){0};
}

static bool has_hash(const struct hash_set *set, uint64_t hash)
{
  const size_t group = group_of(set, hash);
  size_t first = set->starts[group], end = set->starts[group + 1];
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (set->hashes[middle] == hash)
      return true;
    if (set->hashes[middle] < hash)
      first = middle + 1;
    else
      end = middle;
  }
  return false;
}

/* Works on blocks of keys: prefetches the starts of their groups, then the groups themselves, so
 * that cache misses overlap. */
void lanebloom_hash_set_screen(const struct hash_set *set, const uint64_t *hashes, size_t n,
                               uint8_t *hits)
{
  enum { BLOCK_NKEYS = 64 };
  memset(hits, 0, hits_nbytes(n));
  for (size_t first = 0; first < n; first += BLOCK_NKEYS) {
    const size_t end = n - first < BLOCK_NKEYS ? n : first + BLOCK_NKEYS;
    for (size_t i = first; i < end; i++)
      __builtin_prefetch(&set->starts[group_of(set, hashes[i])]);
    for (size_t i = first; i < end; i++)
      __builtin_prefetch(&set->hashes[set->starts[group_of(set, hashes[i])]]);
    for (size_t i = first; i < end; i++)
      if (has_hash(set, hashes[i]))
        hits_set_bit(hits, i);
  }
}
