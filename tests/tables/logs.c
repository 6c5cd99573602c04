/* Logs made by hand: how they are divided into fragments, where damage is found, and which keys are
 * collected.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/bytes.h"
#include "log_files.h"
#include "tables.h"
#include "tables/log.h"
#include "tables/write_log.h"

enum { NUMBER = 7, MAX_NBYTES = 4 * LOG_BLOCK_NBYTES };
enum { UNKNOWN = 12, SKIPPED = 200 }; /* types of fragments */

/* ---- Logs ---- */

static uint8_t file[MAX_NBYTES];
static size_t file_nbytes;
static lanebloom_engine engine = LANEBLOOM_ENGINE_ROCKSDB;

/* Appends a fragment. number: 0 if this type has none. */
static void add_fragment(unsigned type, uint32_t number, const void *content, size_t nbytes)
{
  file_nbytes += fragment_make(file + file_nbytes, type, number, content, nbytes);
}

/* Makes a batch that puts a key with a value of this size. Returns the size of the batch. */
static size_t make_batch(uint8_t *batch, const char *key, size_t value_nbytes)
{
  store_le64(batch, 1);
  store_le32(batch + 8, 1);
  uint8_t *to = batch + 12;
  *to++ = 1;
  to = put_varint(to, strlen(key));
  memcpy(to, key, strlen(key));
  to = put_varint(to + strlen(key), value_nbytes);
  memset(to, 'v', value_nbytes);
  return (size_t)(to - batch) + value_nbytes;
}

static void add_put(const char *key)
{
  uint8_t batch[100];
  add_fragment(FULL, 0, batch, make_batch(batch, key, 5));
}

/* Appends a fragment of Pebble. It states that nsynced bytes of the log are on disk. */
static void add_synced(unsigned part, uint32_t number, uint64_t nsynced, const void *content,
                       size_t nbytes)
{
  static uint8_t all[LOG_BLOCK_NBYTES];
  store_le64(all, nsynced);
  memcpy(all + sizeof nsynced, content, nbytes);
  add_fragment(SYNCED + part, number, all, sizeof nsynced + nbytes);
  uint8_t *fragment = file + file_nbytes - HEADER_NBYTES - sizeof number - sizeof nsynced - nbytes;
  fragment[AT_LENGTH] = (uint8_t)nbytes;
  fragment[AT_LENGTH + 1] = (uint8_t)(nbytes >> 8);
}

static void add_synced_put(uint64_t nsynced, const char *key)
{
  uint8_t batch[100];
  add_synced(FULL, NUMBER, nsynced, batch, make_batch(batch, key, 5));
}

/* Fills the rest of the block, except for nbytes. */
static void fill_block(size_t nbytes)
{
  static uint8_t batch[LOG_BLOCK_NBYTES];
  const size_t left = LOG_BLOCK_NBYTES - file_nbytes % LOG_BLOCK_NBYTES - nbytes - HEADER_NBYTES;
  enum { TYPICAL = 20000 }; /* its varint is as long as the varint of the value's size */
  const size_t other = make_batch(batch, "filler", TYPICAL) - TYPICAL;
  add_fragment(FULL, 0, batch, make_batch(batch, "filler", left - other));
}

static struct write_log read_file(size_t max_nentries, struct key_collector *keys)
{
  static const struct timestamps none;
  const struct input input = {.file = -1, .bytes = file, .nbytes = file_nbytes};
  struct write_log log = {.number = NUMBER};
  cr_assert(lanebloom_collector_init(keys, max_nentries) == LANEBLOOM_OK);
  cr_assert(lanebloom_write_log_read(&log, &input, engine, 0, &none, keys, &no_problem) ==
            LANEBLOOM_OK);
  return log;
}

static bool has_key(const struct key_collector *keys, const char *key)
{
  const lanebloom_slice slice = text(key);
  const lanebloom_keys one = lanebloom_keys_slices(&slice, 1);
  uint64_t hash;
  cr_assert(lanebloom_hash(KEY_HASH_FORMAT, &one, &hash) == LANEBLOOM_OK);
  for (size_t i = 0; i < keys->n; i++)
    if (keys->entries[i].hash == hash)
      return true;
  return false;
}

/* Checks which of these keys of one letter are there, how many spots are damaged, and whether the
 * end is torn. */
