/* An exact set of keys. Its hash table uses open addressing and is at most two thirds full. The
 * hash function of the filter is public, so the table uses another function with a secret. Because
 * of the secret, an attacker cannot choose keys that share a slot. If a slot may match, the key
 * itself is compared, so the result is exact.
 * SPDX-License-Identifier: MIT */
#include "key_set.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../../src/common/problem.h"
#include "../base/bits.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/inputs.h"
#include "../input/records.h"
#include "../system/process.h"
#include "key_file.h"

static const lanebloom_format KEY_FORMAT = LANEBLOOM_ROCKSDB_LOCAL;
enum { BITS_PER_KEY = 10 };

/* The table consists of regions of this many slots or fewer. A region stays in the L2 cache while
 * it is filled. */
enum { REGION_NSLOTS = 24576 };

/* A slot is 0 if it is empty. Otherwise its lower bits are the position of a key plus 1, and its
 * other bits are the tag of this key: bits of its hash from which its first slot in the region
 * follows. Positions take as many bits as the size of the keys requires, but at most this many. */
enum { POSITION_MAX_NBITS = 48 };

/* Says where a key belongs in the table. */
struct place {
  size_t region; /* the first slot of the region */
  uint64_t tag;
};

static struct place place_of(const struct key_set *set, uint64_t hash)
{
  const unsigned __int128 scaled = (unsigned __int128)hash * set->nregions;
  return (struct place){(size_t)(scaled >> 64) * set->region_nslots,
                        (uint64_t)scaled & ~set->position_mask};
}

static bool may_be(const struct key_set *set, uint64_t slot, uint64_t tag)
{
  return (slot & ~set->position_mask) == tag;
}

static size_t position_of(const struct key_set *set, uint64_t slot)
{
  return (size_t)(slot & set->position_mask) - 1;
}

static uint64_t hash_key(const struct key_set *set, lanebloom_slice key)
{
  return XXH3_64bits_withSecret(key.data, key.size, set->secret, sizeof set->secret);
}

/* Returns the slot in which the search begins. It is the tag, scaled to the number of slots. */
static size_t first_slot(const struct key_set *set, struct place place)
{
  return place.region + (size_t)((unsigned __int128)place.tag * set->region_nslots >> 64);
}

static size_t next_slot(const struct key_set *set, struct place place, size_t slot)
{
  return slot + 1 < place.region + set->region_nslots ? slot + 1 : place.region;
}

/* Returns the key that begins at this position of the keys. */
static lanebloom_slice key_at(const struct key_set *set, size_t position)
{
  const char *key = set->keys.data + position;
  if (set->is_packed) {
    size_t nbytes;
    memcpy(&nbytes, key - sizeof nbytes, sizeof nbytes);
    return (lanebloom_slice){key, nbytes};
  }
  if (set->syntax.width)
    return (lanebloom_slice){key, set->syntax.width};
  const size_t nleft = set->keys.nbytes - position;
  const char *end = memchr(key, set->syntax.terminator, nleft);
  size_t nbytes = end ? (size_t)(end - key) : nleft;
  nbytes -= set->syntax.crlf && nbytes > 0 && key[nbytes - 1] == '\r';
  return (lanebloom_slice){key, nbytes};
}

/* Returns the first slot, from this one on, that is empty or may refer to a key with this tag. */
static size_t find_candidate(const struct key_set *set, struct place place, size_t slot)
{
  while (set->slots[slot] && !may_be(set, set->slots[slot], place.tag))
    slot = next_slot(set, place, slot);
  return slot;
}

/* Returns the slot that refers to the key. If there is none, returns the empty slot in which the
 * key belongs. The search begins in the slot that find_candidate() returned. */
static size_t find_slot(const struct key_set *set, struct place place, size_t slot,
                        lanebloom_slice key)
{
  for (; set->slots[slot]; slot = find_candidate(set, place, next_slot(set, place, slot))) {
    const lanebloom_slice other = key_at(set, position_of(set, set->slots[slot]));
    if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
      break;
  }
  return slot;
}

