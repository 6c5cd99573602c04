/* Tables made by hand, a block at a time.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/bytes.h"
#include "tables.h"

void table_add(struct table_file *file, lanebloom_slice bytes)
{
  cr_assert(bytes.size <= sizeof file->bytes - file->n);
  memcpy(file->bytes + file->n, bytes.data, bytes.size);
  file->n += bytes.size;
}

void table_add_entry(struct table_file *file, size_t shared, lanebloom_slice rest,
                     lanebloom_slice value)
{
  uint8_t sizes[30];
  const uint8_t *end = put_varint(put_varint(put_varint(sizes, shared), rest.size), value.size);
  table_add(file, (lanebloom_slice){sizes, (size_t)(end - sizes)});
  table_add(file, rest);
  table_add(file, value);
}

void table_add_handle(struct table_file *file, const char *key, struct handle handle)
{
  uint8_t value[20];
  const uint8_t *end = put_varint(put_varint(value, handle.offset), handle.nbytes);
  table_add_entry(file, 0, text(key), (lanebloom_slice){value, (size_t)(end - value)});
}

struct handle table_end_block(struct table_file *file, uint8_t compression)
{
  const struct handle handle = {file->begin, file->n - file->begin};
  uint8_t sum[4];
  table_add(file, (lanebloom_slice){&compression, 1});
  store_le32(sum, lanebloom_checksum(CHECKSUM_CRC32C, file->bytes + handle.offset,
                                     (size_t)handle.nbytes + 1));
  table_add(file, (lanebloom_slice){sum, sizeof sum});
  file->begin = file->n;
  return handle;
}

struct handle table_end_entries(struct table_file *file)
{
  static const uint8_t restarts[] = {0, 0, 0, 0, 1, 0, 0, 0};
  table_add(file, (lanebloom_slice){restarts, sizeof restarts});
  return table_end_block(file, 0);
}

struct handle table_add_data(struct table_file *file, const char *letters, const char *behind)
{
  for (char key[16] = ""; *letters; letters++) {
    snprintf(key, sizeof key, "%c%s", *letters, behind);
    table_add_entry(file, 0, text(key), text(""));
  }
  return table_end_entries(file);
}

struct handle table_add_filters(struct table_file *file, const struct handle *data,
                                const char *const *letters, size_t n)
{
  enum { BASE_LG = 4 }; /* as small as data blocks, so that each has a filter */
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 20, BASE_LG, &builder) ==
            LANEBLOOM_OK);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_keys keys = lanebloom_keys_fixed(letters[i], 1, strlen(letters[i]));
    cr_assert(lanebloom_filter_block_builder_start_block(builder, data[i].offset) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  }
  lanebloom_slice filters;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &filters.data, &filters.size) ==
            LANEBLOOM_OK);
  table_add(file, filters);
  lanebloom_filter_block_builder_free(builder);
  return table_end_block(file, 0);
}

struct handle table_add_properties(struct table_file *file, lanebloom_slice comparator,
                                   uint8_t index_type)
{
  const uint8_t type[] = {index_type, 0, 0, 0};
  table_add_entry(file, 0, text("rocksdb.block.based.table.index.type"),
                  (lanebloom_slice){type, sizeof type});
  table_add_entry(file, 0, text("rocksdb.comparator"), comparator);
  table_add_entry(file, 0, text("rocksdb.index.key.is.user.key"), text("\1"));
  return table_end_entries(file);
}

void table_finish(struct table_file *file, bool is_leveldb, struct handle metaindex,
                  struct handle index)
{
  static const uint8_t leveldb[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb},
                       rocksdb[] = {5, 0, 0, 0, 0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88};
  uint8_t handles[40] = {0};
  put_varint(
      put_varint(put_varint(put_varint(handles, metaindex.offset), metaindex.nbytes), index.offset),
      index.nbytes);
  if (!is_leveldb)
    table_add(file, (lanebloom_slice){&(uint8_t){CHECKSUM_CRC32C}, 1});
  table_add(file, (lanebloom_slice){handles, sizeof handles});
  table_add(file, is_leveldb ? (lanebloom_slice){leveldb, sizeof leveldb}
                             : (lanebloom_slice){rocksdb, sizeof rocksdb});
}

struct key_list list_letters(const char *letters)
{
  struct key_list list = {0};
  for (; *letters; letters++)
    list_add(&list, letters, 1);
  return list;
}

void check_table_file(const struct table_file *file, const char *letters, const char *warning)
{
  struct key_list keys = list_letters(letters);
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(file->bytes, file->n, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                  sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  cr_assert(warning ? strstr(table->warning, warning) != NULL
                    : table->has_range && !table->warning[0],
            "%s", table->warning);
  check_keys(table, &keys, "made");
  lanebloom_table_free(table);
  list_free(&keys);
}

struct table_file *make_small_table(const char *letters, const char *behind,
                                    lanebloom_slice comparator)
{
  struct table_file *file = test_alloc(sizeof *file);
  table_add_handle(file, "z", table_add_data(file, letters, behind));
  const struct handle index = table_end_entries(file),
                      properties = table_add_properties(file, comparator, 0);
  table_add_handle(file, "rocksdb.properties", properties);
  table_finish(file, false, table_end_entries(file), index);
  return file;
}
