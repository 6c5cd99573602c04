/* Tables that engines rarely or never write, with unusable filters or with keys in unusual places.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "common/bytes.h"
#include "tables.h"

/* ---- Filters ---- */

/* One partition cannot be queried, because it has another hash. The other partition can. */
Test(tables, partitions_of_other_kinds)
{
  enum { TRAILER_NBYTES = 5, LINE_NBYTES = 64, NPROBES = 6 };
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(9, path);
  frozen_keys(9, &keys);
  lanebloom_table *table = must_open(path);
  cr_assert(table->index.n >= 2);
  uint8_t *bytes = read_unsealed(path, &size);
  const struct handle last = table->index.handles[table->index.n - 1];
  uint8_t *trailer = bytes + last.offset + last.nbytes - TRAILER_NBYTES;
  trailer[0] = NPROBES; /* as in LegacyBloom */
  store_le32(trailer + 1, (uint32_t)(last.nbytes - TRAILER_NBYTES) / LINE_NBYTES);
  check_warned(bytes, size, &keys, "unknown filter");
  lanebloom_table_free(table);
  list_free(&keys);
  free(bytes);
}

/* The offsets of this filter block begin after its end, but its checksum is right. LevelDB does not
 * query such a block either. */
Test(tables, a_filter_block_without_offsets)
{
  enum { TRAILER_NBYTES = 5 };
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(0, path);
  frozen_keys(0, &keys);
  uint8_t *bytes = test_read_file(path, &size);
  lanebloom_table *table = must_open(path);
  const size_t at = (size_t)table->filter_data[0].offset, nbytes = table->filter_data[0].nbytes;
  lanebloom_table_free(table);
  store_le32(bytes + at + nbytes - TRAILER_NBYTES, UINT32_MAX);
  store_le32(bytes + at + nbytes + 1, lanebloom_checksum(CHECKSUM_CRC32C, bytes + at, nbytes + 1));
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(info.filter == LANEBLOOM_TABLE_FILTER_BLOCK && info.filter_nbytes == nbytes &&
                info.model_rate == 1,
            "rate %g", info.model_rate);
  check_keys(table, &keys, "without offsets");
  lanebloom_table_free(table);
  list_free(&keys);
  free(bytes);
}

/* If a table has several filters, the filter that RocksDB queries is queried, whatever the order of
 * their names. */
Test(tables, several_filters)
{
  const lanebloom_keys letters = lanebloom_keys_fixed("abc", 1, 3),
                       others = lanebloom_keys_fixed("ABC", 1, 3);
  struct table_file *file = test_alloc(sizeof *file);
  struct handle handles[2];
  for (size_t i = 0; i < 2; i++) {
    lanebloom_filter *filter;
    lanebloom_slice bytes;
    cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 20, i ? &others : &letters,
                                     &filter) == LANEBLOOM_OK);
    bytes.data = lanebloom_filter_bytes(filter, &bytes.size);
    table_add(file, bytes);
    lanebloom_filter_free(filter);
    handles[i] = table_end_block(file, 0);
  }
  table_add_handle(file, "z", handles[1]);
  const struct handle parts = table_end_entries(file);
  table_add_handle(file, "z", table_add_data(file, "abc", suffix));
  const struct handle index = table_end_entries(file),
                      properties = table_add_properties(file, text(bytewise), 0);
  table_add_handle(file, "filter.rocksdb.BuiltinBloomFilter", handles[1]);
  table_add_handle(file, "fullfilter.rocksdb.BuiltinBloomFilter", handles[0]);
  table_add_handle(file, "partitionedfilter.rocksdb.BuiltinBloomFilter", parts);
  table_add_handle(file, "rocksdb.properties", properties);
  table_finish(file, false, table_end_entries(file), index);
  check_table_file(file, "abc", NULL);
  free(file);
}

/* Keys with the same prefix pass together. So filters that have only prefixes have no rate, unless
 * each prefix is a whole key. */
