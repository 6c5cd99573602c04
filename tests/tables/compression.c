/* Compressed blocks that store their size in an unusual place, store a wrong size, or store none;
 * types of blocks; and a table that becomes much larger.
 * SPDX-License-Identifier: MIT */
#include "tables/compression.h"

#include <bzlib.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/bytes.h"
#include "support.h"
#include "tables/checksum.h"

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

static size_t compress_bzip2(const uint8_t *from, size_t nbytes, uint8_t *to, size_t room)
{
  unsigned size = (unsigned)room;
  cr_assert(BZ2_bzBuffToBuffCompress((char *)to, &size, (char *)(uintptr_t)from, (unsigned)nbytes,
                                     1, 0, 0) == BZ_OK);
  return size;
}

/* RocksDB's tables of version 1 store no size before deflated data and bzip2, so the library finds
 * the size by decompressing. 5 MB of deflated data could expand to 5 GB, but must not take that
 * much memory. With bzip2 they would take 5 s, so they are left out. */
Test(compression, without_a_size)
{
  static const size_t sizes[] = {0,      1,      4096, (1 << 16) - 1, 1 << 16, (1 << 16) + 1,
                                 300000, 5000000};
  for (size_t i = 0; i < 4 * (sizeof sizes / sizeof *sizes); i++) {
    const size_t nbytes = sizes[i / 4], room = nbytes + nbytes / 100 + 1000;
    const bool is_bzip2 = i & 2;
    if (is_bzip2 && nbytes > 300000)
      continue;
    uint8_t *bytes = test_alloc(nbytes), *stored = test_alloc(room);
    fill(bytes, nbytes, i % 2);
    struct compressed compressed = {
        .codec = is_bzip2 ? CODEC_BZIP2 : CODEC_ZLIB,
        .engine = LANEBLOOM_ENGINE_ROCKSDB,
        .version = 1,
        .bytes = stored,
        .nbytes = (is_bzip2 ? compress_bzip2 : deflate_raw)(bytes, nbytes, stored, room),
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
    free(stored);
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

/* If ten bytes claim a size of four gigabytes, they are refused before memory is allocated. The
 * library of lz4 cannot write so many bytes, whatever the limit is. */
Test(compression, sizes_that_cannot_be)
{
  static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static const enum codec codecs[] = {CODEC_SNAPPY, CODEC_ZLIB, CODEC_BZIP2, CODEC_LZ4, CODEC_ZSTD};
  for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
    struct compressed compressed = {.codec = codecs[i],
                                    .engine = LANEBLOOM_ENGINE_ROCKSDB,
                                    .version = 5,
                                    .bytes = bytes,
                                    .nbytes = sizeof bytes,
                                    .max_nbytes = UINT32_MAX - 1};
    check_refused(&compressed, LANEBLOOM_ERR_LIMIT);
    compressed.max_nbytes++;
    check_refused(&compressed,
                  codecs[i] == CODEC_LZ4 ? LANEBLOOM_ERR_LIMIT : LANEBLOOM_ERR_CORRUPT);
  }
}

Test(compression, what_is_built)
{
  static const enum codec built[] = {CODEC_NONE,  CODEC_SNAPPY, CODEC_ZLIB, CODEC_DEFLATE,
                                     CODEC_BZIP2, CODEC_LZ4,    CODEC_ZSTD, CODEC_MINLZ},
                          others[] = {CODEC_XPRESS, CODEC_UNKNOWN};
  for (size_t i = 0; i < sizeof built / sizeof *built; i++)
    cr_assert(lanebloom_codec_is_built(built[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_assert(!lanebloom_codec_is_built(others[i]));
}

/* ---- Types ---- */

/* A block that may have one of two codecs has the one that its first bytes tell. */
Test(compression, codecs_by_first_bytes)
{
  enum { LEVELDB_ZSTD = 2, LEVELDB_DEFLATE = 4, PEBBLE_MINLZ = 8 };
  const lanebloom_slice none = {NULL, 0};
  for (unsigned i = 0; i <= UINT16_MAX; i++) {
    const uint8_t two[] = {(uint8_t)(i >> 8), (uint8_t)i};
    const bool is_zlib = two[0] % 16 == 8 && two[0] < 0x80 && i % 31 == 0;
    const lanebloom_slice block = {two, sizeof two};
    cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, LEVELDB_ZSTD, block) ==
                  (is_zlib ? CODEC_ZLIB : CODEC_ZLIB_OR_ZSTD),
              "%04x", i);
    cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, LEVELDB_DEFLATE, block) == CODEC_DEFLATE);
    cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_PEBBLE, PEBBLE_MINLZ, block) ==
              (two[0] == 0 ? CODEC_MINLZ : CODEC_SNAPPY));
  }
  const lanebloom_slice frame = {"\x28\xb5\x2f\xfd", 4}, other = {"\x28\xb5\x2f\xfc", 4};
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, LEVELDB_ZSTD, frame) == CODEC_ZSTD);
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, LEVELDB_ZSTD, other) == CODEC_ZLIB_OR_ZSTD);
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, LEVELDB_ZSTD, none) == CODEC_ZLIB_OR_ZSTD);
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_PEBBLE, PEBBLE_MINLZ, none) == CODEC_MINLZ);
  const struct compressed compressed = {.codec = CODEC_ZLIB_OR_ZSTD,
                                        .engine = LANEBLOOM_ENGINE_LEVELDB,
                                        .bytes = other.data,
                                        .nbytes = other.size,
                                        .max_nbytes = NO_LIMIT};
  check_refused(&compressed, LANEBLOOM_ERR_CORRUPT);
}

