/* What the tests of tables share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_TABLES_H
#define LANEBLOOM_TESTS_TABLES_H

#include <criterion/criterion.h>
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"
#include "oracle.h"
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

/* Random keys that no set writes. */
void draw_absent(struct key_list *list, size_t n, uint64_t stream);

/* ---- Files ---- */

void folder_make(char *path);

void folder_free(const char *path);

void file_write(const char *folder, const char *name, const void *bytes, size_t size);

/* ---- Frozen tables ---- */

enum { NFROZEN = 13 };

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

/* What a frozen table becomes without checksums, so that it can be changed. */
uint8_t *read_unsealed(const char *path, size_t *size);

/* ---- Checks ---- */

lanebloom_table *must_open(const char *path);

/* Every kernel; keys of a table one part and more at a time; also one by one. */
void check_keys(const lanebloom_table *table, const struct key_list *list, const char *what);

/* Absent keys of a table's range pass at the rate that its bits promise. */
void check_absent(const lanebloom_table *table, const lanebloom_table_info *info,
                  const struct oracle_set *set, const struct key_list *absent);

/* All tables in one call give what each gives alone, and find every live key in any of them. */
void check_together(const lanebloom_table *const *tables, size_t n, const struct key_list *keys,
                    bool is_live, const char *name);

void check_warned(const uint8_t *bytes, size_t size, const struct key_list *keys,
                  const char *warning);

void assert_refused(const uint8_t *bytes, size_t size, lanebloom_status expected,
                    const char *part_of_problem);

/* What still opens still has every key. */
void check_damaged(const uint8_t *bytes, size_t size, const lanebloom_keys *keys, const char *what,
                   size_t at);

/* ---- Tables made by hand ---- */

/* A file that grows, a block at a time. */
struct made {
  size_t n, begin; /* of the block that is being made */
  uint8_t bytes[1 << 16];
};

static inline lanebloom_slice text(const char *string)
{
  return (lanebloom_slice){string, strlen(string)};
}

void made_add(struct made *made, lanebloom_slice bytes);

/* An entry whose key begins with so many bytes of the key before. */
void made_entry(struct made *made, size_t shared, lanebloom_slice rest, lanebloom_slice value);

void made_handle(struct made *made, const char *key, struct handle handle);

/* Ends a block of any bytes. */
struct handle made_end(struct made *made, uint8_t compression);

struct handle made_end_entries(struct made *made);

/* A data block of keys of one letter, with this behind each. */
struct handle made_data(struct made *made, const char *letters, const char *behind);

/* A filter block of these letters of data blocks. */
struct handle made_filter_block(struct made *made, const struct handle *data,
                                const char *const *letters, size_t n);

/* Properties of an index of user keys. */
struct handle made_properties(struct made *made, lanebloom_slice comparator, uint8_t index_type);

void made_finish(struct made *made, bool is_leveldb, struct handle metaindex, struct handle index);

struct key_list list_letters(const char *letters);

/* A table has a range, and every filter is asked, unless there is a warning; keys are found in any
 * case. */
void check_made(const struct made *made, const char *letters, const char *warning);

/* RocksDB's table of one data block. */
struct made *make_small(const char *letters, const char *behind, lanebloom_slice comparator);

uint8_t *put_varint(uint8_t *to, uint64_t value);

static const char suffix[] =
    "\1......."; /* as LevelDB's and RocksDB's databases have it behind a key */

/* The order that is searched in. */
static const char bytewise[] = "leveldb.BytewiseComparator";

#endif
