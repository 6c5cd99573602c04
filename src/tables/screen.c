/* Screening tables: a batch is cut into chunks, and a chunk goes to every table before the next
 * begins. Its keys are hashed once for each kind of hash. A table that does not have all of the
 * chunk in its range gets its own keys alone: the chunk is put in order once, and a range is then a
 * span of it.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../hits.h"
#include "../keys.h"
#include "table.h"
#include "window.h"

enum {
  CHUNK_NKEYS = 1 << 15, /* as many as the first library takes; a multiple of 8 */

  /* Keys are put in order by so many bits, the first in which the tables' ranges differ, in two
   * rounds whose counts stay in the first-level cache. Keys in one place with a range's end are
   * compared with it. */
  RANK_NBITS = 22,
  ROUND_NBITS = RANK_NBITS / 2,
  ROUND_NVALUES = 1 << ROUND_NBITS,

  /* Keys times tables: of fewer every key is looked at instead. Zen 4, ns per key without an order
   * and with one: a table of LevelDB's, 256 and 32,768 keys: 15 and 24, 27 and 18; 4 compacted
   * tables of RocksDB's, 64 and 1,024 keys: 16 and 37, 19 and 11. */
  MIN_ORDERED_NPAIRS = 1024,
};

/* A key and its place in the order of its chunk. */
struct place {
  uint32_t rank, key;
};

/* What filters are asked: tables that agree in it share a chunk's hashes. */
struct question {
  struct question *next;
  lanebloom_format hash;
  struct extractor extractor;
  bool is_ready;
  bool has_unasked;
  uint8_t *unasked;  /* bits: keys without a prefix, which may be there */
  uint64_t hashes[]; /* of 8 bytes or of 4, then unasked */
};

/* A table, and what is known of it during a call. */
struct asked_table {
  const lanebloom_table *table;
  struct question *question;
  uint32_t smallest, largest; /* ranks */
};

struct job {
  struct asked_table *tables;
  size_t ntables;
  struct question *questions;

  /* Ranks are made of 8 bytes behind those that all ends of ranges begin with. */
  lanebloom_slice common;
  uint64_t least, most;
  unsigned shift;

  /* The chunk. */
  lanebloom_keys keys;
  bool is_ranked, is_listed, is_ordered;
  uint32_t least_rank, most_rank;
  uint32_t *ranks;
  struct place *order, *half_ordered;

  /* Those of its keys that a table is asked for. */
  size_t nmembers;
  uint32_t *members;
  uint64_t *hashes; /* of 8 bytes or of 4 */
  uint64_t *offsets;
  lanebloom_slice *slices;
  uint8_t *hits, *more_hits;

  /* Room for a chunk. */
  size_t max_nkeys; /* a multiple of 8: so no array needs padding before the next */
  void *room;
};

/* ---- Bits ---- */

static void set_bit(uint8_t *hits, size_t i)
{
  hits[i / 8] = (uint8_t)(hits[i / 8] | 1 << i % 8);
}

static void clear_bit(uint8_t *hits, size_t i)
{
  hits[i / 8] = (uint8_t)(hits[i / 8] & ~(1 << i % 8));
}

static bool has_bit(const uint8_t *hits, size_t i)
{
  return hits[i / 8] >> i % 8 & 1;
}

static void add_hits(uint8_t *hits, const uint8_t *more, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    hits[i] |= more[i];
}

/* ---- Questions ---- */

/* What a filter is asked for a key; false: nothing, the key may be there. */
static bool extract(const struct extractor *extractor, lanebloom_slice *key)
{
  if (extractor->kind == EXTRACT_KEY)
    return true;
  const bool is_long = key->size >= extractor->nbytes;
  if (is_long)
    key->size = extractor->nbytes;
  return is_long || extractor->kind == EXTRACT_CAPPED;
}

static void extract_all(struct job *job, struct question *question)
{
  memset(question->unasked, 0, hits_nbytes(job->keys.n));
  question->has_unasked = false;
  for (size_t i = 0; i < job->keys.n; i++) {
    job->slices[i] = keys_at(&job->keys, i);
    if (!extract(&question->extractor, &job->slices[i])) {
      set_bit(question->unasked, i);
      question->has_unasked = true;
    }
  }
}

