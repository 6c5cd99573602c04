/* Screens tables: finds, for each key of a batch and each table, whether the table may have the
 * key. A batch is split into parts. All tables are queried for a part before the next part begins,
 * so the keys of a part are hashed only once for each kind of hash. If all keys of the part are in
 * the range of a table, the table's filter is queried for all of them. If not, the filter is
 * queried only for the keys in the range. These keys are called members.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../hash_batch.h"
#include "../keys.h"
#include "../parts.h"
#include "filter_block.h"
#include "part.h"
#include "query.h"
#include "table.h"

enum {
  /* The keys of a part are sorted if their number times the number of tables is at least this. With
   * fewer, sorting takes more time than it saves. This table shows times per key in ns, measured on
   * Zen 4.
   *
   *   tables                       keys  unsorted  sorted
   *   1 of LevelDB                  256        15      24
   *   1 of LevelDB               32,768        27      18
   *   4 of RocksDB, compacted        64        16      37
   *   4 of RocksDB, compacted     1,024        19      11 */
  MIN_SORTED_NPAIRS = 1024,
  /* The most keys of a part if many filters are screened with all keys. The more of the keys select
   * a line, the faster sorted hashes are; with this many keys, 16 of them select each line of a
   * filter of 1 MiB. */
  LARGE_PART_NKEYS = 1 << 18,
};

/* A table, with what a call needs to query it. */
struct target {
  const lanebloom_table *table;
  struct query *query; /* NULL: the table needs no hashes */
  struct key_range range;
};

/* The state of a call. */
struct job {
  struct target *targets;
  size_t ntargets;
  size_t nwide; /* about this many filters are screened with all keys of a part */
  struct query *queries;
  struct ranking ranking;
  struct part part;

  /* The members are the keys of the part that are in the range of the current table. */
  size_t nmembers;
  uint32_t *members;          /* indices in the part */
  uint64_t *hashes;           /* hashes of members, of 8 or 4 bytes each */
  uint64_t *offsets;          /* offsets of the members' data blocks */
  lanebloom_slice *slices;    /* the members' keys or prefixes; also scratch for hashing */
  uint8_t *hits, *more_hits;  /* bitmaps of members */
  uint8_t *of_any, *of_table; /* bitmaps of the part: the keys that may be in any table, or in the
                               * current table */

  /* The memory of all arrays above and of `part`. */
  size_t max_nkeys; /* the most keys of a part: a multiple of 8, so that arrays need no padding */
  void *room;
};

/* ---- Screening all keys of a part ---- */

/* Looks up n hashes in the table's set of hashes, and in its filter of the keys that did not fit
 * into the set. */
static void screen_hashes(struct job *job, const lanebloom_table *table, const uint64_t *hashes,
                          size_t n, uint8_t *hits)
{
  lanebloom_hash_set_screen(&table->key_hashes, hashes, n, hits);
  if (table->nfilters == 0)
    return;
  lanebloom_filter_screen_hashes(table->filters[0], hashes, n, job->more_hits);
  hits_add(hits, job->more_hits, hits_nbytes(n));
}

static void hash_part(struct job *job, const struct target *target, lanebloom_format format)
{
  lanebloom_query_hash(target->query, format, &target->table->extractor, &job->part.keys,
                       job->slices, job->nwide);
}

static void screen_all(struct job *job, const struct target *target, uint8_t *hits)
{
  const lanebloom_keys *keys = &job->part.keys;
  if (!target->table->uses_filter) {
    hits_set(hits, keys->n);
    return;
  }
  const struct query *query = target->query;
  hash_part(job, target, target->table->hash);
  if (target->table->kind == LANEBLOOM_TABLE_FILTER_KEYS)
    screen_hashes(job, target->table, query->hashes, keys->n, hits);
  else if (query->batch)
    lanebloom_filter_screen_batch(target->table->filters[0], query->batch, hits);
  else
    lanebloom_filter_screen_hashes(target->table->filters[0], query->hashes, keys->n, hits);
  if (query->has_passing)
    hits_add(hits, query->passing, hits_nbytes(keys->n));
}