Test(tables, rates_of_prefixes)
{
  static const struct {
    const char *extractor;
    bool has_rate;
  } trials[] = {{"rocksdb.FixedPrefix.1", false}, {"rocksdb.Noop", true}, {"other", true}};
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct table_file *file = test_alloc(sizeof *file);
    const lanebloom_keys keys = lanebloom_keys_fixed("abc", 1, 3);
    lanebloom_filter *filter;
    lanebloom_slice bytes;
    cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 20, &keys, &filter) == LANEBLOOM_OK);
    bytes.data = lanebloom_filter_bytes(filter, &bytes.size);
    table_add(file, bytes);
    lanebloom_filter_free(filter);
    const struct handle filters = table_end_block(file, 0);
    table_add_handle(file, "z", table_add_data(file, "abc", suffix));
    const struct handle index = table_end_entries(file);
    table_add_entry(file, 0, text("rocksdb.block.based.table.prefix.filtering"), text("1"));
    table_add_entry(file, 0, text("rocksdb.block.based.table.whole.key.filtering"), text("0"));
    table_add_entry(file, 0, text("rocksdb.prefix.extractor.name"), text(trials[i].extractor));
    const struct handle properties = table_add_properties(file, text(bytewise), 0);
    table_add_handle(file, "fullfilter.rocksdb.BuiltinBloomFilter", filters);
    table_add_handle(file, "rocksdb.properties", properties);
    table_finish(file, false, table_end_entries(file), index);
    lanebloom_table *table;
    lanebloom_table_info info;
    cr_assert(lanebloom_table_parse(file->bytes, file->n, 0, &table, NULL, 0) == LANEBLOOM_OK);
    lanebloom_table_describe(table, &info, sizeof info);
    cr_assert(!info.has_whole_keys && info.has_prefixes && info.nfilters == 1);
    cr_assert(isnan(info.model_rate) == !trials[i].has_rate, "%s: %g", trials[i].extractor,
              info.model_rate);
    lanebloom_table_free(table);
    free(file);
  }
}

/* ---- Keys and indexes ---- */

Test(tables, an_index_without_blocks)
{
  enum { FV5 = 8, FOOTER_NBYTES = 53, LEVELDB_FOOTER_NBYTES = 48 };
  static const uint8_t empty[9] = {0, 0, 0, 0, 1}; /* one restart, not compressed */
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  struct footer footer;
  frozen_path(FV5, path);
  frozen_keys(FV5, &keys);
  uint8_t *bytes = read_unsealed(path, &size);
  const struct input input = {-1, bytes, size};
  cr_assert(lanebloom_footer_read(&input, &footer, &(struct problem){0}) == LANEBLOOM_OK);
  memcpy(bytes + footer.index.offset, empty, sizeof empty);
  uint8_t *to = bytes + size - FOOTER_NBYTES + 1;
  to = put_varint(put_varint(to, footer.metaindex.offset), footer.metaindex.nbytes);
  put_varint(put_varint(to, footer.index.offset), sizeof empty - 1);
  check_warned(bytes, size, &keys, "the index names no data blocks");
  free(bytes);

  /* LevelDB's tables have no properties that could state a number of keys, so this table has no
   * keys. */
  frozen_path(0, path);
  bytes = test_read_file(path, &size);
  const struct input other = {-1, bytes, size};
  cr_assert(lanebloom_footer_read(&other, &footer, &(struct problem){0}) == LANEBLOOM_OK);
  uint8_t *index = bytes + footer.index.offset;
  memcpy(index, empty, sizeof empty);
  store_le32(index + sizeof empty, lanebloom_checksum(CHECKSUM_CRC32C, index, sizeof empty));
  to = put_varint(put_varint(bytes + size - LEVELDB_FOOTER_NBYTES, footer.metaindex.offset),
                  footer.metaindex.nbytes);
  put_varint(put_varint(to, footer.index.offset), sizeof empty - 1);
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  const lanebloom_keys batch = list_keys(&keys);
  cr_assert(lanebloom_table_screen(table, &batch, NULL) == 0);
  lanebloom_table_free(table);
  list_free(&keys);
  free(bytes);
}

/* The keys are in order. But the separators do not lead to the block of one key, although the
 * filter of that block has the key; or one key has no suffix. If a block is damaged, it is not
 * known whether it has such keys. */
Test(tables, a_key_where_no_separator_leads)
{
  enum { NBLOCKS = 3 };
  static const char *const letters[NBLOCKS] = {"ab", "c", "dz"},
                           other[] = "keys are not in bytewise order";
  static const struct {
    const char *separators[NBLOCKS], *suffix, *of_middle;
    bool is_damaged;
    const char *warning;
  } trials[] = {
      {{"b", "c", "z"}, "", "", false, NULL},
      {{"b", "d", "z"}, "", "", false, other},
      {{"a", "c", "z"}, "", "", false, other},
      {{"b", "d", "z"},
       "",
       "",
       true,
       "a data block is damaged or too large, so the order of keys is not known"},
      {{"b\1.......", "cc\1.......", "z\1......."}, suffix, suffix, false, NULL},
      {{"b\1.......", "cc\1.......", "z\1......."}, suffix, "", false, other},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct table_file *file = test_alloc(sizeof *file);
    struct handle data[NBLOCKS];
    for (size_t b = 0; b < NBLOCKS; b++)
      data[b] = table_add_data(file, letters[b], b == 1 ? trials[i].of_middle : trials[i].suffix);
    file->bytes[data[1].offset] ^= trials[i].is_damaged;
    const struct handle filters = table_add_filters(file, data, letters, NBLOCKS);
    for (size_t b = 0; b < NBLOCKS; b++)
      table_add_handle(file, trials[i].separators[b], data[b]);
    const struct handle index = table_end_entries(file);
    table_add_handle(file, "filter.leveldb.BuiltinBloomFilter2", filters);
    table_finish(file, true, table_end_entries(file), index);
    check_table_file(file, "abcdz", trials[i].warning);
    free(file);
  }
}

