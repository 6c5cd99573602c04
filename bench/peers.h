/* Declares peers: the engines themselves and other filters that people use. lanebloom is compared
 * with them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_PEERS_H
#define LANEBLOOM_BENCH_PEERS_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An engine that reads and writes one of our formats. */
struct bench_peer {
  const char *name;
  lanebloom_format format;
  size_t call_nkeys; /* how many keys one call of the engine queries */

  /* These query a filter, whose bytes are borrowed until the reader is closed. screen() returns how
   * many of n keys may be in the filter. */
  void *(*open_reader)(const void *bytes, size_t size);
  size_t (*screen)(void *reader, const void *keys, size_t width, size_t n);
  void (*close_reader)(void *reader);

  /* These build a filter from keys of 8 bytes. open_writer() converts the keys to the engine's own
   * form, so that this is not timed. build() returns the size of the filter, and sets *bytes, which
   * is valid until the next call. If another entry for the same engine has these three functions,
   * they are NULL here. */
  void *(*open_writer)(double bits_per_key, const uint64_t *keys, size_t n);
  size_t (*build)(void *writer, const void **bytes);
  void (*close_writer)(void *writer);

  /* Hashes n keys into `hashes`. The pointer is NULL if the engine does not export its hash
   * function. */
  void (*hash)(const uint8_t *data, const uint32_t *offsets, size_t n, void *hashes);
};

/* The peers of each engine, in a list that ends with a peer without a name. bench_peers has the
 * lists of all engines that were installed when the build was configured, and ends with NULL. */
extern const struct bench_peer bench_leveldb_peers[], bench_rocksdb_peers[];
extern const struct bench_peer *const bench_peers[];

/* The versions of the engines, for example "1.23". */
const char *bench_leveldb_version(void);
const char *bench_rocksdb_version(void);

/* Adds the versions of the engines that were installed to the context of the results. */
void bench_describe_peers(void);

#ifdef __cplusplus
}
#endif

#endif