/* ---- Screening members ---- */

static lanebloom_slice member_at(const struct job *job, size_t i)
{
  return keys_at(&job->part.keys, job->members[i]);
}

/* `member_hits` is a bitmap of the members [first, first + n). For each bit that is set in it, sets
 * the bit of the same key in `hits`, the bitmap of the part. */
static void scatter_hits(const struct job *job, size_t first, size_t n, const uint8_t *member_hits,
                         uint8_t *hits)
{
  for (size_t byte = 0; byte < hits_nbytes(n); byte++)
    for (unsigned left = member_hits[byte]; left; left &= left - 1)
      hits_set_bit(hits, job->members[first + byte * 8 + (unsigned)__builtin_ctz(left)]);
}

/* Sets in `hits` the bits of members that have no prefix, because no filter can exclude them. */
static void pass_members(const struct job *job, const struct query *query, uint8_t *hits)
{
  for (size_t i = 0; query->has_passing && i < job->nmembers; i++)
    if (hits_has_bit(query->passing, job->members[i]))
      hits_set_bit(hits, job->members[i]);
}

/* Copies the hashes of the members to job->hashes, one after the other. */
static void gather_hashes(struct job *job, const struct query *query)
{
  if (lanebloom_format_hash_size(query->hash) == sizeof(uint64_t)) {
    for (size_t i = 0; i < job->nmembers; i++)
      job->hashes[i] = query->hashes[job->members[i]];
    return;
  }
  const uint32_t *from = (const void *)query->hashes;
  uint32_t *to = (void *)job->hashes;
  for (size_t i = 0; i < job->nmembers; i++)
    to[i] = from[job->members[i]];
}

/* Returns the number of the filter that may have a member. It is the filter of the first partition
 * whose separator is not below the member, or the last filter if all separators are below it. */
static size_t filter_of_member(const struct job *job, const lanebloom_table *table, size_t member,
                               size_t near)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
    return 0;
  const size_t found = lanebloom_index_find(&table->index, member_at(job, member), near);
  return found < table->index.n ? found : table->index.n - 1;
}

/* Returns the end of the run of consecutive members, from `first` on, that have this filter. */
static size_t end_of_filter(const struct job *job, const lanebloom_table *table, size_t first,
                            size_t filter)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
    return job->nmembers;
  size_t end = first + 1;
  while (end < job->nmembers && filter_of_member(job, table, end, filter) == filter)
    end++;
  return end;
}

/* Queries the full filter of a table for all members, or each partition's filter for the members
 * that it may have. */
static void screen_members(struct job *job, const struct target *target, uint8_t *hits)
{
  const lanebloom_table *table = target->table;
  const struct query *query = target->query;
  hash_part(job, target, table->hash);
  const size_t hash_nbytes = lanebloom_format_hash_size(query->hash);
  gather_hashes(job, query);
  size_t filter = 0;
  for (size_t first = 0, end; first < job->nmembers; first = end) {
    filter = filter_of_member(job, table, first, filter);
    end = end_of_filter(job, table, first, filter);
    if (table->filters[filter])
      lanebloom_filter_screen_hashes(table->filters[filter],
                                     (const uint8_t *)job->hashes + first * hash_nbytes,
                                     end - first, job->hits);
    else
      hits_set(job->hits, end - first);
    scatter_hits(job, first, end - first, job->hits, hits);
  }
  pass_members(job, query, hits);
}

/* Queries a filter block for the members. Only one data block may have a member; the offset of this
 * block selects the member's filter. */