/* The chunk's hashes. */
static void ask(struct job *job, struct question *question)
{
  if (question->is_ready)
    return;
  lanebloom_keys keys = job->keys;
  if (question->extractor.kind != EXTRACT_KEY) {
    extract_all(job, question);
    keys = lanebloom_keys_slices(job->slices, keys.n);
  }
  lanebloom_hash(question->hash, &keys,
                 question->hashes); /* cannot fail: a filter of this format is open */
  question->is_ready = true;
}

/* false: memory is short. */
static bool find_question(struct job *job, struct asked_table *asked)
{
  const lanebloom_table *table = asked->table;
  /* One hash under two names. */
  const lanebloom_format hash =
      table->hash == LANEBLOOM_ROCKSDB_LEGACY ? LANEBLOOM_LEVELDB_SIGNED : table->hash;
  struct question *question = job->questions;
  while (question && (question->hash != hash || question->extractor.kind != table->extractor.kind ||
                      question->extractor.nbytes != table->extractor.nbytes))
    question = question->next;
  if (!question) {
    const size_t hashes_nbytes = job->max_nkeys * sizeof *question->hashes;
    question = malloc(sizeof *question + hashes_nbytes + hits_nbytes(job->max_nkeys));
    if (!question)
      return false;
    question->unasked = (uint8_t *)question->hashes + hashes_nbytes;
    question->next = job->questions;
    question->hash = hash;
    question->extractor = table->extractor;
    question->has_unasked = false;
    job->questions = question;
  }
  asked->question = question;
  return true;
}

/* ---- Order ---- */

static uint32_t rank_of(const struct job *job, lanebloom_slice key)
{
  uint64_t window = window_of(job->common, key);
  window = window < job->least ? job->least : window > job->most ? job->most : window;
  return (uint32_t)((window - job->least) >> job->shift);
}

static void find_ranks_of_tables(struct job *job)
{
  const lanebloom_slice *smallest = NULL, *largest = NULL;
  for (size_t i = 0; i < job->ntables; i++) {
    const lanebloom_table *table = job->tables[i].table;
    if (!table->has_range)
      continue;
    if (!smallest || lanebloom_key_compare(table->smallest, *smallest) < 0)
      smallest = &table->smallest;
    if (!largest || lanebloom_key_compare(table->largest, *largest) > 0)
      largest = &table->largest;
  }
  job->common = (lanebloom_slice){NULL, 0};
  job->least = 0;
  job->most = UINT64_MAX;
  if (smallest) {
    job->common = window_common(*smallest, *largest);
    job->least = window_of(job->common, *smallest);
    job->most = window_of(job->common, *largest);
  }
  const uint64_t spread = job->most - job->least;
  const int nbits = spread ? 64 - __builtin_clzll(spread) : 0;
  job->shift = nbits > RANK_NBITS ? (unsigned)(nbits - RANK_NBITS) : 0;
  for (size_t i = 0; i < job->ntables; i++) {
    struct asked_table *asked = &job->tables[i];
    if (!asked->table->has_range)
      continue;
    asked->smallest = rank_of(job, asked->table->smallest);
    asked->largest = rank_of(job, asked->table->largest);
  }
}

static void rank_keys(struct job *job)
{
  if (job->is_ranked)
    return;
  job->is_ranked = true;
  job->least_rank = UINT32_MAX;
  job->most_rank = 0;
  for (size_t i = 0; i < job->keys.n; i++) {
    const uint32_t rank = rank_of(job, keys_at(&job->keys, i));
    job->ranks[i] = rank;
    job->least_rank = rank < job->least_rank ? rank : job->least_rank;
    job->most_rank = rank > job->most_rank ? rank : job->most_rank;
  }
}

/* One round of sorting by counting; what has equal bits stays in the order it was in. */
static void order_round(const struct place *from, size_t n, unsigned shift, struct place *to)
{
  uint32_t begins[ROUND_NVALUES + 1] = {0};
  for (size_t i = 0; i < n; i++)
    begins[(from[i].rank >> shift) % ROUND_NVALUES + 1]++;
  for (size_t i = 0; i < ROUND_NVALUES; i++)
    begins[i + 1] += begins[i];
  for (size_t i = 0; i < n; i++)
    to[begins[(from[i].rank >> shift) % ROUND_NVALUES]++] = from[i];
}

