/* Compressed blocks.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

#include "../bytes.h"
#include "compression.h"
#include "cursor.h"

enum codec lanebloom_codec(lanebloom_engine engine, uint8_t type)
{
  if (engine == LANEBLOOM_ENGINE_LEVELDB) {
    static const enum codec leveldb[] = {CODEC_NONE, CODEC_SNAPPY, CODEC_ZSTD};
    return type < sizeof leveldb / sizeof *leveldb ? leveldb[type] : CODEC_UNKNOWN;
  }
  static const enum codec rocksdb[] = {CODEC_NONE, CODEC_SNAPPY, CODEC_ZLIB,   CODEC_BZIP2,
                                       CODEC_LZ4,  CODEC_LZ4,    CODEC_XPRESS, CODEC_ZSTD};
  enum { ZSTD_NOT_FINAL = 0x40 };
  if (type == ZSTD_NOT_FINAL)
    return CODEC_ZSTD;
  return type < sizeof rocksdb / sizeof *rocksdb ? rocksdb[type] : CODEC_UNKNOWN;
}

const char *lanebloom_codec_name(enum codec codec)
{
  static const char *const names[] = {"nothing", "snappy", "zlib", "bzip2",
                                      "lz4",     "xpress", "zstd", "an unknown codec"};
  return names[codec];
}

bool lanebloom_codec_is_built(enum codec codec)
{
  static const bool built[CODEC_UNKNOWN + 1] = {
      [CODEC_NONE] = true,
#ifdef LANEBLOOM_WITH_SNAPPY
      [CODEC_SNAPPY] = true,
#endif
#ifdef LANEBLOOM_WITH_ZLIB
      [CODEC_ZLIB] = true,
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

/* Replaces the room that was there. */
static lanebloom_status make_room(const struct packed *packed, uint64_t nbytes, uint8_t **bytes)
{
  free(*bytes);
  *bytes = NULL;
  if (nbytes > packed->most_nbytes)
    return LANEBLOOM_ERR_LIMIT;
  *bytes = nbytes < SIZE_MAX ? malloc(nbytes ? (size_t)nbytes : 1) : NULL;
  return *bytes ? LANEBLOOM_OK : LANEBLOOM_ERR_MEMORY;
}

#ifdef LANEBLOOM_WITH_SNAPPY
static lanebloom_status unpack_snappy(const struct packed *packed, uint8_t **bytes, size_t *nbytes)
{
  const char *from = (const char *)packed->bytes;
  size_t size;
  if (snappy_uncompressed_length(from, packed->nbytes, &size) != SNAPPY_OK)
    return LANEBLOOM_ERR_CORRUPT;
  lanebloom_status status = make_room(packed, size, bytes);
  if (status)
    return status;
  *nbytes = size;
  return snappy_uncompress(from, packed->nbytes, (char *)*bytes, nbytes) == SNAPPY_OK
             ? LANEBLOOM_OK
             : LANEBLOOM_ERR_CORRUPT;
}
#endif

#ifdef LANEBLOOM_WITH_ZLIB
/* RocksDB writes deflate without zlib's header. */
static lanebloom_status unpack_zlib(const struct packed *packed, size_t room, uint8_t *bytes,
                                    size_t *nbytes)
{
  if (packed->nbytes > UINT_MAX || room > UINT_MAX)
    return LANEBLOOM_ERR_CORRUPT;
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed->bytes,
                     .avail_in = (uInt)packed->nbytes,
                     .next_out = bytes,
                     .avail_out = (uInt)room};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return LANEBLOOM_ERR_MEMORY;
  int result = Z_OK;
  if (packed->dictionary.size > 0 && packed->dictionary.size <= UINT_MAX)
    result = inflateSetDictionary(&stream, packed->dictionary.data, (uInt)packed->dictionary.size);
  if (result == Z_OK)
    result = inflate(&stream, Z_FINISH);
  *nbytes = stream.total_out;
  inflateEnd(&stream);
  if (result == Z_BUF_ERROR && stream.avail_out == 0)
    return LANEBLOOM_ERR_LIMIT; /* it becomes more than there is room for */
  return result == Z_STREAM_END  ? LANEBLOOM_OK
         : result == Z_MEM_ERROR ? LANEBLOOM_ERR_MEMORY
                                 : LANEBLOOM_ERR_CORRUPT;
}
#endif

#ifdef LANEBLOOM_WITH_LZ4
static lanebloom_status unpack_lz4(const struct packed *packed, size_t room, uint8_t *bytes,
                                   size_t *nbytes)
{
  if (packed->nbytes > INT_MAX || room > INT_MAX || packed->dictionary.size > INT_MAX)
    return LANEBLOOM_ERR_CORRUPT;
  const int n = LZ4_decompress_safe_usingDict(
      (const char *)packed->bytes, (char *)bytes, (int)packed->nbytes, (int)room,
      packed->dictionary.data, (int)packed->dictionary.size);
  if (n < 0)
    return LANEBLOOM_ERR_CORRUPT;
  *nbytes = (size_t)n;
  return LANEBLOOM_OK;
}
#endif

