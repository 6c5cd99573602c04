/* Stores the keys of write-ahead logs as hashes, so that keys can be looked up in the logs. The
 * memory that the hashes take has a limit that does not depend on the number of keys in the logs.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_KEY_HASHES_H
#define LANEBLOOM_TABLES_KEY_HASHES_H

#include <lanebloom.h>

/* The format whose hash is used. Its hash has 64 bits, the most of all formats, so different keys
 * hardly ever have the same hash. */
#define KEY_HASH_FORMAT LANEBLOOM_ROCKSDB_LOCAL

/* The size of the filter that holds the keys beyond the limit. The filter takes 80 MiB, and has a
 * false-positive rate of 1 % when it holds OTHERS_NKEYS keys. */
enum { OTHERS_BITS_PER_KEY = 10, OTHERS_NKEYS = 64 << 20 };

/* An entry of a log, with the hash of its key in place of the key. */
struct hashed_entry {
  uint64_t hash;
  uint32_t family;
  uint32_t log : 31; /* index of the log */
  uint32_t is_prepared : 1;
};

/* Collects the entries of logs. Up to max_nentries entries are stored. When more entries come,
 * duplicates are dropped. If dropping them does not free enough room, the keys of the entries
 * beyond the limit are added to one filter for all logs and families. */
struct key_collector {
  struct hashed_entry *entries;
  size_t n, room, max_nentries;
  lanebloom_builder *others; /* the filter; NULL until a key is added to it */
  uint64_t nothers;

  /* private: keys that wait until they are hashed together */
  uint8_t *bytes;
  size_t nbytes, bytes_room, nkeys;
  uint64_t *ends;                /* key i is bytes[ends[i] .. ends[i + 1]) */
  struct hashed_entry *unhashed; /* the entries of these keys */
};

/* Prepares an empty collector. If max_nentries is 0, the limit is the default, which takes 64 MiB.
 * Errors: MEMORY. */
lanebloom_status lanebloom_collector_init(struct key_collector *collector, size_t max_nentries);
void lanebloom_collector_free(struct key_collector *collector);

/* Adds a key, whose bytes are copied. entry: its members are set, except the hash, which is
 * computed later. Errors: MEMORY, KERNEL. */
lanebloom_status lanebloom_collector_add(struct key_collector *collector, lanebloom_slice key,
                                         struct hashed_entry entry);

/* Hashes all keys that were added but not hashed yet. Must be called before collector->entries is
 * read. Errors: MEMORY, KERNEL. */
lanebloom_status lanebloom_collector_flush(struct key_collector *collector);

/* A set of hashes that can be searched quickly. Hashes that begin with the same `nbits` bits form a
 * group. Each group is sorted. On average, a group has one to two hashes. */
struct hash_set {
  uint64_t *hashes;
  size_t n;
  uint64_t *starts; /* the beginning of each group, and the end of the last one */
  unsigned nbits;   /* the number of first bits that select the group */
};

/* Makes a set of n hashes, which are copied. A hash may occur several times. Errors: MEMORY. */
lanebloom_status lanebloom_hash_set_make(struct hash_set *set, const uint64_t *hashes, size_t n);
void lanebloom_hash_set_free(struct hash_set *set);

/* Sets bit i of hits if the set has hashes[i], and clears it if not. */
void lanebloom_hash_set_screen(const struct hash_set *set, const uint64_t *hashes, size_t n,
                               uint8_t *hits);

#endif
