/* RocksDB's format versions 6 and 7, which Debian's RocksDB does not write. They are made from
 * frozen tables of version 5.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/bytes.h"
#include "tables.h"

static const uint32_t checksum_base = 0x12345678;

static void checksum_block(uint8_t *file, struct handle handle, uint32_t checksum)
{
  uint8_t *trailer = file + handle.offset + handle.nbytes;
  store_le32(trailer + 1,
             lanebloom_checksum(checksum, file + handle.offset, (size_t)handle.nbytes + 1) +
                 lanebloom_checksum_context(checksum_base, handle.offset));
}

/* Sets the checksums of the blocks that an index of version 5 names. If these blocks are indexes,
 * also sets the checksums of the blocks that they name. */
static void checksum_named(struct block_reader *reader, struct handle handle, int nlevels,
                           uint8_t *file)
{
  struct index index = {0};
  const struct entry_form form = {.has_deltas = true};
  cr_assert(lanebloom_index_read(reader, handle, form, "", &index) == LANEBLOOM_OK);
  for (size_t i = 0; i < index.n; i++) {
    checksum_block(file, index.handles[i], reader->footer.checksum);
    if (nlevels > 1)
      checksum_named(reader, index.handles[i], nlevels - 1, file);
  }
  lanebloom_index_free(&index);
}

/* Rewrites a table of version 5 as a later version, with other checksums, another footer, and an
 * index that the metaindex names. Returns the new size. */
static size_t upgrade(const uint8_t *bytes, size_t size, bool is_partitioned, uint32_t version,
                      uint8_t *made)
{
  static const char name[] = "rocksdb.index";
  static const uint8_t mark[] = {0x3e, 0, 0x7a, 0};
  enum { FOOTER_NBYTES = 53, RESTARTS_NBYTES = 8 };
  const struct problem problem = {0};
  const struct input input = {-1, bytes, size};
  struct block_reader reader = {.input = &input, .nbytes_left = UINT64_MAX, .problem = &problem};
  cr_assert(lanebloom_footer_read(&input, &reader.footer, &problem) == LANEBLOOM_OK);
  const struct footer *old = &reader.footer;
  struct index meta = {0};
  cr_assert(lanebloom_index_read(&reader, old->metaindex, (struct entry_form){0}, "", &meta) ==
            LANEBLOOM_OK);
  memcpy(made, bytes, (size_t)old->metaindex.offset);
  checksum_block(made, old->index, old->checksum);
  for (size_t i = 0; i < meta.n; i++)
    checksum_block(made, meta.handles[i], old->checksum);
  checksum_named(&reader, old->index, is_partitioned ? 2 : 1, made);
  if (is_partitioned) /* the metaindex's first entry names the filters */
    checksum_named(&reader, meta.handles[0], 1, made);

  const uint8_t *from = bytes + old->metaindex.offset;
  const size_t entries_nbytes =
      (size_t)old->metaindex.nbytes - 4 - 4 * load_le32(from + old->metaindex.nbytes - 4);
  uint8_t value[20], *to = made + old->metaindex.offset;
  const size_t value_nbytes =
      (size_t)(put_varint(put_varint(value, old->index.offset), old->index.nbytes) - value);
  memcpy(to, from, entries_nbytes);
  to += entries_nbytes;
  to = put_varint(put_varint(put_varint(to, 0), sizeof name - 1), value_nbytes);
  memcpy(to, name, sizeof name - 1);
  memcpy(to + sizeof name - 1, value, value_nbytes);
  to += sizeof name - 1 + value_nbytes;
  memset(to, 0, RESTARTS_NBYTES + 1);
  store_le32(to + 4, 1);
  to += RESTARTS_NBYTES;
  const struct handle metaindex = {old->metaindex.offset,
                                   (uint64_t)(to - made) - old->metaindex.offset};
  checksum_block(made, metaindex, old->checksum);
  to += BLOCK_TRAILER_NBYTES;

  memset(to, 0, FOOTER_NBYTES);
  to[0] = (uint8_t)old->checksum;
  memcpy(to + 1, mark, sizeof mark);
  store_le32(to + 9, checksum_base);
  store_le32(to + 13, (uint32_t)metaindex.nbytes);
  store_le32(to + 41, version);
  memcpy(to + 45, bytes + size - 8, 8);
  store_le32(to + 5, lanebloom_checksum(old->checksum, to, FOOTER_NBYTES) +
                         lanebloom_checksum_context(checksum_base, (uint64_t)(to - made)));
  lanebloom_index_free(&meta);
  return (size_t)(to - made) + FOOTER_NBYTES;
}

/* Checks a table whose metaindex does not name the index, as it should. Changes the bytes. */
static void check_index_unnamed(uint8_t *bytes, size_t size)
{
  static const char name[] = "rocksdb.index";
  const struct problem problem = {0};
  const struct input input = {-1, bytes, size};
  struct footer footer;
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_OK);
  char *named =
      memmem(bytes + footer.metaindex.offset, footer.metaindex.nbytes, name, sizeof name - 1);
  cr_assert(named);
  named[sizeof name - 2] = 'y';
  checksum_block(bytes, footer.metaindex, footer.checksum);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected it to name the index");
}

Test(tables, upgraded)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    enum { ROOM = 256 };
    if (frozen[i].version != 5)
      continue;
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = test_read_file(path, &size), *made = test_alloc(size + ROOM);
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    for (uint32_t version = 6; version <= 7; version++) {
      const size_t made_size = upgrade(
          bytes, size, frozen[i].filter == LANEBLOOM_TABLE_FILTER_PARTITIONED, version, made);
      char problem[PROBLEM_NBYTES];
      lanebloom_table *table;
      cr_assert(lanebloom_table_parse(made, made_size, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                      sizeof problem) == LANEBLOOM_OK,
                "%s: %s", path, problem);
      lanebloom_table_info info;
      lanebloom_table_describe(table, &info, sizeof info);
      cr_assert(info.version == version && info.has_range && !info.warning[0] &&
                info.filter == frozen[i].filter);
      check_keys(table, &list, path);
      lanebloom_table_free(table);
      enum { NEVERY = 300, STEP = 8 };
      const size_t step = test_exhaustive() ? 1 : STEP;
      for (size_t at = 0; frozen[i].checksum && at < made_size;
           at += at + NEVERY < made_size ? step : 1) {
        made[at] ^= 0x10;
        check_damaged(made, made_size, &keys, path, at);
        made[at] ^= 0x10;
      }
      check_index_unnamed(made, made_size);
    }
    list_free(&list);
    free(made);
    free(bytes);
  }
}
