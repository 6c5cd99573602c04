/* Functions that the tests of tables share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_TABLES_H
#define LANEBLOOM_TESTS_TABLES_H

#include <criterion/criterion.h>
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "support.h"
#include "tables/loader.h"

enum { PATH_NBYTES = 512, PROBLEM_NBYTES = 300 };

/* ---- Keys ---- */

struct key_list {
  uint8_t *bytes;
  uint64_t *offsets;
  size_t n, room, bytes_room;
};

void list_add(void *context, const void *key, size_t size);

void list_free(struct key_list *list);

static inline lanebloom_keys list_keys(const struct key_list *list)
{
  return lanebloom_keys_offsets64(list->bytes, list->offsets, list->n);
}

static inline lanebloom_slice list_key(const struct key_list *list, size_t i)
{
  return (lanebloom_slice){list->bytes + list->offsets[i], list->offsets[i + 1] - list->offsets[i]};
}

int compare_slices(lanebloom_slice a, lanebloom_slice b);

static inline bool has_bit(const uint8_t *bitmap, size_t i)
{
  return bitmap[i / 8] >> i % 8 & 1;
}

uint8_t *bitmap_make(size_t n);

/* Draws random keys that no set writes. */
void draw_absent(struct key_list *list, size_t n, uint64_t stream);

/* ---- Files ---- */

void folder_make(char *path);

void folder_free(const char *path);

void file_write(const char *folder, const char *name, const void *bytes, size_t size);

/* ---- Frozen tables ---- */

enum { NFROZEN = 17 };

struct frozen {
  const char *name;
  bool is_leveldb;
  uint32_t version, checksum;
  lanebloom_table_filter filter;
  lanebloom_format format;
  bool has_whole_keys, has_prefixes, has_range;
};
extern const struct frozen frozen[NFROZEN];

void frozen_path(size_t i, char *path);

void frozen_keys(size_t i, struct key_list *list);

/* Returns the bytes of a frozen table without its checksums, so that the bytes can be changed. */
uint8_t *read_unsealed(const char *path, size_t *size);

/* ---- Checks ---- */

lanebloom_table *must_open(const char *path);

/* Checks that every kernel finds the keys, in parts, all at once, and one by one. */
void check_keys(const lanebloom_table *table, const struct key_list *list, const char *what);

/* Checks that absent keys in a table's range pass at the rate that the table's bits per
 * key give. */
void check_absent(const lanebloom_table *table, const lanebloom_table_info *info,
                  const struct oracle_set *set, const struct key_list *absent);

/* Checks that one call for all tables gives the results of a call for each table. If the keys are
 * live, each must be found in a table. */
void check_together(const lanebloom_table *const *tables, size_t n, const struct key_list *keys,
                    bool is_live, const char *name);

void check_warned(const uint8_t *bytes, size_t size, const struct key_list *keys,
                  const char *warning);

void assert_refused(const uint8_t *bytes, size_t size, lanebloom_status expected,
                    const char *part_of_problem);

/* Checks that a damaged table, if it still opens, has every key. */
void check_damaged(const uint8_t *bytes, size_t size, const lanebloom_keys *keys, const char *what,
                   size_t at);

/* ---- Tables made by hand ---- */

/* A growing file, made block by block. */
struct table_file {
  size_t n, begin; /* begin: where the current block begins */
  uint8_t bytes[1 << 16];
};

static inline lanebloom_slice text(const char *string)
{
  return (lanebloom_slice){string, strlen(string)};
}

void table_add(struct table_file *file, lanebloom_slice bytes);

/* Adds an entry whose key begins with `shared` bytes of the key before it. */
void table_add_entry(struct table_file *file, size_t shared, lanebloom_slice rest,
                     lanebloom_slice value);

void table_add_handle(struct table_file *file, const char *key, struct handle handle);

/* Ends a block, whatever it contains. */
struct handle table_end_block(struct table_file *file, uint8_t compression);

struct handle table_end_entries(struct table_file *file);

/* Makes a data block. Each of its keys is one letter, followed by `behind`. */
struct handle table_add_data(struct table_file *file, const char *letters, const char *behind);

/* Makes a filter block that has, for each data block, a filter of these letters. */
struct handle table_add_filters(struct table_file *file, const struct handle *data,
                                const char *const *letters, size_t n);

/* Makes properties which state that the index has user keys. */
struct handle table_add_properties(struct table_file *file, lanebloom_slice comparator,
                                   uint8_t index_type);

void table_finish(struct table_file *file, bool is_leveldb, struct handle metaindex,
                  struct handle index);

struct key_list list_letters(const char *letters);

/* Checks that keys are found. Unless a warning is expected, also checks that the table has a range
 * and that every filter is queried. */
void check_table_file(const struct table_file *file, const char *letters, const char *warning);

/* Makes a RocksDB table with one data block. */
struct table_file *make_small_table(const char *letters, const char *behind,
                                    lanebloom_slice comparator);

uint8_t *put_varint(uint8_t *to, uint64_t value);

static const char suffix[] =
    "\1......."; /* the suffix of keys in databases of LevelDB and RocksDB */

/* The name of the only order in which keys can be searched. */
static const char bytewise[] = "leveldb.BytewiseComparator";

#endif
