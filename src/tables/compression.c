/* Finds the codec of a compressed block, and decompresses the block with that codec's library.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LANEBLOOM_WITH_BZIP2
#include <bzlib.h>
#endif
#ifdef LANEBLOOM_WITH_LZ4
#include <lz4.h>
#endif
#ifdef LANEBLOOM_WITH_SNAPPY
#include <snappy-c.h>
#endif
#ifdef LANEBLOOM_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef LANEBLOOM_WITH_ZSTD
#include <zstd.h>
#endif

#include "../common/bytes.h"
#include "../cursor.h"
#include "compression.h"
#include "pebble/minlz.h"

/* ---- Codecs ---- */

/* Does the block begin with zlib's header? The header has two bytes: the method, which is deflate
 * with a window of at most 32 KiB, and a check (RFC 1950). */
static bool has_zlib_header(lanebloom_slice block)
{
  const uint8_t *bytes = block.data;
  return block.size >= 2 && (bytes[0] & 0x0f) == 8 && bytes[0] >> 4 <= 7 &&
         (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

static bool begins_zstd_frame(lanebloom_slice block)
{
  static const uint32_t magic = 0xfd2fb528;
  return block.size >= sizeof magic && load_le32(block.data) == magic;
}

enum codec lanebloom_codec(lanebloom_engine engine, uint8_t type, lanebloom_slice block)
{
  enum { NTYPES = 9, ZSTD_NOT_FINAL = 0x40 };
  /* Minecraft's fork of LevelDB uses type 2 for zlib, which is zstd in LevelDB itself, and type 4
   * for deflate. */
  static const enum codec codecs[][NTYPES] = {
      [LANEBLOOM_ENGINE_LEVELDB] = {CODEC_NONE, CODEC_SNAPPY, CODEC_ZLIB_OR_ZSTD, CODEC_UNKNOWN,
                                    CODEC_DEFLATE},
      [LANEBLOOM_ENGINE_ROCKSDB] = {CODEC_NONE, CODEC_SNAPPY, CODEC_ZLIB, CODEC_BZIP2, CODEC_LZ4,
                                    CODEC_LZ4, CODEC_XPRESS, CODEC_ZSTD},
      [LANEBLOOM_ENGINE_PEBBLE] = {
          [0] = CODEC_NONE, [1] = CODEC_SNAPPY, [7] = CODEC_ZSTD, [8] = CODEC_MINLZ}};
  if (engine == LANEBLOOM_ENGINE_ROCKSDB && type == ZSTD_NOT_FINAL)
    return CODEC_ZSTD;
  const enum codec codec = type < NTYPES ? codecs[engine][type] : CODEC_UNKNOWN;
  if (codec == CODEC_ZLIB_OR_ZSTD)
    return has_zlib_header(block) ? CODEC_ZLIB : begins_zstd_frame(block) ? CODEC_ZSTD : codec;
  /* Pebble's readers take a block that does not begin with 0 for a block of snappy. */
  if (codec == CODEC_MINLZ && block.size > 0 && *(const uint8_t *)block.data != 0)
    return CODEC_SNAPPY;
  return codec;
}

static const struct {
  const char *name, *library;
} names[] = {
    [CODEC_UNKNOWN] = {"an unknown codec", NULL},
    [CODEC_NONE] = {"nothing", NULL},
    [CODEC_SNAPPY] = {"snappy", "snappy"},
    [CODEC_ZLIB] = {"zlib", "zlib"},
    [CODEC_DEFLATE] = {"deflate", "zlib"},
    [CODEC_ZLIB_OR_ZSTD] = {"zlib or zstd", NULL},
    [CODEC_BZIP2] = {"bzip2", "bzip2"},
    [CODEC_LZ4] = {"lz4", "lz4"},
    [CODEC_XPRESS] = {"xpress", NULL},
    [CODEC_ZSTD] = {"zstd", "zstd"},
    [CODEC_MINLZ] = {"minlz", NULL},
};

const char *lanebloom_codec_name(enum codec codec)
{
  return names[codec].name;
}

void lanebloom_codec_list(uint32_t codecs, char text[CODECS_NBYTES])
{
  size_t n = 0;
  text[0] = 0;
  for (enum codec codec = CODEC_NONE + 1; codec < sizeof names / sizeof *names; codec++)
    if (codecs >> codec & 1)
      n += (size_t)snprintf(text + n, CODECS_NBYTES - n, "%s%s", n ? "," : "", names[codec].name);
}

const char *lanebloom_codec_library(enum codec codec)
{
  return names[codec].library;
}

bool lanebloom_codec_is_built(enum codec codec)
{
  static const bool built[sizeof names / sizeof *names] = {
      [CODEC_NONE] = true,
      [CODEC_ZLIB_OR_ZSTD] = true, /* no library is needed to see the damage */
      [CODEC_MINLZ] = true,
#ifdef LANEBLOOM_WITH_SNAPPY
      [CODEC_SNAPPY] = true,
#endif
#ifdef LANEBLOOM_WITH_ZLIB
      [CODEC_ZLIB] = true,
      [CODEC_DEFLATE] = true,
#endif
#ifdef LANEBLOOM_WITH_BZIP2
      [CODEC_BZIP2] = true,
#endif
#ifdef LANEBLOOM_WITH_LZ4
      [CODEC_LZ4] = true,
#endif
#ifdef LANEBLOOM_WITH_ZSTD
      [CODEC_ZSTD] = true,
#endif
  };
  return built[codec];
}

/* ---- Decompression ---- */

/* Frees the old buffer and allocates one of nbytes. Errors: MEMORY; LIMIT if nbytes is above the
 * limit for the block. */
static lanebloom_status make_room(const struct compressed *compressed, uint64_t nbytes,
                                  uint8_t **bytes)
{
  free(*bytes);
  *bytes = NULL;
  if (nbytes > compressed->max_nbytes)
    return LANEBLOOM_ERR_LIMIT;
  *bytes = nbytes < SIZE_MAX ? malloc(nbytes ? (size_t)nbytes : 1) : NULL;
  return *bytes ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

#ifdef LANEBLOOM_WITH_SNAPPY
static lanebloom_status decompress_snappy(const struct compressed *compressed, uint8_t **bytes,
                                          size_t *nbytes)
{
  const char *from = (const char *)compressed->bytes;
  size_t size;
  if (snappy_uncompressed_length(from, compressed->nbytes, &size) != SNAPPY_OK)
    return LANEBLOOM_ERR_CORRUPT;
  lanebloom_status status = make_room(compressed, size, bytes);
  if (status)
    return status;
  *nbytes = size;
  return snappy_uncompress(from, compressed->nbytes, (char *)*bytes, nbytes) == SNAPPY_OK
             ? LANEBLOOM_OK
             : LANEBLOOM_ERR_CORRUPT;
}
#endif

static lanebloom_status decompress_minlz(const struct compressed *compressed, uint8_t **bytes,
                                         size_t *nbytes)
{
  const lanebloom_slice block = {compressed->bytes, compressed->nbytes};
  if (!lanebloom_minlz_size(block, nbytes))
    return LANEBLOOM_ERR_CORRUPT;
  lanebloom_status status = make_room(compressed, *nbytes, bytes);
  if (status)
    return status;
  return lanebloom_minlz_decompress(block, *bytes, *nbytes) ? LANEBLOOM_OK : LANEBLOOM_ERR_CORRUPT;
}

#ifdef LANEBLOOM_WITH_ZLIB
/* Decompresses zlib and deflate. Returns LIMIT if the room is too small. */
static lanebloom_status decompress_zlib(const struct compressed *compressed, size_t room,
                                        uint8_t *bytes, size_t *nbytes)
{
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)compressed->bytes,
                     .avail_in = (uInt)compressed->nbytes,
                     .next_out = bytes,
                     .avail_out = (uInt)room};
  const bool has_header =
      compressed->engine == LANEBLOOM_ENGINE_LEVELDB && compressed->codec == CODEC_ZLIB;
  if (inflateInit2(&stream, has_header ? MAX_WBITS : -MAX_WBITS) != Z_OK)
    return LANEBLOOM_ERR_MEMORY;
  int result = Z_OK;
  if (compressed->dictionary.size > 0 && compressed->dictionary.size <= UINT_MAX)
    result = inflateSetDictionary(&stream, compressed->dictionary.data,
                                  (uInt)compressed->dictionary.size);
  if (result == Z_OK)
    result = inflate(&stream, Z_FINISH);
  *nbytes = stream.total_out;
  inflateEnd(&stream);
  if (result == Z_BUF_ERROR && stream.avail_out == 0)
    return LANEBLOOM_ERR_LIMIT;
  return result == Z_STREAM_END  ? LANEBLOOM_OK
         : result == Z_MEM_ERROR ? LANEBLOOM_ERR_MEMORY
                                 : LANEBLOOM_ERR_CORRUPT;
}
#endif

#ifdef LANEBLOOM_WITH_BZIP2
/* Returns LIMIT if the room is too small. */
static lanebloom_status decompress_bzip2(const struct compressed *compressed, size_t room,
                                         uint8_t *bytes, size_t *nbytes)
{
  enum { IS_SMALL = false, VERBOSITY = 0 };
  unsigned size = (unsigned)room;
  const int result =
      BZ2_bzBuffToBuffDecompress((char *)bytes, &size, (char *)(uintptr_t)compressed->bytes,
                                 (unsigned)compressed->nbytes, IS_SMALL, VERBOSITY);
  *nbytes = size;
  return result == BZ_OK             ? LANEBLOOM_OK
         : result == BZ_OUTBUFF_FULL ? LANEBLOOM_ERR_LIMIT
         : result == BZ_MEM_ERROR    ? LANEBLOOM_ERR_MEMORY
                                     : LANEBLOOM_ERR_CORRUPT;
}
#endif

#ifdef LANEBLOOM_WITH_LZ4
static lanebloom_status decompress_lz4(const struct compressed *compressed, size_t room,
                                       uint8_t *bytes, size_t *nbytes)
{
  if (compressed->dictionary.size > INT_MAX)
    return LANEBLOOM_ERR_CORRUPT;
  const int n = LZ4_decompress_safe_usingDict(
      (const char *)compressed->bytes, (char *)bytes, (int)compressed->nbytes, (int)room,
      compressed->dictionary.data, (int)compressed->dictionary.size);
  if (n < 0)
    return LANEBLOOM_ERR_CORRUPT;
  *nbytes = (size_t)n;
  return LANEBLOOM_OK;
}
#endif

#ifdef LANEBLOOM_WITH_ZSTD
static lanebloom_status decompress_zstd(const struct compressed *compressed, size_t room,
                                        uint8_t *bytes, size_t *nbytes)
{
  ZSTD_DCtx *context = ZSTD_createDCtx();
  if (!context)
    return LANEBLOOM_ERR_MEMORY;
  *nbytes = ZSTD_decompress_usingDict(context, bytes, room, compressed->bytes, compressed->nbytes,
                                      compressed->dictionary.data, compressed->dictionary.size);
  ZSTD_freeDCtx(context);
  return ZSTD_isError(*nbytes) ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK;
}
#endif

static lanebloom_status decompress_into(const struct compressed *compressed, size_t room,
                                        uint8_t *bytes, size_t *nbytes)
{
  (void)compressed, (void)room, (void)bytes, (void)nbytes; /* not used in a build without codecs */
  switch (compressed->codec) {
#ifdef LANEBLOOM_WITH_ZLIB
  case CODEC_ZLIB:
  case CODEC_DEFLATE:
    return decompress_zlib(compressed, room, bytes, nbytes);
#endif
#ifdef LANEBLOOM_WITH_BZIP2
  case CODEC_BZIP2:
    return decompress_bzip2(compressed, room, bytes, nbytes);
#endif
#ifdef LANEBLOOM_WITH_LZ4
  case CODEC_LZ4:
    return decompress_lz4(compressed, room, bytes, nbytes);
#endif
#ifdef LANEBLOOM_WITH_ZSTD
  case CODEC_ZSTD:
    return decompress_zstd(compressed, room, bytes, nbytes);
#endif
  default:
    return LANEBLOOM_ERR_LIMIT;
  }
}

/* Reads the size of the decompressed block, for every codec but snappy and minlz. If no size is
 * stored, sets *has_size to false. RocksDB and Pebble store the size as a varint before the
 * compressed bytes. Before format_version 2, RocksDB stored no size for zlib and bzip2; for lz4 it
 * stored 8 bytes, and it reads the first 4 of them. LevelDB's forks store no size for zlib and
 * deflate. LevelDB's zstd frames must state the size themselves. Returns false if the block is
 * damaged. */
static bool read_size(const struct compressed *compressed, struct cursor *rest, bool *has_size,
                      uint64_t *size)
{
  enum { OLD_LZ4_NBYTES = 8 };
  const bool old = compressed->engine == LANEBLOOM_ENGINE_ROCKSDB && compressed->version < 2 &&
                   compressed->codec != CODEC_ZSTD;
  *size = 0;
  *has_size =
      compressed->codec != CODEC_DEFLATE && (compressed->codec != CODEC_BZIP2 || !old) &&
      (compressed->codec != CODEC_ZLIB || (!old && compressed->engine != LANEBLOOM_ENGINE_LEVELDB));
  if (!*has_size)
    return true;
#ifdef LANEBLOOM_WITH_ZSTD
  if (compressed->engine == LANEBLOOM_ENGINE_LEVELDB) {
    *size = ZSTD_getFrameContentSize(rest->at, cursor_left(rest));
    return *size != ZSTD_CONTENTSIZE_UNKNOWN && *size != ZSTD_CONTENTSIZE_ERROR;
  }
#endif
  if (!old)
    return cursor_varint(rest, size) && *size <= UINT32_MAX;
  const uint8_t *number;
  if (!cursor_bytes(rest, OLD_LZ4_NBYTES, &number))
    return false;
  *size = load_le32(number);
  return true;
}

static lanebloom_status decompress_sized(const struct compressed *compressed, uint64_t size,
                                         uint8_t **bytes, size_t *nbytes)
{
  lanebloom_status status = make_room(compressed, size, bytes);
  if (status)
    return status;
  status = decompress_into(compressed, (size_t)size, *bytes, nbytes);
  if (status == LANEBLOOM_ERR_MEMORY)
    return status;
  return status || *nbytes != size ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK;
}

/* Decompresses a block of unknown size: tries again with twice the room until the block fits. */
static lanebloom_status decompress_unsized(const struct compressed *compressed, uint8_t **bytes,
                                           size_t *nbytes)
{
  enum { FIRST_NBYTES = 1 << 16 };
  lanebloom_status status = LANEBLOOM_ERR_LIMIT;
  for (uint64_t room = 0; status == LANEBLOOM_ERR_LIMIT && room < compressed->max_nbytes;) {
    room = room ? room * 2 : FIRST_NBYTES;
    if (room > compressed->max_nbytes)
      room = compressed->max_nbytes;
    status = make_room(compressed, room, bytes);
    if (!status)
      status = decompress_into(compressed, (size_t)room, *bytes, nbytes);
  }
  return status;
}

/* Returns the most bytes that the codec's library can read or write in one call. */
static uint64_t max_call_nbytes(enum codec codec)
{
  switch (codec) {
  case CODEC_LZ4:
    return INT_MAX;
  case CODEC_ZLIB:
  case CODEC_DEFLATE:
  case CODEC_BZIP2:
    return UINT_MAX;
  default:
    return UINT64_MAX;
  }
}

static lanebloom_status decompress(const struct compressed *compressed, uint8_t **bytes,
                                   size_t *nbytes)
{
#ifdef LANEBLOOM_WITH_SNAPPY
  if (compressed->codec == CODEC_SNAPPY) /* the formats of snappy and minlz store the size */
    return decompress_snappy(compressed, bytes, nbytes);
#endif
  if (compressed->codec == CODEC_MINLZ)
    return decompress_minlz(compressed, bytes, nbytes);
  if (compressed->codec == CODEC_ZLIB_OR_ZSTD)
    return LANEBLOOM_ERR_CORRUPT;
  struct cursor rest = {compressed->bytes, compressed->bytes + compressed->nbytes};
  bool has_size;
  uint64_t size;
  if (!read_size(compressed, &rest, &has_size, &size))
    return LANEBLOOM_ERR_CORRUPT;
  const uint64_t most = max_call_nbytes(compressed->codec);
  struct compressed payload = *compressed;
  payload.bytes = rest.at;
  payload.nbytes = cursor_left(&rest);
  if (payload.nbytes > most)
    return LANEBLOOM_ERR_LIMIT;
  if (payload.max_nbytes > most)
    payload.max_nbytes = most;
  return has_size ? decompress_sized(&payload, size, bytes, nbytes)
                  : decompress_unsized(&payload, bytes, nbytes);
}

lanebloom_status lanebloom_decompress(const struct compressed *compressed, uint8_t **bytes,
                                      size_t *nbytes)
{
  *bytes = NULL;
  lanebloom_status status = decompress(compressed, bytes, nbytes);
  if (status) {
    free(*bytes);
    *bytes = NULL;
    return status;
  }
  uint8_t *fitting = realloc(*bytes, *nbytes ? *nbytes : 1);
  if (fitting)
    *bytes = fitting;
  return LANEBLOOM_OK;
}