static void check_log(const char *what, const char *there, const char *absent, size_t ndamages,
                      bool is_torn)
{
  struct key_collector keys;
  struct write_log log = read_file(0, &keys);
  cr_assert(log.ndamages == ndamages && log.is_torn == is_torn, "%s: %zu damages, torn %d: %s",
            what, (size_t)log.ndamages, log.is_torn, log.damage);
  for (; *there; there++)
    cr_assert(has_key(&keys, (const char[]){*there, 0}), "%s: %c is lost", what, *there);
  for (; *absent; absent++)
    cr_assert(!has_key(&keys, (const char[]){*absent, 0}), "%s: %c is there", what, *absent);
  lanebloom_collector_free(&keys);
  lanebloom_write_log_free(&log);
  memset(file, 0, sizeof file);
  file_nbytes = 0;
}

Test(tables, logs_in_parts)
{
  static uint8_t batch[3 * LOG_BLOCK_NBYTES];
  add_put("a");
  const size_t nbytes = make_batch(batch, "b", 2 * LOG_BLOCK_NBYTES);
  const size_t first = LOG_BLOCK_NBYTES - HEADER_NBYTES - file_nbytes,
               middle = LOG_BLOCK_NBYTES - HEADER_NBYTES;
  add_fragment(FIRST, 0, batch, first);
  add_fragment(MIDDLE, 0, batch + first, middle);
  add_fragment(LAST, 0, batch + first + middle, nbytes - first - middle);
  add_put("c");
  check_log("three parts", "abc", "d", 0, false);

  const size_t small = make_batch(batch, "b", 5);
  fill_block(HEADER_NBYTES);
  add_fragment(FIRST, 0, batch, 0);
  add_fragment(LAST, 0, batch, small);
  check_log("an empty first part", "b", "", 0, false);
  fill_block(HEADER_NBYTES);
  add_fragment(FIRST, 0, batch, 0);
  add_put("c");
  check_log("an empty first part of an old LevelDB", "c", "b", 0, false);
  for (size_t left = 1; left < HEADER_NBYTES; left++) {
    fill_block(left);
    file_nbytes += left;
    add_put("c");
    check_log("a block with a short rest", "c", "", 0, false);
  }
  add_put("a");
  file_nbytes = LOG_BLOCK_NBYTES; /* fills with zeros */
  add_put("b");
  file_nbytes += 500;
  check_log("room that was reserved", "ab", "", 0, false);
  add_put("a");
  add_fragment(SKIPPED, 0, "text", 4);
  add_put("b");
  check_log("a type that may be skipped", "ab", "", 0, false);
}

Test(tables, logs_that_are_damaged)
{
  uint8_t batch[100];
  const size_t nbytes = make_batch(batch, "b", 5);
  add_put("a");
  const size_t begin = file_nbytes;
  add_put("b");
  add_put("c");
  file[begin]++;
  file_nbytes = LOG_BLOCK_NBYTES;
  add_put("d");
  check_log("a checksum", "ad", "bc", 1, false);

  add_put("a");
  add_fragment(FULL, 0, batch, nbytes);
  file_nbytes -= 3;
  check_log("a body that is cut", "a", "", 0, true);
  add_put("a");
  file_nbytes += 3;
  check_log("a header that is cut", "a", "", 0, true);
  add_put("a");
  add_fragment(FIRST, 0, batch, 10);
  check_log("a first part alone", "a", "b", 0, true);

  add_put("a");
  add_fragment(FIRST, 0, batch, 10);
  add_put("c");
  check_log("a record that does not end", "ac", "b", 1, false);
  add_put("a");
  add_fragment(MIDDLE, 0, batch, nbytes);
  add_fragment(LAST, 0, batch, nbytes);
  add_put("c");
  check_log("a record that does not begin", "ac", "b", 1, false);
  add_put("a");
  add_fragment(UNKNOWN, 0, batch, nbytes);
  add_put("c");
  check_log("a type that is not known", "a", "b", 1, false);
  add_put("a");
  add_fragment(FULL, 0, batch, 11);
  add_put("c");
  check_log("a batch without a header", "ac", "", 1, false);
  store_le32(batch + 8, 2);
  add_fragment(FULL, 0, batch, nbytes);
  check_log("a wrong number of entries", "b", "", 1, false);
  add_put("a");
  file[AT_LENGTH + 1] = 0xff;
  file_nbytes = LOG_BLOCK_NBYTES;
  add_put("b");
  check_log("a length beyond its block", "b", "a", 1, false);
}

