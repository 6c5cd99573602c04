/* The keys of logs, stored as hashes. The memory is bounded, however many keys there are.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_KEY_HASHES_H
#define LANEBLOOM_TABLES_KEY_HASHES_H

#include <lanebloom.h>

/* The format whose hash is used: the one with the most bits. */
#define KEY_HASH_FORMAT LANEBLOOM_ROCKSDB_LOCAL

/* The filter for keys beyond the limit: 80 MiB, with a false-positive rate of 1 % at this number of
 * keys. */
enum { OTHERS_BITS_PER_KEY = 10, OTHERS_NKEYS = 64 << 20 };

/* An entry of a log. */
struct hashed_entry {
  uint64_t hash;
  uint32_t family;
  uint32_t log : 31; /* index of the log */
  uint32_t is_prepared : 1;
};

/* Collects entries. Up to max_nentries are stored, each once. The keys of the others are added to
 * one filter for all logs and families. */
struct key_collector {
  struct hashed_entry *entries;
  size_t n, room, max_nentries;
  lanebloom_builder *others; /* NULL: there are none */
  uint64_t nothers;

  /* private: keys that are hashed together */
  uint8_t *bytes;
  size_t nbytes, bytes_room, nkeys;
  uint64_t *ends;                /* key i is bytes[ends[i] .. ends[i + 1]) */
  struct hashed_entry *unhashed; /* their entries */
};

/* max_nentries: 0 means the default, which takes 64 MiB. Errors: MEMORY. */
lanebloom_status lanebloom_collector_init(struct key_collector *collector, size_t max_nentries);
void lanebloom_collector_free(struct key_collector *collector);

/* Adds a key, whose bytes are copied. entry: all members except the hash are set. Errors: MEMORY,
 * KERNEL. */
lanebloom_status lanebloom_collector_add(struct key_collector *collector, lanebloom_slice key,
                                         struct hashed_entry entry);

/* Hashes all keys that were added. Errors: MEMORY, KERNEL. */
lanebloom_status lanebloom_collector_flush(struct key_collector *collector);

/* A set of hashes. Hashes that begin with the same bits form a group, and each group is sorted. */
struct hash_set {
  uint64_t *hashes;
  size_t n;
  uint64_t *starts; /* of the groups, and the end of the last one */
  unsigned nbits;   /* the first bits, which the hashes of a group share */
};

/* Makes a set of n hashes, which may repeat and are copied. Errors: MEMORY. */
lanebloom_status lanebloom_hash_set_make(struct hash_set *set, const uint64_t *hashes, size_t n);
void lanebloom_hash_set_free(struct hash_set *set);

/* Sets bit i of hits if the set has hashes[i]. */
void lanebloom_hash_set_screen(const struct hash_set *set, const uint64_t *hashes, size_t n,
                               uint8_t *hits);

#endif
