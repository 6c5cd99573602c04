/* Decompresses blocks. A codec is a compression method; every codec except NONE and MINLZ is
 * optional in a build.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_COMPRESSION_H
#define LANEBLOOM_TABLES_COMPRESSION_H

#include <lanebloom_tables.h>

enum codec {
  CODEC_UNKNOWN,
  CODEC_NONE,
  CODEC_SNAPPY,
  CODEC_ZLIB,         /* has zlib's header in LevelDB's forks, and no header in RocksDB */
  CODEC_DEFLATE,      /* without a header */
  CODEC_ZLIB_OR_ZSTD, /* should be one of them, but begins like neither: the block is damaged */
  CODEC_BZIP2,
  CODEC_LZ4,
  CODEC_XPRESS,
  CODEC_ZSTD,
  CODEC_MINLZ
};

/* A compressed block. */
struct compressed {
  enum codec codec;
  lanebloom_engine engine; /* with `version`, decides where the decompressed size is stored */
  uint32_t version;
  const uint8_t *bytes;
  size_t nbytes;
  uint64_t max_nbytes;        /* limit for the decompressed block */
  lanebloom_slice dictionary; /* {NULL, 0}: none */
};

/* Returns the codec of a compressed block. type: the compression type in the block's trailer. The
 * meaning of a type depends on the engine. A type may stand for two codecs; the first bytes of the
 * block then decide. */
enum codec lanebloom_codec(lanebloom_engine engine, uint8_t type, lanebloom_slice block);
const char *lanebloom_codec_name(enum codec codec);

/* Lists the names of codecs other than NONE, with commas between them. codecs: bit i stands for
 * codec i. */
enum { CODECS_NBYTES = 64 }; /* enough for all names */
void lanebloom_codec_list(uint32_t codecs, char text[CODECS_NBYTES]);

/* Returns the name of the library that reads the codec; NULL: there is none, or none is needed. */
const char *lanebloom_codec_library(enum codec codec);
bool lanebloom_codec_is_built(enum codec codec);

/* Decompresses a block. Its codec must be in the build, and must not be NONE. The caller frees
 * *bytes. Errors: CORRUPT, MEMORY; LIMIT if the decompressed block has more than max_nbytes. */
lanebloom_status lanebloom_decompress(const struct compressed *compressed, uint8_t **bytes,
                                      size_t *nbytes);

#endif