static void screen_members_by_offset(struct job *job, const struct target *target, uint8_t *hits)
{
  const lanebloom_table *table = target->table;
  size_t n = 0, block = 0;
  for (size_t i = 0; i < job->nmembers; i++) {
    lanebloom_slice key = member_at(job, i);
    block = lanebloom_index_find(&table->index, key, block);
    if (block == table->index.n || !extract(&table->extractor, &key)) {
      hits_set_bit(hits, job->members[i]);
      continue;
    }
    job->members[n] = job->members[i];
    job->slices[n] = key;
    job->offsets[n++] = table->index.handles[block].offset;
  }
  job->nmembers = n;
  const lanebloom_keys keys = lanebloom_keys_slices(job->slices, n);
  lanebloom_filter_block_screen(table->filter_blocks[0], job->offsets, &keys, job->hits);
  if (table->filter_blocks[1]) {
    lanebloom_filter_block_screen(table->filter_blocks[1], job->offsets, &keys, job->more_hits);
    hits_add(job->hits, job->more_hits, hits_nbytes(n));
  }
  scatter_hits(job, 0, n, job->hits, hits);
}

/* ---- Screening members in all filters ---- */

/* Queries the filter of one partition for all members, and returns how many may be present. filter:
 * NULL if it cannot be used, so every member may be present. */
static size_t screen_partition(struct job *job, const lanebloom_filter *filter)
{
  if (filter)
    return lanebloom_filter_screen_hashes(filter, job->hashes, job->nmembers, job->hits);
  hits_set(job->hits, job->nmembers);
  return job->nmembers;
}

/* Sets the bits in `hits` of all members that the last filter reported as present, and removes
 * these members from the list, so that no more filters are queried for them. */
static void release_members(struct job *job, const struct query *query, uint8_t *hits)
{
  size_t n = 0;
  for (size_t i = 0; i < job->nmembers; i++)
    if (hits_has_bit(job->hits, i))
      hits_set_bit(hits, job->members[i]);
    else
      job->members[n++] = job->members[i];
  job->nmembers = n;
  gather_hashes(job, query);
}

/* Queries all filters of a table for the members, with the hash of this format. If `block` is NULL,
 * these are the filters of all partitions; otherwise they are the filters in `block`. */
static void screen_members_by_hash(struct job *job, const struct target *target,
                                   lanebloom_format format, const lanebloom_filter_block *block,
                                   uint8_t *hits)
{
  const lanebloom_table *table = target->table;
  const struct index *index = &table->index;
  uint64_t filter, before = 0;
  hash_part(job, target, format);
  gather_hashes(job, target->query);
  for (size_t i = 0; i < index->n && job->nmembers > 0; i++, before = filter) {
    filter = block ? lanebloom_filter_block_index(block, index->handles[i].offset) : i;
    if (i > 0 && filter == before) /* small data blocks share a filter */
      continue;
    const size_t count =
        block ? lanebloom_filter_block_screen_hashes(block, filter, (const void *)job->hashes,
                                                     job->nmembers, job->hits)
              : screen_partition(job, table->filters[i]);
    if (count > 0)
      release_members(job, target->query, hits);
  }
}

/* Queries all filters of a table for the members. A member that no filter has is absent, whatever
 * the order of keys is. */
static void screen_members_in_all(struct job *job, const struct target *target, uint8_t *hits)
{
  const lanebloom_table *table = target->table;
  screen_members_by_hash(job, target, table->hash, table->filter_blocks[0], hits);
  if (table->filter_blocks[1])
    screen_members_by_hash(job, target, LANEBLOOM_LEVELDB_SIGNED, table->filter_blocks[1], hits);
  pass_members(job, target->query, hits);
}

/* ---- Screening a part ---- */

/* Does the table have several filters, of which the data block or the partition of a key selects
 * one? */
static bool has_many_filters(const lanebloom_table *table)
{
  return table->uses_filter && (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK ||
                                table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED);
}