/* ---- A table of blocks that become 900 times as large ---- */

struct bytes {
  size_t n, room;
  uint8_t *at;
};

static void put(struct bytes *to, const void *from, size_t nbytes)
{
  cr_assert(nbytes <= to->room - to->n);
  memcpy(to->at + to->n, from, nbytes);
  to->n += nbytes;
}

static void put_varint(struct bytes *to, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    put(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
  put(to, &(uint8_t){(uint8_t)value}, 1);
}

static void put_entry(struct bytes *to, lanebloom_slice key, lanebloom_slice value)
{
  put_varint(to, 0);
  put_varint(to, key.size);
  put_varint(to, value.size);
  put(to, key.data, key.size);
  put(to, value.data, value.size);
}

/* Puts an entry whose key is a number and the suffix of an internal key. */
static void put_numbered(struct bytes *to, unsigned number, lanebloom_slice value)
{
  static const char suffix[] = {1, 0, 0, 0, 0, 0, 0, 0};
  char key[16];
  const size_t nbytes = (size_t)snprintf(key, sizeof key - sizeof suffix, "key%04u", number);
  memcpy(key + nbytes, suffix, sizeof suffix);
  put_entry(to, (lanebloom_slice){key, nbytes + sizeof suffix}, value);
}

/* Ends the entries of a block, appends the block to the table in raw deflate, and empties it. The
 * handle is appended to *handle. */
static void put_block(struct bytes *table, struct bytes *block, struct bytes *handle)
{
  enum { DEFLATE = 4, TRAILER_NBYTES = 5 };
  static const uint8_t restarts[] = {0, 0, 0, 0, 1, 0, 0, 0};
  uint8_t sum[4];
  put(block, restarts, sizeof restarts);
  const size_t begin = table->n, nbytes = deflate_raw(block->at, block->n, table->at + begin,
                                                      table->room - begin - TRAILER_NBYTES);
  table->n += nbytes;
  put(table, &(uint8_t){DEFLATE}, 1);
  store_le32(sum, lanebloom_checksum(CHECKSUM_CRC32C, table->at + begin, nbytes + 1));
  put(table, sum, sizeof sum);
  put_varint(handle, begin);
  put_varint(handle, nbytes);
  block->n = 0;
}

/* Appends both blocks and the footer to the table. */
static void put_end(struct bytes *table, struct bytes *metaindex, struct bytes *index)
{
  enum { FOOTER_NBYTES = 48 };
  static const uint8_t magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
  uint8_t bytes[FOOTER_NBYTES] = {0};
  struct bytes footer = {.room = sizeof bytes, .at = bytes};
  put_block(table, metaindex, &footer);
  put_block(table, index, &footer);
  memcpy(bytes + sizeof bytes - sizeof magic, magic, sizeof magic);
  put(table, bytes, sizeof bytes);
}

static struct bytes bytes_alloc(size_t room)
{
  return (struct bytes){.room = room, .at = test_alloc(room)};
}

/* All blocks are in the codec of Minecraft's fork of LevelDB. Nothing names the order of keys, so
 * all of them are decompressed. Together they have more than 64 MiB, which is much more than 64
 * times the file. */
Test(compression, a_table_that_becomes_much_larger)
{
  enum { NBLOCKS = 450, VALUE_NBYTES = 160 << 10, TABLE_NBYTES = 1 << 20 };
  uint8_t handle_bytes[20];
  uint8_t *value = test_alloc(VALUE_NBYTES);
  struct bytes table = bytes_alloc(TABLE_NBYTES), block = bytes_alloc(2 * VALUE_NBYTES),
               index = bytes_alloc(TABLE_NBYTES);
  for (unsigned i = 0; i < NBLOCKS; i++) {
    struct bytes handle = {.room = sizeof handle_bytes, .at = handle_bytes};
    put_numbered(&block, i, (lanebloom_slice){value, VALUE_NBYTES});
    put_block(&table, &block, &handle);
    put_numbered(&index, i, (lanebloom_slice){handle.at, handle.n});
  }
  put_end(&table, &block, &index); /* the metaindex is empty */
  cr_assert(table.n < NBLOCKS * (VALUE_NBYTES / 600));

  char problem[512];
  lanebloom_table *opened;
  lanebloom_table_info info;
  cr_assert(lanebloom_table_parse(table.at, table.n, LANEBLOOM_WRITER_UNKNOWN, &opened, problem,
                                  sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  lanebloom_table_describe(opened, &info, sizeof info);
  cr_assert(!strstr(info.warning, "too large"), "%s", info.warning);
  cr_assert(info.has_range, "%s", info.warning);
  lanebloom_table_free(opened);
  free(value);
  free(table.at);
  free(block.at);
  free(index.at);
}

/* The partitions of a filter stay in memory together, so together they may have no more than one
 * block may have, which is 64 MiB and 64 times the file. All blocks that are read may have much
 * more. */
Test(compression, partitions_that_together_become_too_large)
{
  enum { PARTITION_NBYTES = 24 << 20, TABLE_NBYTES = 1 << 20 };
  static const char name[] = "partitionedfilter.rocksdb.BuiltinBloomFilter";
  struct bytes table = bytes_alloc(TABLE_NBYTES), block = bytes_alloc(PARTITION_NBYTES + 100),
               index = bytes_alloc(TABLE_NBYTES);
  memset(block.at, 0, block.room);
  for (unsigned n = 2; n <= 3; n++) {
    uint8_t handle_bytes[20];
    table.n = 0;
    for (unsigned i = 0; i < n; i++) {
      struct bytes handle = {.room = sizeof handle_bytes, .at = handle_bytes};
      block.n = PARTITION_NBYTES;
      put_block(&table, &block, &handle);
      put_numbered(&index, i, (lanebloom_slice){handle.at, handle.n});
    }
    struct bytes handle = {.room = sizeof handle_bytes, .at = handle_bytes};
    put_block(&table, &index, &handle);
    put_entry(&block, (lanebloom_slice){name, strlen(name)},
              (lanebloom_slice){handle.at, handle.n});
    put_end(&table, &block, &index); /* the index is empty */

    char problem[512];
    lanebloom_table *opened;
    const bool fits = n * (uint64_t)PARTITION_NBYTES <= (64 << 20) + 64 * (uint64_t)table.n;
    const lanebloom_status status = lanebloom_table_parse(
        table.at, table.n, LANEBLOOM_WRITER_UNKNOWN, &opened, problem, sizeof problem);
    cr_assert(status == (fits ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT), "%u partitions: %s", n,
              problem);
    cr_assert(fits == (n == 2));
    cr_assert(fits || strstr(problem, "after decompression for a file of this size"), "%s",
              problem);
    lanebloom_table_free(opened);
  }
  free(table.at);
  free(block.at);
  free(index.at);
}