/* ---- The table ---- */

/* The table while keys are added. The entries of a region are the slots of its keys, not in their
 * final order. They are at the beginning of the region until build_region() moves them. */
struct table_builder {
  struct key_set *set;
  lanebloom_builder *filter;
  size_t *nentries;  /* the number of entries of each region */
  uint64_t *entries; /* room for the entries of a region */
};

/* Moves the entries of a region to their slots, and leaves out keys that are there already. */
static void build_region(struct table_builder *builder, size_t i)
{
  const struct key_set *set = builder->set;
  const size_t region = i * set->region_nslots, n = builder->nentries[i];
  memcpy(builder->entries, &set->slots[region], n * sizeof *set->slots);
  memset(&set->slots[region], 0, n * sizeof *set->slots);
  builder->nentries[i] = 0;
  for (size_t j = 0; j < n; j++) {
    const uint64_t entry = builder->entries[j];
    const struct place place = {region, entry & ~set->position_mask};
    size_t slot = find_candidate(set, place, first_slot(set, place));
    if (set->slots[slot])
      slot = find_slot(set, place, slot, key_at(set, position_of(set, entry)));
    if (set->slots[slot])
      continue;
    set->slots[slot] = entry;
    if (++builder->nentries[i] == set->region_nslots) /* a search ends at an empty slot */
      die(NULL, "too many keys have similar hashes; hashes are random, so run the command again");
  }
}

/* Makes room in a region that is full because keys repeat. */
static void drop_repeated_keys(struct table_builder *builder, size_t i)
{
  uint64_t *slots = &builder->set->slots[i * builder->set->region_nslots];
  size_t n = 0;
  build_region(builder, i);
  for (size_t slot = 0; slot < builder->set->region_nslots; slot++) {
    const uint64_t entry = slots[slot];
    slots[slot] = 0;
    if (entry)
      slots[n++] = entry;
  }
}

/* Adds the keys of a batch to their regions and to the filter. */
static void add_batch(struct table_builder *builder, const struct batch *batch)
{
  struct key_set *set = builder->set;
  for (size_t i = 0; i < batch->n; i++) {
    const lanebloom_slice key = batch_key(batch, i);
    const size_t position = (size_t)((const char *)key.data - set->keys.data);
    const struct place place = place_of(set, hash_key(set, key));
    const size_t region = place.region / set->region_nslots;
    if (builder->nentries[region] == set->region_nslots)
      drop_repeated_keys(builder, region);
    uint64_t *entry = &set->slots[place.region + builder->nentries[region]++];
    *entry = place.tag | (position + 1);
    __builtin_prefetch(entry + 64 / sizeof *entry, 1);
  }
  const lanebloom_status status = lanebloom_builder_add(builder->filter, &batch->keys);
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
}

/* Makes a batch of the packed keys that begin at *position, and moves *position behind them.
 * Returns false if no keys are left. */
static bool cut_packed(const struct key_set *set, size_t *position, lanebloom_slice *keys,
                       struct batch *batch)
{
  size_t n = 0;
  for (; n < BATCH_NRECORDS && *position < set->keys.nbytes; n++) {
    keys[n] = key_at(set, *position + sizeof keys[n].size);
    *position += sizeof keys[n].size + keys[n].size;
  }
  *batch = (struct batch){.keys = lanebloom_keys_slices(keys, n), .n = n, .slices = keys};
  return n > 0;
}

static uint64_t add_packed(const struct key_set *set, struct table_builder *builder)
{
  lanebloom_slice keys[BATCH_NRECORDS];
  struct batch batch;
  uint64_t nkeys = 0;
  for (size_t position = 0; cut_packed(set, &position, keys, &batch); nkeys += batch.n)
    if (builder)
      add_batch(builder, &batch);
  return nkeys;
}