Test(tables, logs_that_are_recycled)
{
  uint8_t batch[100], other[100];
  const size_t nbytes = make_batch(batch, "b", 5);
  add_fragment(RECYCLABLE_FULL, NUMBER, batch, nbytes);
  make_batch(other, "o", 5);
  add_fragment(RECYCLABLE_FULL, NUMBER - 1, other, nbytes);
  check_log("the rest of an old log", "b", "o", 0, false);
  add_fragment(RECYCLABLE_FULL, NUMBER, batch, nbytes);
  const size_t begin = file_nbytes;
  add_fragment(RECYCLABLE_FULL, NUMBER, other, nbytes);
  file[begin]++;
  check_log("bytes of an old log", "b", "o", 0, false);
  add_put("a");
  file[0]++;
  check_log("a log that is not recycled", "", "a", 1, false);
}

Test(tables, logs_of_pebble)
{
  static uint8_t batch[2 * LOG_BLOCK_NBYTES];
  enum { SYNCED_HEADER_NBYTES = HEADER_NBYTES + 12 };
  const size_t nbytes = make_batch(batch, "b", LOG_BLOCK_NBYTES);
  engine = LANEBLOOM_ENGINE_PEBBLE;
  add_synced_put(0, "a");
  const size_t first = LOG_BLOCK_NBYTES - SYNCED_HEADER_NBYTES - file_nbytes;
  add_synced(FIRST, NUMBER, 0, batch, first);
  add_synced(LAST, NUMBER, 0, batch + first, nbytes - first);
  add_synced_put(0, "c");
  check_log("two parts", "abc", "", 0, false);

  add_synced_put(0, "a");
  file[file_nbytes + AT_TYPE] = RECYCLABLE_FULL; /* has no checksum */
  store_le32(file + file_nbytes + HEADER_NBYTES, NUMBER + 1);
  file_nbytes += HEADER_NBYTES + sizeof(uint32_t);
  add_synced_put(LOG_BLOCK_NBYTES, "o");
  check_log("a log that is closed", "a", "o", 0, false);
  add_synced_put(0, "a");
  make_batch(batch, "o", 5);
  add_synced(FULL, NUMBER - 1, LOG_BLOCK_NBYTES, batch, 30);
  check_log("the rest of an old log", "a", "o", 0, true);
  add_fragment(RECYCLABLE_FULL, NUMBER, batch, make_batch(batch, "a", 5));
  add_fragment(RECYCLABLE_FULL, NUMBER, batch, 30);
  file[file_nbytes - 1]++;
  file_nbytes = LOG_BLOCK_NBYTES;
  add_fragment(RECYCLABLE_FULL, NUMBER, batch, make_batch(batch, "b", 5));
  check_log("what an older Pebble does not know of", "a", "b", 0, true);
  for (unsigned was_synced = 0; was_synced < 2; was_synced++) {
    const char *there = was_synced ? "ad" : "a", *absent = was_synced ? "bc" : "bcd";
    add_synced_put(0, "a");
    const size_t begin = file_nbytes;
    add_synced_put(0, "b");
    add_synced_put(0, "c");
    file[begin]++;
    file_nbytes = LOG_BLOCK_NBYTES;
    add_synced_put(begin + (was_synced ? 1 : 0), "d");
    check_log("a checksum", there, absent, was_synced, !was_synced);
    add_synced_put(0, "a");
    const size_t end = file_nbytes;
    file_nbytes = LOG_BLOCK_NBYTES; /* fills with zeros */
    add_synced_put(end + (was_synced ? 1 : 0), "d");
    check_log("zeros", there, absent, was_synced, !was_synced);
  }
  add_synced_put(0, "a");
  add_fragment(SYNCED + LAST + 1, 0, batch, 30);
  file_nbytes = LOG_BLOCK_NBYTES;
  add_synced_put(LOG_BLOCK_NBYTES, "b");
  check_log("a type that is not known", "ab", "", 1, false);
}