static void list_keys(struct job *job)
{
  if (job->is_listed)
    return;
  rank_keys(job);
  job->is_listed = true;
  for (size_t i = 0; i < job->keys.n; i++)
    job->order[i] = (struct place){job->ranks[i], (uint32_t)i};
}

static void order_keys(struct job *job)
{
  if (job->is_ordered)
    return;
  list_keys(job);
  job->is_ordered = true;
  const size_t n = job->keys.n;
  order_round(job->order, n, 0, job->half_ordered);
  order_round(job->half_ordered, n, ROUND_NBITS, job->order);
}

/* How many keys of the chunk have a rank below this one. */
static size_t count_below(const struct job *job, uint32_t rank)
{
  size_t first = 0, end = job->keys.n;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (job->order[middle].rank < rank)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static bool is_in_range(const struct job *job, const struct asked_table *asked,
                        const struct place *place)
{
  if (!asked->table->has_range || (place->rank > asked->smallest && place->rank < asked->largest))
    return true;
  if (place->rank < asked->smallest || place->rank > asked->largest)
    return false;
  const lanebloom_slice key = keys_at(&job->keys, place->key);
  return lanebloom_key_compare(key, asked->table->smallest) >= 0 &&
         lanebloom_key_compare(key, asked->table->largest) <= 0;
}

/* Where in the order a table's keys are, but for some at either end. */
struct span {
  size_t first, end;
};

static struct span span_of(const struct job *job, const struct asked_table *asked)
{
  if (!asked->table->has_range || !job->is_ordered)
    return (struct span){0, job->keys.n};
  return (struct span){count_below(job, asked->smallest), count_below(job, asked->largest + 1)};
}

/* Are all keys of the chunk certainly within the table's range, or all without? */
static bool is_all_inside(struct job *job, const struct asked_table *asked)
{
  if (!asked->table->has_range)
    return true;
  rank_keys(job);
  return job->least_rank > asked->smallest && job->most_rank < asked->largest;
}

static bool is_all_outside(struct job *job, const struct asked_table *asked)
{
  if (!asked->table->has_range)
    return false;
  rank_keys(job);
  return job->most_rank < asked->smallest || job->least_rank > asked->largest;
}

/* ---- All keys of a chunk ---- */

static void screen_all(struct job *job, const struct asked_table *asked, uint8_t *hits)
{
  const size_t n = job->keys.n;
  if (!asked->table->is_asked) {
    hits_set(hits, n);
    return;
  }
  ask(job, asked->question);
  lanebloom_filter_screen_hashes(asked->table->filters[0], asked->question->hashes, n, hits);
  if (asked->question->has_unasked)
    add_hits(hits, asked->question->unasked, hits_nbytes(n));
}

static void clear_outside(const struct job *job, const struct asked_table *asked, struct span span,
                          uint8_t *hits)
{
  for (size_t i = 0; i < span.first; i++)
    clear_bit(hits, job->order[i].key);
  for (size_t i = span.end; i < job->keys.n; i++)
    clear_bit(hits, job->order[i].key);
  for (size_t i = span.first; i < span.end; i++) {
    if (job->order[i].rank > asked->smallest)
      break;
    if (!is_in_range(job, asked, &job->order[i]))
      clear_bit(hits, job->order[i].key);
  }
  for (size_t i = span.end; i > span.first; i--) {
    if (job->order[i - 1].rank < asked->largest)
      break;
    if (!is_in_range(job, asked, &job->order[i - 1]))
      clear_bit(hits, job->order[i - 1].key);
  }
}

/* ---- Some of them ---- */

static void choose_members(struct job *job, const struct asked_table *asked, struct span span)
{
  size_t n = 0;
  for (size_t i = span.first; i < span.end; i++)
    if (is_in_range(job, asked, &job->order[i]))
      job->members[n++] = job->order[i].key;
  job->nmembers = n;
}

/* Members first .. first + n have these hits. */
static void spread_hits(const struct job *job, size_t first, size_t n, const uint8_t *member_hits,
                        uint8_t *hits)
{
  for (size_t byte = 0; byte < hits_nbytes(n); byte++)
    for (unsigned left = member_hits[byte]; left; left &= left - 1)
      set_bit(hits, job->members[first + byte * 8 + (unsigned)__builtin_ctz(left)]);
}

static void gather_hashes(struct job *job, const struct question *question)
{
  if (lanebloom_format_hash_size(question->hash) == sizeof(uint64_t)) {
    for (size_t i = 0; i < job->nmembers; i++)
      job->hashes[i] = question->hashes[job->members[i]];
    return;
  }
  const uint32_t *from = (const void *)question->hashes;
  uint32_t *to = (void *)job->hashes;
  for (size_t i = 0; i < job->nmembers; i++)
    to[i] = from[job->members[i]];
}

/* Of the first filter whose separator is no less, or of the last one. */
static size_t filter_of_member(const struct job *job, const lanebloom_table *table, size_t member,
                               size_t near)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
    return 0;
  const size_t found =
      lanebloom_index_find(&table->index, keys_at(&job->keys, job->members[member]), near);
  return found < table->index.n ? found : table->index.n - 1;
}