/* If no terminator follows the last key, makes a batch of this key. Otherwise returns false. */
static bool cut_tail(const struct key_set *set, size_t nwhole, lanebloom_slice *key,
                     struct batch *batch)
{
  if (nwhole == set->keys.nbytes)
    return false;
  const bool has_bom = nwhole == 0 && may_have_bom(&set->syntax);
  *key = key_at(set, nwhole + (has_bom ? count_bom(set->keys.data, set->keys.nbytes) : 0));
  *batch = (struct batch){.keys = lanebloom_keys_slices(key, 1), .n = 1, .slices = key};
  return true;
}

/* Cuts the keys. If there is a builder, adds the keys to the table and the filter. Returns the
 * number of keys. */
static uint64_t cut_keys(struct key_set *set, struct table_builder *builder)
{
  static struct cutter cutter;
  if (set->is_packed)
    return add_packed(set, builder);
  const size_t nwhole =
      whole_nbytes(&set->syntax, set->keys.data, set->keys.nbytes, set->keys.nbytes, false);
  struct batch batch;
  lanebloom_slice tail;
  cutter_begin(&cutter, &set->syntax, set->keys.data, nwhole, true);
  while (cutter_next(&cutter, &batch))
    if (builder)
      add_batch(builder, &batch);
  set->returns = cutter.returns;
  const bool has_tail = cut_tail(set, nwhole, &tail, &batch);
  if (has_tail && builder)
    add_batch(builder, &batch);
  return cutter.nrecords + has_tail;
}

static void create_table(struct key_set *set, struct table_builder *builder)
{
  const uint64_t nkeys = set->nkeys, nslots = nkeys + nkeys / 2 + 1;
  char size[SIZE_TEXT_NBYTES];
  set->nregions = (size_t)(nslots / REGION_NSLOTS + 1);
  set->region_nslots = (size_t)(nslots / set->nregions + 1);
  if (nslots <= UINT64_MAX / 2 / sizeof *set->slots)
    set->table = lanebloom_memory_create(set->nregions * set->region_nslots * sizeof *set->slots);
  set->slots = (uint64_t *)(void *)set->table.bytes;
  builder->nentries = calloc(set->nregions, sizeof *builder->nentries);
  builder->entries = calloc(set->region_nslots, sizeof *builder->entries);
  const lanebloom_status status =
      lanebloom_builder_create(KEY_FORMAT, BITS_PER_KEY, nkeys, &builder->filter);
  if (!set->slots || !builder->nentries || !builder->entries || status == LANEBLOOM_ERR_MEMORY)
    die(NULL,
        "out of memory: %" PRIu64
        " keys need about %s for their table and filter; `lanebloom build' "
        "makes only a filter, for `lanebloom screen'",
        nkeys,
        size_text(size, (double)nslots * sizeof *set->slots + (double)nkeys * BITS_PER_KEY / 8));
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
}

/* Builds the table and the filter. */
static void build_table(struct key_set *set)
{
  struct table_builder builder = {.set = set};
  create_table(set, &builder);
  cut_keys(set, &builder);
  for (size_t i = 0; i < set->nregions; i++)
    build_region(&builder, i);
  const lanebloom_status status = lanebloom_builder_finish(builder.filter, &set->filter);
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
  lanebloom_builder_free(builder.filter);
  free(builder.nentries);
  free(builder.entries);
}

void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages)
{
  *set = (struct key_set){.syntax = *syntax};
  if (!fill_randomly(set->secret, sizeof set->secret))
    die(NULL, "random bytes: %s", strerror(errno));
  read_key_file(set, path, messages);

  const int position_nbits = 64 - __builtin_clzll(set->keys.nbytes + 1);
  if (position_nbits > POSITION_MAX_NBITS)
    die(input_name(path), "expected less than 2^%d bytes of keys, found %zu", POSITION_MAX_NBITS,
        set->keys.nbytes);
  set->position_mask = ((uint64_t)1 << position_nbits) - 1;
  set->nkeys = cut_keys(set, NULL);
  if (set->nkeys == 0)
    complain(input_name(path), "warning: found no keys: no record matches");
  if (set->returns == RETURNS_SOME)
    complain(input_name(path), SOME_RETURNS_TEXT);
  build_table(set);
}