/* A block that is not decompressed has no part in the list of codecs. Here its type stands for two
 * codecs, and its bytes are of neither. */
Test(tables, the_codec_of_a_damaged_block)
{
  enum { NBLOCKS = 3, ZLIB_OR_ZSTD = 2 };
  static const char *const letters[NBLOCKS] = {"a", "b", "c"};
  struct table_file *file = test_alloc(sizeof *file);
  struct handle data[NBLOCKS];
  for (size_t b = 0; b < NBLOCKS; b++)
    data[b] = table_add_data(file, letters[b], "");
  uint8_t *block = file->bytes + data[1].offset;
  const size_t nbytes = (size_t)data[1].nbytes + 1;
  block[nbytes - 1] = ZLIB_OR_ZSTD;
  store_le32(block + nbytes, lanebloom_checksum(CHECKSUM_CRC32C, block, nbytes));
  const struct handle filters = table_add_filters(file, data, letters, NBLOCKS);
  for (size_t b = 0; b < NBLOCKS; b++)
    table_add_handle(file, letters[b], data[b]);
  const struct handle index = table_end_entries(file);
  table_add_handle(file, "filter.leveldb.BuiltinBloomFilter2", filters);
  table_finish(file, true, table_end_entries(file), index);
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(file->bytes, file->n, LANEBLOOM_WRITER_UNKNOWN, &table, NULL,
                                  0) == LANEBLOOM_OK);
  cr_assert(strstr(table->warning, "a data block is damaged"), "%s", table->warning);
  cr_assert(table->codecs[0] == 0, "%s", table->codecs);
  lanebloom_table_free(table);
  free(file);
}

/* Without a filter, it is not known whether stored keys are the user's own or have a suffix. Both
 * kinds of keys must be found. */
Test(tables, a_suffix_or_none)
{
  static const char letters[] = "abc";
  struct table_file *file = test_alloc(sizeof *file);
  table_add_handle(file, "d\1.......", table_add_data(file, letters, suffix));
  const struct handle index = table_end_entries(file);
  table_finish(file, true, table_end_entries(file), index);
  check_table_file(file, letters, "it cannot be told whether");
  struct key_list stored = {0};
  for (size_t i = 0; letters[i]; i++) {
    char key[16];
    list_add(&stored, key, (size_t)snprintf(key, sizeof key, "%c%s", letters[i], suffix));
  }
  check_warned(file->bytes, file->n, &stored, "it cannot be told whether");
  list_free(&stored);
  free(file);
}

/* If a table's only block is too large when it is decompressed, nothing is known of its keys. */
Test(tables, a_first_block_that_is_too_large)
{
  enum { SNAPPY = 1 };
  struct table_file *file = test_alloc(sizeof *file);
  table_add(file, text("\x80\x80\x80\x80\4")); /* states 2^30 bytes */
  table_add_handle(file, "z", table_end_block(file, SNAPPY));
  const struct handle index = table_end_entries(file);
  table_finish(file, true, table_end_entries(file), index);
  check_table_file(file, "abc", "very large, so the key range is not known");
  free(file);
}

/* If an index has two levels, as RocksDB's may have, the parts between the first and the last part
 * matter, too. One of these indexes does not ascend. */
