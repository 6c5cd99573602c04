/* Frozen blocks: each must have its codec, and must become its data.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "common/bytes.h"
#include "rows.h"
#include "tables/checksum.h"
#include "tables/compression.h"

static void check_block(lanebloom_engine engine, uint8_t type, enum codec codec,
                        const struct guarded *stored, const struct guarded *data)
{
  const enum codec found =
      lanebloom_codec(engine, type, (lanebloom_slice){stored->bytes, stored->nbytes});
  cr_assert(found == codec, "found %s", lanebloom_codec_name(found));
  const struct compressed compressed = {.codec = codec,
                                        .engine = engine,
                                        .bytes = stored->bytes,
                                        .nbytes = stored->nbytes,
                                        .max_nbytes = data->nbytes};
  const uint8_t *bytes = stored->bytes;
  uint8_t *decompressed = NULL;
  size_t nbytes = stored->nbytes;
  if (codec != CODEC_NONE) {
    cr_assert(lanebloom_decompress(&compressed, &decompressed, &nbytes) == LANEBLOOM_OK);
    bytes = decompressed;
  }
  cr_assert(nbytes == data->nbytes, "%zu bytes, expected %zu", nbytes, data->nbytes);
  test_same_bytes("data", bytes, data->bytes, nbytes);
  free(decompressed);
}

Test(frozen_blocks, leveldb_and_its_fork)
{
  static const char *const names[] = {[CODEC_NONE] = "none",
                                      [CODEC_ZLIB] = "zlib",
                                      [CODEC_DEFLATE] = "deflate",
                                      [CODEC_ZSTD] = "zstd"};
  struct rows rows = rows_open("leveldb_block_types.txt");
  while (rows_next(&rows, 5)) {
    const uint8_t type = (uint8_t)atoi(rows.values[0]);
    enum codec codec = CODEC_UNKNOWN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (names[i] && strcmp(names[i], rows.values[2]) == 0)
        codec = (enum codec)i;
    struct guarded sum = rows_bytes(rows.values[1]), stored = rows_bytes(rows.values[3]),
                   data = rows_bytes(rows.values[4]);
    check_block(LANEBLOOM_ENGINE_LEVELDB, type, codec, &stored, &data);
    uint8_t *with_type = test_alloc(stored.nbytes + 1);
    memcpy(with_type, stored.bytes, stored.nbytes);
    with_type[stored.nbytes] = type;
    cr_assert(lanebloom_checksum(CHECKSUM_CRC32C, with_type, stored.nbytes + 1) ==
              load_le32(sum.bytes));
    free(with_type);
    guarded_free(&sum);
    guarded_free(&stored);
    guarded_free(&data);
  }
  cr_assert(rows.n == 24, "%zu rows", rows.n);
  rows_close(&rows);
}

Test(frozen_blocks, minlz)
{
  enum { MINLZ = 8 };
  struct rows rows = rows_open("minlz_blocks.txt");
  while (rows_next(&rows, 3)) {
    struct guarded stored = rows_bytes(rows.values[1]), data = rows_bytes(rows.values[2]);
    check_block(LANEBLOOM_ENGINE_PEBBLE, MINLZ, CODEC_MINLZ, &stored, &data);
    guarded_free(&stored);
    guarded_free(&data);
  }
  cr_assert(rows.n == 60, "%zu rows", rows.n);
  rows_close(&rows);
}