/* By hashes: one filter, or one for each part of the range. */
static void screen_members(struct job *job, const struct asked_table *asked, uint8_t *hits)
{
  const lanebloom_table *table = asked->table;
  const struct question *question = asked->question;
  const size_t hash_nbytes = lanebloom_format_hash_size(question->hash);
  ask(job, asked->question);
  gather_hashes(job, question);
  size_t filter = 0;
  for (size_t first = 0, end; first < job->nmembers; first = end) {
    filter = filter_of_member(job, table, first, filter);
    if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
      end = job->nmembers;
    else
      for (end = first + 1;
           end < job->nmembers && filter_of_member(job, table, end, filter) == filter;)
        end++;
    if (table->filters[filter])
      lanebloom_filter_screen_hashes(table->filters[filter],
                                     (const uint8_t *)job->hashes + first * hash_nbytes,
                                     end - first, job->hits);
    else
      hits_set(job->hits, end - first);
    spread_hits(job, first, end - first, job->hits, hits);
  }
  for (size_t i = 0; question->has_unasked && i < job->nmembers; i++)
    if (has_bit(question->unasked, job->members[i]))
      set_bit(hits, job->members[i]);
}

/* By the data block that a member would be in. */
static void screen_members_by_offset(struct job *job, const struct asked_table *asked,
                                     uint8_t *hits)
{
  const lanebloom_table *table = asked->table;
  size_t n = 0, block = 0;
  for (size_t i = 0; i < job->nmembers; i++) {
    lanebloom_slice key = keys_at(&job->keys, job->members[i]);
    block = lanebloom_index_find(&table->index, key, block);
    if (block == table->index.n || !extract(&table->extractor, &key)) {
      set_bit(hits, job->members[i]);
      continue;
    }
    job->members[n] = job->members[i];
    job->slices[n] = key;
    job->offsets[n++] = table->index.handles[block].offset;
  }
  job->nmembers = n;
  const lanebloom_keys keys = lanebloom_keys_slices(job->slices, n);
  lanebloom_filter_block_screen(table->of_offsets[0], job->offsets, &keys, job->hits);
  if (table->of_offsets[1]) {
    lanebloom_filter_block_screen(table->of_offsets[1], job->offsets, &keys, job->more_hits);
    add_hits(job->hits, job->more_hits, hits_nbytes(n));
  }
  spread_hits(job, 0, n, job->hits, hits);
}

/* ---- A chunk and a table ---- */

static bool is_asked_by_place(const lanebloom_table *table)
{
  return table->is_asked && (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK ||
                             table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED);
}