Test(tables, an_index_for_a_filter_block)
{
  enum { NBLOCKS = 4, TWO_LEVELS = 2 };
  static const char *const letters[NBLOCKS] = {"ab", "ef", "cd", "gh"}, *const in_order[] = {
                                                                            "ab", "cd", "ef", "gh"};
  for (int is_in_order = 0; is_in_order < 2; is_in_order++) {
    const char *const *of_blocks = is_in_order ? in_order : letters;
    struct table_file *file = test_alloc(sizeof *file);
    struct handle blocks[NBLOCKS], parts[NBLOCKS];
    for (size_t i = 0; i < NBLOCKS; i++)
      blocks[i] = table_add_data(file, of_blocks[i], suffix);
    const struct handle filters = table_add_filters(file, blocks, of_blocks, NBLOCKS);
    for (size_t i = 0; i < NBLOCKS; i++) {
      table_add_handle(file, of_blocks[i] + 1, blocks[i]);
      parts[i] = table_end_entries(file);
    }
    for (size_t i = 0; i < NBLOCKS; i++)
      table_add_handle(file, of_blocks[i] + 1, parts[i]);
    const struct handle index = table_end_entries(file);
    const struct handle properties = table_add_properties(file, text(bytewise), TWO_LEVELS);
    table_add_handle(file, "filter.rocksdb.BuiltinBloomFilter", filters);
    table_add_handle(file, "rocksdb.properties", properties);
    table_finish(file, false, table_end_entries(file), index);
    check_table_file(file, "abcdefgh", is_in_order ? NULL : "the index is not in bytewise order");
    free(file);
  }
}

/* The comparator's name contains a 0 byte, where a string would end. */
Test(tables, a_name_with_a_0)
{
  static const char other[] = "leveldb.BytewiseComparator\0.other";
  struct table_file *file = make_small_table("abc", suffix, text(bytewise));
  check_table_file(file, "abc", NULL);
  free(file);
  file = make_small_table("bac", suffix, (lanebloom_slice){other, sizeof other - 1});
  check_table_file(file, "bac", "in their comparator's order");
  check_table_file(file, "xyz", "every key may be in the table"); /* there is no filter */
  free(file);
}

/* If keys are in another order, the filters of all data blocks are queried. As in LevelDB, a data
 * block without a filter may have any key. */
Test(tables, filters_in_another_order)
{
  enum { NBLOCKS = 3 };
  static const char *const letters[NBLOCKS] = {"fe", "dc", "ba"};
  for (size_t nfilters = NBLOCKS - 1; nfilters <= NBLOCKS; nfilters++) {
    struct table_file *file = test_alloc(sizeof *file);
    struct handle data[NBLOCKS];
    for (size_t i = 0; i < NBLOCKS; i++)
      data[i] = table_add_data(file, letters[i], suffix);
    const struct handle filters = table_add_filters(file, data, letters, nfilters);
    for (size_t i = 0; i < NBLOCKS; i++)
      table_add_handle(file, letters[i] + 1, data[i]);
    const struct handle index = table_end_entries(file);
    const struct handle properties = table_add_properties(file, text("other"), 0);
    table_add_handle(file, "filter.rocksdb.BuiltinBloomFilter", filters);
    table_add_handle(file, "rocksdb.properties", properties);
    table_finish(file, false, table_end_entries(file), index);
    check_table_file(file, "abcdef", "every filter is probed for each key");
    lanebloom_table *table;
    const lanebloom_keys absent = lanebloom_keys_fixed("ghijklmnopqrstuvwxyz", 1, 20);
    cr_assert(lanebloom_table_parse(file->bytes, file->n, 0, &table, NULL, 0) == LANEBLOOM_OK);
    const size_t npassing = lanebloom_table_screen(table, &absent, NULL);
    cr_assert(nfilters == NBLOCKS ? npassing < 3 : npassing == 20, "%zu filters: %zu", nfilters,
              npassing);
    lanebloom_table_free(table);
    free(file);
  }
}

Test(tables, a_key_without_a_suffix)
{
  struct table_file *file = make_small_table("abc", suffix, text(bytewise));
  check_table_file(file, "abc", NULL);
  free(file);
  file = make_small_table("abc", "......", text(bytewise));
  assert_refused(file->bytes, file->n, LANEBLOOM_ERR_CORRUPT,
                 "expected keys of at least 8 bytes, found one of 7");
  free(file);
}

/* If the first 8 bytes of two separators are both the largest number, the bytes after them
 * differ. */
Test(tables, separators_of_the_last_window)
{
  uint8_t separators[] = "a\xff\xff\xff\xff\xff\xff\xff\xff.\xff\xff\xff\xff\xff\xff\xff\xff~";
  size_t begins[] = {0, 1, 10, 19};
  struct index index = {.n = 3, .separators = separators, .begins = begins};
  cr_assert(lanebloom_index_prepare(&index, 0));
  for (size_t near = 0; near <= index.n; near++)
    for (size_t i = 0; i < index.n; i++)
      cr_assert(lanebloom_index_find(&index, lanebloom_index_separator(&index, i), near) == i,
                "%zu, %zu", near, i);
  free(index.windows);
}