static void screen_table(struct job *job, const struct target *target, uint8_t *hits)
{
  const lanebloom_table *table = target->table;
  const struct key_range *range = &target->range;
  struct part *part = &job->part;
  const size_t n = part->keys.n;
  if (table->is_empty || lanebloom_part_is_outside(part, range)) {
    memset(hits, 0, hits_nbytes(n));
    return;
  }
  if (!has_many_filters(table) && lanebloom_part_is_inside(part, range)) {
    screen_all(job, target, hits);
    return;
  }
  lanebloom_part_list(part, n * job->ntargets >= MIN_SORTED_NPAIRS);
  const struct span span = lanebloom_part_span(part, range);
  if (!has_many_filters(table) && part->is_sorted && span.end - span.first > n - n / 4) {
    screen_all(job, target, hits);
    lanebloom_part_clear_outside(part, range, span, hits);
    return;
  }
  memset(hits, 0, hits_nbytes(n));
  job->nmembers = lanebloom_part_select(part, range, span, job->members);
  if (table->uses_filter && table->asks_all_filters)
    screen_members_in_all(job, target, hits);
  else if (table->uses_filter && table->kind == LANEBLOOM_TABLE_FILTER_BLOCK)
    screen_members_by_offset(job, target, hits);
  else if (table->uses_filter)
    screen_members(job, target, hits);
  else
    for (size_t i = 0; i < job->nmembers; i++)
      hits_set_bit(hits, job->members[i]);
}

static size_t screen_part(struct job *job, const lanebloom_keys *keys, size_t first, uint8_t *any,
                          uint8_t *const *bitmaps, size_t *counts)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, job->max_nkeys);
  const size_t nbytes = hits_nbytes(part.n);
  lanebloom_part_begin(&job->part, &part);
  lanebloom_queries_begin(job->queries);
  memset(job->of_any, 0, nbytes);
  for (size_t i = 0; i < job->ntargets; i++) {
    uint8_t *hits = bitmaps && bitmaps[i] ? bitmaps[i] + first / 8 : job->of_table;
    screen_table(job, &job->targets[i], hits);
    hits_add(job->of_any, hits, nbytes);
    if (counts)
      counts[i] += hits_count(hits, nbytes);
  }
  if (any)
    memcpy(any + first / 8, job->of_any, nbytes);
  return hits_count(job->of_any, nbytes);
}

/* ---- Calls ---- */

/* Reports every key as present in every table, because memory ran out. Such a result is
 * allowed, but saves no work. */
static size_t screen_without_memory(size_t ntables, size_t nkeys, uint8_t *any,
                                    uint8_t *const *bitmaps, size_t *counts)
{
  if (any)
    hits_set(any, nkeys);
  for (size_t i = 0; i < ntables; i++) {
    if (bitmaps && bitmaps[i])
      hits_set(bitmaps[i], nkeys);
    if (counts)
      counts[i] = nkeys;
  }
  return nkeys;
}

/* Does the table need a query, which hashes the keys? lanebloom_filter_block_screen() hashes keys
 * itself, so a filter block that is queried by offsets needs no query. */
static bool needs_query(const lanebloom_table *table)
{
  return table->uses_filter &&
         (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK || table->asks_all_filters);
}

/* Makes a ranking of the keys from the smallest to the largest key of all tables, and the range of
 * each table in this ranking. */
static void find_ranges(struct job *job)
{
  const lanebloom_slice *smallest = NULL, *largest = NULL;
  for (size_t i = 0; i < job->ntargets; i++) {
    const lanebloom_table *table = job->targets[i].table;
    if (!table->has_range)
      continue;
    if (!smallest || lanebloom_key_compare(table->smallest, *smallest) < 0)
      smallest = &table->smallest;
    if (!largest || lanebloom_key_compare(table->largest, *largest) > 0)
      largest = &table->largest;
  }
  job->ranking = lanebloom_ranking_make(smallest, largest);
  for (size_t i = 0; i < job->ntargets; i++) {
    const lanebloom_table *table = job->targets[i].table;
    if (table->has_range)
      job->targets[i].range =
          lanebloom_key_range_make(&job->ranking, table->smallest, table->largest);
  }
}

/* Counts the filters that will probably be screened with all keys of a part, because the range of
 * their table is nearly as wide as the ranges of all tables together. */
static size_t count_wide_filters(const struct job *job)
{
  uint32_t last = 0;
  size_t n = 0;
  for (size_t i = 0; i < job->ntargets; i++)
    last = job->targets[i].range.largest_rank > last ? job->targets[i].range.largest_rank : last;
  for (size_t i = 0; i < job->ntargets; i++) {
    const struct target *target = &job->targets[i];
    const struct key_range *range = &target->range;
    n += target->table->uses_filter && !has_many_filters(target->table) &&
         (!range->is_known || range->largest_rank - range->smallest_rank >= last - last / 4);
  }
  return n;
}