static void screen_table(struct job *job, const struct asked_table *asked, uint8_t *hits)
{
  const lanebloom_table *table = asked->table;
  const size_t n = job->keys.n;
  if (table->is_empty || is_all_outside(job, asked)) {
    memset(hits, 0, hits_nbytes(n));
    return;
  }
  if (!is_asked_by_place(table) && is_all_inside(job, asked)) {
    screen_all(job, asked, hits);
    return;
  }
  if (n * job->ntables >= MIN_ORDERED_NPAIRS)
    order_keys(job);
  else
    list_keys(job);
  const struct span span = span_of(job, asked);
  if (!is_asked_by_place(table) && job->is_ordered && span.end - span.first > n - n / 4) {
    screen_all(job, asked, hits);
    clear_outside(job, asked, span, hits);
    return;
  }
  memset(hits, 0, hits_nbytes(n));
  choose_members(job, asked, span);
  if (table->is_asked && table->kind == LANEBLOOM_TABLE_FILTER_BLOCK)
    screen_members_by_offset(job, asked, hits);
  else if (table->is_asked)
    screen_members(job, asked, hits);
  else
    for (size_t i = 0; i < job->nmembers; i++)
      set_bit(hits, job->members[i]);
}

static size_t screen_chunk(struct job *job, const lanebloom_keys *keys, size_t first, uint8_t *any,
                           uint8_t *const *bitmaps, size_t *counts)
{
  uint8_t of_any[CHUNK_NKEYS / 8], of_table[CHUNK_NKEYS / 8];
  job->keys = lanebloom_keys_part(keys, first, CHUNK_NKEYS);
  job->is_ranked = job->is_listed = job->is_ordered = false;
  for (struct question *question = job->questions; question; question = question->next)
    question->is_ready = false;
  const size_t nbytes = hits_nbytes(job->keys.n);
  memset(of_any, 0, nbytes);
  for (size_t i = 0; i < job->ntables; i++) {
    uint8_t *hits = bitmaps && bitmaps[i] ? bitmaps[i] + first / 8 : of_table;
    screen_table(job, &job->tables[i], hits);
    add_hits(of_any, hits, nbytes);
    if (counts)
      counts[i] += hits_count(hits, nbytes);
  }
  if (any)
    memcpy(any + first / 8, of_any, nbytes);
  return hits_count(of_any, nbytes);
}

/* ---- Calls ---- */

/* Where memory is short: every key may be in every table. */
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

static bool needs_question(const lanebloom_table *table)
{
  return table->is_asked && table->kind != LANEBLOOM_TABLE_FILTER_BLOCK;
}

/* Few keys get little of it: single ones are asked for, too. The widest come first. */
static bool make_room(struct job *job)
{
  const size_t n = job->max_nkeys;
  const size_t key_nbytes = sizeof *job->slices + sizeof *job->hashes + sizeof *job->offsets +
                            sizeof *job->order + sizeof *job->half_ordered + sizeof *job->ranks +
                            sizeof *job->members;
  job->room = malloc(n * key_nbytes + 2 * hits_nbytes(n));
  if (!job->room)
    return false;
  job->slices = job->room;
  job->hashes = (uint64_t *)(job->slices + n);
  job->offsets = job->hashes + n;
  job->order = (struct place *)(job->offsets + n);
  job->half_ordered = job->order + n;
  job->ranks = (uint32_t *)(job->half_ordered + n);
  job->members = job->ranks + n;
  job->hits = (uint8_t *)(job->members + n);
  job->more_hits = job->hits + hits_nbytes(n);
  return true;
}

/* false: memory is short. */
static bool begin(struct job *job, const lanebloom_table *const *tables, size_t ntables,
                  size_t nkeys)
{
  *job = (struct job){.ntables = ntables,
                      .max_nkeys = nkeys < CHUNK_NKEYS ? (nkeys + 7) / 8 * 8 : CHUNK_NKEYS};
  job->tables = calloc(ntables, sizeof *job->tables);
  if (!job->tables || !make_room(job))
    return false;
  for (size_t i = 0; i < ntables; i++) {
    job->tables[i].table = tables[i];
    if (needs_question(tables[i]) && !find_question(job, &job->tables[i]))
      return false;
  }
  find_ranks_of_tables(job);
  return true;
}

static void end(struct job *job)
{
  for (struct question *question = job->questions, *next; question; question = next) {
    next = question->next;
    free(question);
  }
  free(job->tables);
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
    for (size_t first = 0; first < keys->n; first += CHUNK_NKEYS)
      count += screen_chunk(&job, keys, first, any, bitmaps, counts);
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