#ifdef LANEBLOOM_WITH_ZSTD
static lanebloom_status unpack_zstd(const struct packed *packed, size_t room, uint8_t *bytes,
                                    size_t *nbytes)
{
  ZSTD_DCtx *context = ZSTD_createDCtx();
  if (!context)
    return LANEBLOOM_ERR_MEMORY;
  *nbytes = ZSTD_decompress_usingDict(context, bytes, room, packed->bytes, packed->nbytes,
                                      packed->dictionary.data, packed->dictionary.size);
  ZSTD_freeDCtx(context);
  return ZSTD_isError(*nbytes) ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK;
}
#endif

static lanebloom_status unpack_into(const struct packed *packed, size_t room, uint8_t *bytes,
                                    size_t *nbytes)
{
  (void)packed, (void)room, (void)bytes, (void)nbytes; /* without codecs */
  switch (packed->codec) {
#ifdef LANEBLOOM_WITH_ZLIB
  case CODEC_ZLIB:
    return unpack_zlib(packed, room, bytes, nbytes);
#endif
#ifdef LANEBLOOM_WITH_LZ4
  case CODEC_LZ4:
    return unpack_lz4(packed, room, bytes, nbytes);
#endif
#ifdef LANEBLOOM_WITH_ZSTD
  case CODEC_ZSTD:
    return unpack_zstd(packed, room, bytes, nbytes);
#endif
  default:
    return LANEBLOOM_ERR_LIMIT;
  }
}

/* The decompressed size. RocksDB and Pebble store it before the block. Versions below 2 do not for
 * zlib, and take 8 bytes for lz4, of which RocksDB reads 4. LevelDB's is in the zstd frame, which
 * must have it. */
static bool read_size(const struct packed *packed, struct cursor *rest, bool *knows_size,
                      uint64_t *size)
{
  enum { OLD_LZ4_NBYTES = 8 };
  const bool old = packed->engine == LANEBLOOM_ENGINE_ROCKSDB && packed->version < 2 &&
                   packed->codec != CODEC_ZSTD;
  *size = 0;
  *knows_size = !(old && packed->codec == CODEC_ZLIB);
  if (!*knows_size)
    return true;
#ifdef LANEBLOOM_WITH_ZSTD
  if (packed->engine == LANEBLOOM_ENGINE_LEVELDB) {
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

static lanebloom_status unpack_sized(const struct packed *packed, uint64_t size, uint8_t **bytes,
                                     size_t *nbytes)
{
  lanebloom_status status = make_room(packed, size, bytes);
  if (status)
    return status;
  status = unpack_into(packed, (size_t)size, *bytes, nbytes);
  if (status == LANEBLOOM_ERR_MEMORY)
    return status;
  return status || *nbytes != size ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK;
}

/* With twice the room each time. */
static lanebloom_status unpack_unsized(const struct packed *packed, uint8_t **bytes, size_t *nbytes)
{
  enum { FIRST_NBYTES = 1 << 16 };
  lanebloom_status status = LANEBLOOM_ERR_LIMIT;
  for (uint64_t room = 0; status == LANEBLOOM_ERR_LIMIT && room < packed->most_nbytes;) {
    room = room ? room * 2 : FIRST_NBYTES;
    if (room > packed->most_nbytes)
      room = packed->most_nbytes;
    status = make_room(packed, room, bytes);
    if (!status)
      status = unpack_into(packed, (size_t)room, *bytes, nbytes);
  }
  return status;
}

static lanebloom_status unpack(const struct packed *packed, uint8_t **bytes, size_t *nbytes)
{
#ifdef LANEBLOOM_WITH_SNAPPY
  if (packed->codec == CODEC_SNAPPY) /* whose size is its own affair */
    return unpack_snappy(packed, bytes, nbytes);
#endif
  struct cursor rest = {packed->bytes, packed->bytes + packed->nbytes};
  bool knows_size;
  uint64_t size;
  if (!read_size(packed, &rest, &knows_size, &size))
    return LANEBLOOM_ERR_CORRUPT;
  struct packed payload = *packed;
  payload.bytes = rest.at;
  payload.nbytes = cursor_left(&rest);
  return knows_size ? unpack_sized(&payload, size, bytes, nbytes)
                    : unpack_unsized(&payload, bytes, nbytes);
}

lanebloom_status lanebloom_unpack(const struct packed *packed, uint8_t **bytes, size_t *nbytes)
{
  *bytes = NULL;
  lanebloom_status status = unpack(packed, bytes, nbytes);
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