bool key_set_begins_with_header(const struct key_set *set, const struct field_syntax *fields)
{
  struct field_syntax found = *fields;
  char problem[1];
  if (!has_header(fields) || set->is_packed || set->keys.nbytes == 0)
    return false;
  const char *end = memchr(set->keys.data, set->syntax.terminator, set->keys.nbytes);
  return end && find_fields(&found, set->keys.data, (size_t)(end - set->keys.data), problem,
                            sizeof problem);
}

/* If the keys are packed, the byte may also be found in the size of a key, so the result true may
 * be wrong. */
bool key_set_has_byte(const struct key_set *set, char byte)
{
  return memchr(set->keys.data, byte, set->keys.nbytes) != NULL;
}

void key_set_free(struct key_set *set)
{
  lanebloom_filter_free(set->filter);
  lanebloom_memory_free(&set->table);
  lanebloom_memory_free(&set->keys.memory);
}

/* ---- Queries ---- */

/* memchr() reads this many bytes at once, half of the time from two cache lines. */
enum { MEMCHR_NBYTES = 32 };

/* Keys that the filter passes are handled in groups, and each group in three loops, so that cache
 * misses overlap. The first loop prefetches slots, the second finds the slots that may refer to the
 * keys and prefetches what they refer to, and the third compares keys. What was prefetched for a
 * group stays in the cache meanwhile. */
enum { GROUP_NKEYS = 256 };

struct group {
  size_t n;
  uint16_t records[GROUP_NKEYS];
  uint64_t hashes[GROUP_NKEYS];
  size_t slots[GROUP_NKEYS];
};

/* Adds a record of a batch, and prefetches the slot of its key. */
static void add_to_group(const struct key_set *set, const struct batch *batch, size_t record,
                         struct group *group)
{
  const uint64_t hash = hash_key(set, batch_key(batch, record));
  const size_t slot = first_slot(set, place_of(set, hash));
  __builtin_prefetch(&set->slots[slot]);
  group->records[group->n] = (uint16_t)record;
  group->hashes[group->n] = hash;
  group->slots[group->n++] = slot;
}

/* Empties the group. Returns how many of its keys are in the set, and clears the bits of the
 * others. */
static size_t match_group(const struct key_set *set, const struct batch *batch, struct group *group,
                          uint8_t *bitmap)
{
  size_t nfound = 0;
  for (size_t i = 0; i < group->n; i++) {
    group->slots[i] = find_candidate(set, place_of(set, group->hashes[i]), group->slots[i]);
    const uint64_t slot = set->slots[group->slots[i]];
    if (slot) {
      const char *key = set->keys.data + position_of(set, slot);
      __builtin_prefetch(key);
      __builtin_prefetch(key + MEMCHR_NBYTES - 1);
    }
  }
  for (size_t i = 0; i < group->n; i++) {
    const size_t record = group->records[i];
    const struct place place = place_of(set, group->hashes[i]);
    if (set->slots[find_slot(set, place, group->slots[i], batch_key(batch, record))])
      nfound++;
    else
      bitmap[record / 8] &= (uint8_t) ~(1 << record % 8);
  }
  group->n = 0;
  return nfound;
}

size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap)
{
  struct group group;
  size_t nfound = 0;
  group.n = 0; /* its other members need no values */
  lanebloom_filter_screen(set->filter, &batch->keys, bitmap);
  size_t i = 0;
  do {
    for (i = find_bit(bitmap, i, batch->n, true); i < batch->n && group.n < GROUP_NKEYS;
         i = find_bit(bitmap, i + 1, batch->n, true))
      add_to_group(set, batch, i, &group);
    nfound += match_group(set, batch, &group, bitmap);
  } while (i < batch->n);
  return nfound;
}
