/* Compressed blocks. Every codec except NONE is optional in a build.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_COMPRESSION_H
#define LANEBLOOM_TABLES_COMPRESSION_H

#include <lanebloom_tables.h>

enum codec {
  CODEC_NONE,
  CODEC_SNAPPY,
  CODEC_ZLIB,
  CODEC_BZIP2,
  CODEC_LZ4,
  CODEC_XPRESS,
  CODEC_ZSTD,
  CODEC_UNKNOWN
};

/* A compressed block. */
struct compressed {
  enum codec codec;
  lanebloom_engine engine; /* engine and version decide where the decompressed size is stored */
  uint32_t version;
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t max_nbytes;        /* of the decompressed block */
  lanebloom_slice dictionary; /* {NULL, 0}: none */
};

/* Returns the codec of a compressed block by its type. The meaning of a type depends on the engine.
 * If forks of LevelDB have given a type another meaning, the first bytes of the block decide. */
enum codec lanebloom_codec(lanebloom_engine engine, uint8_t type, lanebloom_slice block);
const char *lanebloom_codec_name(enum codec codec);
bool lanebloom_codec_is_built(enum codec codec);

/* Decompresses a block whose codec is in the build and not NONE. The caller frees bytes. Errors:
 * LIMIT: more than max_nbytes; CORRUPT, MEMORY. */
lanebloom_status lanebloom_decompress(const struct compressed *compressed, uint8_t **bytes,
                                      size_t *nbytes);

#endif