/* Returns the most keys of a part, if nkeys are divided into parts of nearly equal sizes. */
static size_t max_part_nkeys(const struct job *job, size_t nkeys)
{
  const size_t most = job->nwide >= HASH_BATCH_MIN_NFILTERS ? LARGE_PART_NKEYS : PART_NKEYS;
  const size_t nparts = (nkeys - 1) / most + 1;
  return ((nkeys - 1) / nparts / 8 + 1) * 8;
}

/* Allocates all arrays, for max_nkeys keys, in one block of memory. The arrays with the widest
 * elements come first, so that all arrays are aligned. Returns false if memory ran out. */
static bool make_room(struct job *job)
{
  const size_t n = job->max_nkeys;
  struct part *part = &job->part;
  const size_t key_nbytes = sizeof *job->slices + sizeof *job->hashes + sizeof *job->offsets +
                            sizeof *part->order + sizeof *part->half_sorted + sizeof *part->ranks +
                            sizeof *job->members;
  job->room = malloc(n * key_nbytes + 4 * hits_nbytes(n));
  if (!job->room)
    return false;
  job->slices = job->room;
  job->hashes = (uint64_t *)(job->slices + n);
  job->offsets = job->hashes + n;
  part->order = (struct ranked_key *)(job->offsets + n);
  part->half_sorted = part->order + n;
  part->ranks = (uint32_t *)(part->half_sorted + n);
  job->members = part->ranks + n;
  job->hits = (uint8_t *)(job->members + n);
  job->more_hits = job->hits + hits_nbytes(n);
  job->of_any = job->more_hits + hits_nbytes(n);
  job->of_table = job->of_any + hits_nbytes(n);
  return true;
}

/* Begins a call. Returns false if memory ran out. end() must be called in either case. */
static bool begin(struct job *job, const lanebloom_table *const *tables, size_t ntables,
                  size_t nkeys)
{
  *job = (struct job){.ntargets = ntables};
  job->part.ranking = &job->ranking;
  job->targets = calloc(ntables, sizeof *job->targets);
  if (!job->targets)
    return false;
  for (size_t i = 0; i < ntables; i++)
    job->targets[i].table = tables[i];
  find_ranges(job);
  job->nwide = count_wide_filters(job);
  job->max_nkeys = max_part_nkeys(job, nkeys);
  if (!make_room(job))
    return false;
  for (size_t i = 0; i < ntables; i++)
    if (needs_query(tables[i]) &&
        !(job->targets[i].query = lanebloom_query_find(&job->queries, job->max_nkeys,
                                                       tables[i]->hash, &tables[i]->extractor)))
      return false;
  return true;
}

static void end(struct job *job)
{
  lanebloom_queries_free(job->queries);
  free(job->targets);
  free(job->room);
}

size_t lanebloom_tables_screen(const lanebloom_table *const *tables, size_t ntables,
                               const lanebloom_keys *keys, uint8_t *any, uint8_t *const *bitmaps,
                               size_t *counts)
{
  if (counts)
    memset(counts, 0, ntables * sizeof *counts);
  if (ntables == 0 || keys->n == 0) {
    if (any)
      memset(any, 0, hits_nbytes(keys->n));
    return 0;
  }
  struct job job;
  size_t count = 0;
  if (begin(&job, tables, ntables, keys->n))
    for (size_t first = 0; first < keys->n; first += job.max_nkeys)
      count += screen_part(&job, keys, first, any, bitmaps, counts);
  else
    count = screen_without_memory(ntables, keys->n, any, bitmaps, counts);
  end(&job);
  return count;
}

size_t lanebloom_table_screen(const lanebloom_table *table, const lanebloom_keys *keys,
                              uint8_t *bitmap)
{
  return lanebloom_tables_screen(&table, 1, keys, bitmap, NULL, NULL);
}
