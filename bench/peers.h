/* The engines themselves, and other filters that people use, with which lanebloom is compared.
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
  size_t call_nkeys; /* how many keys a call screens */

  /* Screening. bytes: borrowed until the reader is closed. Returns how many keys may be in the
   * filter. */
  void *(*open_reader)(const void *bytes, size_t size);
  size_t (*screen)(void *reader, const void *keys, size_t width, size_t n);
  void (*close_reader)(void *reader);

  /* Building, from keys of 8 bytes in the engine's own form. Returns the filter's size; bytes:
   * valid until the next call. NULL if another entry of the same engine builds. */
  void *(*open_writer)(double bits_per_key, const uint64_t *keys, size_t n);
  size_t (*build)(void *writer, const void **bytes);
  void (*close_writer)(void *writer);

  /* Hashes each of n keys. NULL if the engine hides its hash. */
  void (*hash)(const uint8_t *data, const uint32_t *offsets, size_t n, void *hashes);
};

/* The peers of each engine; one without a name ends a list. bench_peers has the lists of all
 * engines that were installed when this was configured; NULL ends it. */
extern const struct bench_peer bench_leveldb_peers[], bench_rocksdb_peers[];
extern const struct bench_peer *const bench_peers[];

#ifdef __cplusplus
}
#endif

#endif