/* Covers tables that logs name, and a kind of entry that another version of Pebble may have. */
Test(tables, batches_of_pebble)
{
  static const char ingested[] = "\1\0\0\0\0\0\0\0\3\0\0\0"
                                 "\26\2\254\2"
                                 "\32\1\7\2xy" /* with blob files */
                                 "\26\1\6";
  static const char unknown[] = "\1\0\0\0\0\0\0\0\1\0\0\0"
                                "\31\1k";
  static const char others[] = "\1\0\0\0\0\0\0\0\6\0\0\0"
                               "\27\1d\1\5"
                               "\17\1e\1f"
                               "\25\1g\1h"
                               "\30\1i\1j"
                               "\3\1k"
                               "\1\1a\1v"
                               "\2\1b\1v";
  struct key_collector keys;
  engine = LANEBLOOM_ENGINE_PEBBLE;
  add_synced(FULL, NUMBER, 0, others, sizeof others - 1);
  check_log("all kinds", "ab", "degik", 0, false);
  add_synced(FULL, NUMBER, 0, ingested, sizeof ingested - 1);
  add_synced(FULL, NUMBER, 0, ingested, sizeof ingested - 2); /* ends too early */
  add_synced(FULL, NUMBER, 0, unknown, sizeof unknown - 1);
  struct write_log log = read_file(0, &keys);
  cr_assert(log.ntables == 3 && log.tables[0] == 300 && log.tables[1] == 7 && log.tables[2] == 6);
  cr_assert(log.ndamages == 2 && log.nentries == 5);
  lanebloom_collector_free(&keys);
  lanebloom_write_log_free(&log);
  file_nbytes = 0;
  add_synced(FULL, NUMBER, 0, unknown, sizeof unknown - 1);
  log = read_file(0, &keys);
  cr_assert_str_eq(log.damage, "expected an entry of a known kind, found 25");
  lanebloom_collector_free(&keys);
}

/* If the log states so, keys end in a time. */
Test(tables, logs_with_times)
{
  uint8_t batch[100];
  add_fragment(TIMESTAMPS, 0, "\0\0\0\0\3\0", 6);
  add_fragment(FULL, 0, batch, make_batch(batch, "a123", 5));
  check_log("times", "a", "", 0, false);
}

/* ---- Keys ---- */

Test(tables, keys_that_are_too_many)
{
  enum { NKEYS = 300, MAX_NENTRIES = 50 };
  struct key_collector keys;
  lanebloom_filter *filter;
  char key[20];
  size_t nlost = 0;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < NKEYS; i++) {
      snprintf(key, sizeof key, "key%d", i);
      add_put(key);
    }
  cr_assert(read_file(MAX_NENTRIES, &keys).ndamages == 0);
  cr_assert(keys.n == MAX_NENTRIES && keys.nothers == 2 * NKEYS - MAX_NENTRIES);
  cr_assert(lanebloom_builder_finish(keys.others, &filter) == LANEBLOOM_OK);
  for (int i = 0; i < NKEYS; i++) {
    snprintf(key, sizeof key, "key%d", i);
    nlost += !has_key(&keys, key) && !lanebloom_filter_may_contain(filter, key, strlen(key));
  }
  cr_assert(nlost == 0);
  lanebloom_filter_free(filter);
  lanebloom_collector_free(&keys);

  file_nbytes = 0; /* a new log with few keys, many times each */
  for (int i = 0; i < NKEYS; i++)
    add_put(i % 2 ? "a" : "b");
  read_file(MAX_NENTRIES, &keys);
  cr_assert(keys.n <= MAX_NENTRIES && !keys.others && has_key(&keys, "a") && has_key(&keys, "b"));
  lanebloom_collector_free(&keys);
}

Test(tables, sets_of_hashes)
{
  enum { MAX_N = 3000 };
  static uint64_t hashes[MAX_N], absent[MAX_N];
  uint8_t hits[(MAX_N + 7) / 8];
  struct rng rng = rng_start(1);
  for (size_t n = 0; n <= MAX_N; n = n < 10 ? n + 1 : 3 * n) {
    for (size_t i = 0; i < n; i++) {
      hashes[i] = i % 3 ? rng_next(&rng) : UINT64_MAX - i % 5; /* makes the last group large */
      absent[i] = (uint64_t)i << 10;
    }
    struct hash_set set;
    cr_assert(lanebloom_hash_set_make(&set, hashes, n) == LANEBLOOM_OK);
    lanebloom_hash_set_screen(&set, hashes, n, hits);
    for (size_t i = 0; i < n; i++)
      cr_assert(has_bit(hits, i), "hash %zu of %zu", i, n);
    lanebloom_hash_set_screen(&set, absent, n, hits);
    for (size_t i = 0; i < n; i++)
      cr_assert(!has_bit(hits, i), "no hash %zu of %zu", i, n);
    lanebloom_hash_set_free(&set);
  }
}
