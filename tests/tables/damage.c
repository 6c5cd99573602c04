/* Damaged tables: those that still open have every key, and no byte outside them is read.
 * SPDX-License-Identifier: MIT */
#include "common/bytes.h"
#include "tables.h"
#include "tables/compression.h"

Test(tables, flipped)
{
  static const uint8_t flips[] = {0xff, 0x01, 0x80};
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    test_context("%s", path);
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    /* Changes to the footer, to the metaindex and to the bytes before them matter most. */
    enum { NEVERY = 300, STEP = 8 };
    const size_t step = test_exhaustive() ? 1 : STEP;
    for (size_t at = i % step; at < size; at += at + NEVERY < size ? step : 1)
      for (size_t f = 0; f < (step == 1 ? sizeof flips : 1); f++) {
        bytes[at] ^= flips[f];
        check_damaged(bytes, size, frozen[i].checksum ? &keys : NULL, path, at);
        bytes[at] ^= flips[f];
      }
    list_free(&list);
    free(bytes);
  }
}

Test(tables, truncated)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);
    for (size_t n = 0; n < size; n++) {
      lanebloom_table *table;
      struct guarded cut = guarded_copy(bytes, n, AT_END);
      cr_assert(lanebloom_table_parse(cut.bytes, n, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) !=
                    LANEBLOOM_OK,
                "%s cut to %zu bytes", path, n);
      guarded_free(&cut);
    }
    free(bytes);
  }
}

/* If a table has no checksums, changes reach every field. There must be no crash and no read
 * outside the table, and memory must not run out. */
Test(tables, garbled)
{
  enum { MAX_CHANGES = 8, AT_CHECKSUM_TYPE = 53 /* from the end */ };
  const size_t nrounds = test_exhaustive() ? 3000 : 500;
  struct rng rng = rng_start(77);
  for (size_t i = 0; i < NFROZEN; i++) {
    if (frozen[i].is_leveldb || frozen[i].version > 5)
      continue;
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);
    bytes[size - AT_CHECKSUM_TYPE] = 0;
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    for (size_t round = 0; round < nrounds; round++) {
      test_context("%s, round %zu", path, round);
      struct guarded damaged = guarded_copy(bytes, size, AT_END);
      /* Most of the file is data blocks, but changes to the bytes after them matter more. */
      const size_t first = round % 2 ? size * 2 / 3 : 0;
      for (uint64_t n = 1 + rng_below(&rng, MAX_CHANGES); n > 0; n--)
        damaged.bytes[first + rng_below(&rng, size - first)] = (uint8_t)rng_next(&rng);
      check_damaged(damaged.bytes, size, NULL, path, round);
      lanebloom_table *table;
      if (lanebloom_table_parse(damaged.bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
          LANEBLOOM_OK)
        lanebloom_table_screen(table, &keys, NULL);
      lanebloom_table_free(table);
      guarded_free(&damaged);
    }
    list_free(&list);
    free(bytes);
  }
}

/* Changes 4 bytes of a footer of version 6, and corrects its checksum. */
static void seal_footer(uint8_t *footer, size_t at, uint32_t value, size_t file_nbytes)
{
  enum { FOOTER_NBYTES = 53, AT_CHECKSUM = 5, AT_BASE = 9 };
  store_le32(footer + at, value);
  store_le32(footer + AT_CHECKSUM, 0);
  store_le32(footer + AT_CHECKSUM, lanebloom_checksum(footer[0], footer, FOOTER_NBYTES) +
                                       lanebloom_checksum_context(load_le32(footer + AT_BASE),
                                                                  file_nbytes - FOOTER_NBYTES));
}

