/* Compressed blocks that store their size in an unusual place, store a wrong size, or store none.
 * SPDX-License-Identifier: MIT */
#include "tables/compression.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "support.h"

static const uint64_t NO_LIMIT = UINT64_MAX;

/* Fills in bytes that hardly compress or, if dull, compress very well. */
static void fill(uint8_t *bytes, size_t nbytes, bool is_dull)
{
  struct rng rng = rng_start(nbytes);
  rng_fill(&rng, bytes, nbytes);
  if (is_dull)
    memset(bytes, 'x', nbytes);
}

static void check_decompressed(const struct compressed *compressed, const uint8_t *expected,
                               size_t nbytes)
{
  uint8_t *bytes;
  size_t found;
  lanebloom_status status = lanebloom_decompress(compressed, &bytes, &found);
  cr_assert(status == LANEBLOOM_OK, "%zu bytes: %s", nbytes, lanebloom_status_text(status));
  cr_assert(found == nbytes, "%zu bytes became %zu", nbytes, found);
  cr_assert(nbytes == 0 || memcmp(bytes, expected, nbytes) == 0, "%zu bytes are others", nbytes);
  free(bytes);
}

static void check_refused(const struct compressed *compressed, lanebloom_status expected)
{
  uint8_t *bytes;
  size_t nbytes;
  lanebloom_status status = lanebloom_decompress(compressed, &bytes, &nbytes);
  cr_assert(status == expected && !bytes, "%s", lanebloom_status_text(status));
}

static size_t deflate_raw(const uint8_t *from, size_t nbytes, uint8_t *to, size_t room)
{
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)from,
                     .avail_in = (uInt)nbytes,
                     .next_out = to,
                     .avail_out = (uInt)room};
  cr_assert(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK);
  cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  deflateEnd(&stream);
  return stream.total_out;
}

/* RocksDB's tables of version 1 store no size before deflated data, so the library finds the
 * size by decompressing. 5 MB of deflated data could expand to 5 GB, but must not take that
 * much memory. */
Test(compression, deflate_without_a_size)
{
  static const size_t sizes[] = {0,      1,      4096, (1 << 16) - 1, 1 << 16, (1 << 16) + 1,
                                 300000, 5000000};
  for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
    const size_t nbytes = sizes[i / 2], room = nbytes + nbytes / 100 + 1000;
    uint8_t *bytes = test_alloc(nbytes), *deflated = test_alloc(room);
    fill(bytes, nbytes, i % 2);
    struct compressed compressed = {.codec = CODEC_ZLIB,
                                    .engine = LANEBLOOM_ENGINE_ROCKSDB,
                                    .version = 1,
                                    .bytes = deflated,
                                    .nbytes = deflate_raw(bytes, nbytes, deflated, room),
                                    .max_nbytes = NO_LIMIT};
    check_decompressed(&compressed, bytes, nbytes);
    compressed.max_nbytes = nbytes;
    if (nbytes > 0) {
      check_decompressed(&compressed, bytes, nbytes);
      compressed.max_nbytes--;
      check_refused(&compressed, LANEBLOOM_ERR_LIMIT);
    }
    compressed.max_nbytes = NO_LIMIT;
    compressed.nbytes--;
    check_refused(&compressed, LANEBLOOM_ERR_CORRUPT);
    free(deflated);
    free(bytes);
  }
}

/* LevelDB stores zstd frames without a size of its own. The size is read from the frame. */
Test(compression, zstd_frames_of_leveldb)
{
  static const size_t sizes[] = {0, 1, 4096, 300000, 5000000};
  for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
    const size_t nbytes = sizes[i / 2], room = ZSTD_compressBound(nbytes);
    uint8_t *bytes = test_alloc(nbytes), *frame = test_alloc(room);
    fill(bytes, nbytes, i % 2);
    struct compressed compressed = {.codec = CODEC_ZSTD,
                                    .engine = LANEBLOOM_ENGINE_LEVELDB,
                                    .bytes = frame,
                                    .max_nbytes = NO_LIMIT};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    compressed.nbytes = ZSTD_compress2(context, frame, room, bytes, nbytes);
    check_decompressed(&compressed, bytes, nbytes);
    compressed.nbytes--;
    check_refused(&compressed, LANEBLOOM_ERR_CORRUPT);
    compressed.nbytes++;
    compressed.max_nbytes = nbytes ? nbytes - 1 : 0;
    if (nbytes > 0)
      check_refused(&compressed, LANEBLOOM_ERR_LIMIT);
    compressed.max_nbytes = NO_LIMIT;
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    compressed.nbytes = ZSTD_compress2(context, frame, room, bytes, nbytes);
    check_refused(&compressed,
                  LANEBLOOM_ERR_CORRUPT); /* LevelDB's reader also refuses such a frame */
    ZSTD_freeCCtx(context);
    free(frame);
    free(bytes);
  }
}

/* If ten bytes claim a size of four gigabytes, they are refused before memory is allocated. */
Test(compression, sizes_that_cannot_be)
{
  static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static const enum codec codecs[] = {CODEC_SNAPPY, CODEC_ZLIB, CODEC_LZ4, CODEC_ZSTD};
  for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
    struct compressed compressed = {.codec = codecs[i],
                                    .engine = LANEBLOOM_ENGINE_ROCKSDB,
                                    .version = 5,
                                    .bytes = bytes,
                                    .nbytes = sizeof bytes,
                                    .max_nbytes = UINT32_MAX - 1};
    check_refused(&compressed, LANEBLOOM_ERR_LIMIT);
    compressed.max_nbytes++;
    check_refused(&compressed, LANEBLOOM_ERR_CORRUPT);
  }
}

Test(compression, what_is_built)
{
  static const enum codec built[] = {CODEC_NONE, CODEC_SNAPPY, CODEC_ZLIB, CODEC_LZ4, CODEC_ZSTD},
                          others[] = {CODEC_BZIP2, CODEC_XPRESS, CODEC_UNKNOWN};
  for (size_t i = 0; i < sizeof built / sizeof *built; i++)
    cr_assert(lanebloom_codec_is_built(built[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_assert(!lanebloom_codec_is_built(others[i]));
}