Test(tables, footers)
{
  enum { FV5 = 8, FV6 = 11, FOOTER_NBYTES = 53, HANDLES_NBYTES = 40, MAGIC_NBYTES = 8 };
  enum { AT_MARK = 1, AT_BASE = 9, AT_METAINDEX_NBYTES = 13, AT_ZEROS = 33 };
  static const size_t fields[] = {AT_MARK, AT_BASE, AT_ZEROS, AT_ZEROS + 4};
  static const uint64_t other_magics[] = {0x8242229663bf9564, 0x4f3418eb7a8f13b8,
                                          0x926789d0c5f17873};
  char path[PATH_NBYTES];
  size_t size;
  frozen_path(FV5, path);
  uint8_t *bytes = test_read_file(path, &size), *footer = bytes + size - FOOTER_NBYTES;
  for (size_t n = FOOTER_NBYTES - 5; n < FOOTER_NBYTES; n++)
    assert_refused(bytes + size - n, n, LANEBLOOM_ERR_CORRUPT,
                   "truncated: expected RocksDB's footer");
  const uint8_t checksum = footer[0];
  footer[0] = CHECKSUM_END;
  assert_refused(bytes, size, LANEBLOOM_ERR_LIMIT, "checksum type: expected one below");
  footer[0] = checksum;
  memset(footer + 1, 0xff, HANDLES_NBYTES);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "damaged footer");
  for (size_t i = 0; i < 3; i++) {
    store_le64(bytes + size - MAGIC_NBYTES, other_magics[i]);
    assert_refused(bytes, size, LANEBLOOM_ERR_LIMIT, i < 2 ? "plain" : "cuckoo");
  }
  free(bytes);

  /* Even with right checksums, a footer is refused if its metaindex is larger than the file, if its
   * mark is another one, if the base of the checksums is 0, or if other bytes are in the place of
   * zeros. */
  frozen_path(FV6, path);
  bytes = test_read_file(path, &size);
  footer = bytes + size - FOOTER_NBYTES;
  seal_footer(footer, AT_METAINDEX_NBYTES, (uint32_t)size, size);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected a metaindex before");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const uint32_t old = load_le32(footer + fields[i]);
    seal_footer(footer, fields[i], fields[i] == AT_BASE ? 0 : ~old, size);
    assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected the fields of format_version 6");
    store_le32(footer + fields[i], old);
  }
  free(bytes);
}

/* The block's last bytes state a hash index, for whose size the block has no room. */
Test(tables, a_hash_index_without_room)
{
  static const uint8_t bytes[5] = {0, 0, 0, 0, 0x80};
  const struct block block = {.bytes = bytes + 1, .nbytes = 4};
  struct entries entries;
  cr_assert(lanebloom_entries_begin(&block, (struct entry_form){0}, LANEBLOOM_ENGINE_ROCKSDB,
                                    &(struct problem){0}, &entries) == LANEBLOOM_ERR_CORRUPT);
}

/* The decompressed blocks of a table may have only a limited size together. */
Test(tables, blocks_that_become_too_large)
{
  enum { SNAPPY = 1 };
  struct table_file *made = test_alloc(sizeof *made);
  table_add(made, (lanebloom_slice){"\5\20hello", 7}); /* the size 5, and 5 literal bytes */
  const struct handle handle = table_end_block(made, SNAPPY);
  const struct input input = {-1, made->bytes, made->n};
  const struct footer footer = {
      .engine = LANEBLOOM_ENGINE_ROCKSDB, .checksum = CHECKSUM_CRC32C, .offset = made->n};
  const struct problem problem = {0};
  struct block_reader reader = {.input = &input,
                                .footer = footer,
                                .nbytes_left = UINT64_MAX,
                                .decompressed_left = 14,
                                .max_block_nbytes = UINT64_MAX,
                                .problem = &problem};
  struct block block;
  for (size_t i = 0; i < 2; i++) {
    cr_assert(lanebloom_block_read(&reader, handle, BLOCK_META, "", &block) == LANEBLOOM_OK);
    cr_assert(block.nbytes == 5 && memcmp(block.bytes, "hello", 5) == 0 && !reader.is_too_large);
    lanebloom_block_free(&block);
  }
  cr_assert(lanebloom_block_read(&reader, handle, BLOCK_META, "", &block) == LANEBLOOM_ERR_LIMIT);
  cr_assert(reader.is_too_large && !block.memory);
  free(made);
}

/* The message names the engine and the codec, because a type has another codec in each engine. */
Test(tables, codecs_that_are_not_there)
{
  static const struct {
    lanebloom_engine engine;
    uint8_t type;
    const char *text;
  } cases[] = {
      {LANEBLOOM_ENGINE_LEVELDB, 3, "an unknown codec of LevelDB (type 3)"},
      {LANEBLOOM_ENGINE_ROCKSDB, 6, "xpress of RocksDB (type 6)"},
      {LANEBLOOM_ENGINE_ROCKSDB, 8, "an unknown codec of RocksDB (type 8)"},
      {LANEBLOOM_ENGINE_PEBBLE, 3, "an unknown codec of Pebble (type 3)"},
      {LANEBLOOM_ENGINE_PEBBLE, 9, "an unknown codec of Pebble (type 9)"},
      {LANEBLOOM_ENGINE_PEBBLE, 255, "an unknown codec of Pebble (type 255)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct table_file *made = test_alloc(sizeof *made);
    table_add(made, text("hello"));
    const struct handle handle = table_end_block(made, cases[i].type);
    const struct input input = {-1, made->bytes, made->n};
    char message[PROBLEM_NBYTES], expected[PROBLEM_NBYTES];
    const struct problem problem = {message, sizeof message};
    struct block_reader reader = {
        .input = &input,
        .footer = {.engine = cases[i].engine, .checksum = CHECKSUM_CRC32C, .offset = made->n},
        .nbytes_left = UINT64_MAX,
        .problem = &problem};
    struct block block;
    cr_assert(lanebloom_block_read(&reader, handle, BLOCK_META, "index", &block) ==
              LANEBLOOM_ERR_LIMIT);
    snprintf(expected, sizeof expected,
             "index at 0: compressed with %s, which this build does not read", cases[i].text);
    cr_assert_str_eq(message, expected, "found %s", message);
    free(made);
  }
}

/* leveldb-mcpe, Minecraft's fork of LevelDB, writes deflated data without a size, in older worlds
 * with zlib's header. Its number for that codec means zstd elsewhere. */
Test(tables, deflate_of_a_fork_of_leveldb)
{
  static const uint8_t raw[] = {1, 5, 0, 0xfa, 0xff, 'h', 'e', 'l', 'l', 'o'},
                       whole[] = {0x78, 0x01, 1,   5,   0,    0xfa, 0xff, 'h',
                                  'e',  'l',  'l', 'o', 0x06, 0x2c, 0x02, 0x15};
  static const struct {
    uint8_t type;
    lanebloom_slice block;
  } cases[] = {{4, {raw, sizeof raw}}, {2, {whole, sizeof whole}}};
  if (!lanebloom_codec_is_built(CODEC_ZLIB))
    cr_skip_test("this build lacks zlib");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const lanebloom_slice block = cases[i].block;
    const struct compressed compressed = {
        .codec = lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, cases[i].type, block),
        .engine = LANEBLOOM_ENGINE_LEVELDB,
        .bytes = block.data,
        .nbytes = block.size,
        .max_nbytes = 5};
    uint8_t *bytes;
    size_t nbytes;
    cr_assert(lanebloom_decompress(&compressed, &bytes, &nbytes) == LANEBLOOM_OK, "case %zu", i);
    cr_assert(nbytes == 5 && memcmp(bytes, "hello", 5) == 0);
    free(bytes);
  }
  static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  const lanebloom_slice frame = {zstd, sizeof zstd};
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, 2, frame) == CODEC_ZSTD);
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_LEVELDB, 4, frame) == CODEC_DEFLATE);
}

/* In each encoding, a size is followed by bytes that no codec makes. */
Test(tables, decompressing)
{
  enum { NTYPES = 9, NBYTES = 16, ZSTD_NOT_FINAL = 0x40 };
  static const lanebloom_engine engines[] = {LANEBLOOM_ENGINE_LEVELDB, LANEBLOOM_ENGINE_ROCKSDB};
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_ROCKSDB, ZSTD_NOT_FINAL, (lanebloom_slice){0}) ==
            CODEC_ZSTD);
  for (size_t i = 0; i < 2 * NTYPES; i++)
    for (uint32_t version = 0; version <= 5; version++)
      for (size_t n = 0; n < 2 * NBYTES; n++) {
        uint8_t bytes[NBYTES], *decompressed;
        memset(bytes, 0xff, sizeof bytes);
        bytes[0] = n < NBYTES ? 9 : 0xff; /* a plausible size, or a size that never ends */
        const struct compressed compressed = {
            .codec = lanebloom_codec(engines[i / NTYPES], (uint8_t)(i % NTYPES),
                                     (lanebloom_slice){bytes, n % NBYTES + 1}),
            .engine = engines[i / NTYPES],
            .version = version,
            .bytes = bytes,
            .nbytes = n % NBYTES + 1,
            .max_nbytes = 1 << 20};
        size_t nbytes;
        if (compressed.codec == CODEC_NONE)
          continue;
        const lanebloom_status status = lanebloom_decompress(&compressed, &decompressed, &nbytes);
        cr_assert((status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_LIMIT) &&
                      !decompressed,
                  "%s, type %zu of engine %zu, version %u, %zu bytes: %d",
                  lanebloom_codec_name(compressed.codec), i % NTYPES, i / NTYPES, version,
                  compressed.nbytes, status);
      }
}
