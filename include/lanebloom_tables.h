/* lanebloom, second library: the filters inside database files. LevelDB's, goleveldb's, RocksDB's
 * and Pebble's .ldb and .sst files are read, never written; their databases need not be closed, and
 * are not opened. An engine at work replaces tables: who lists a folder lists it again after
 * opening all, until both lists are the same, as `screen --db' does. This header is the whole
 * public interface of liblanebloom-tables, and its manual. What lanebloom.h says of errors, memory,
 * threads and empty batches holds here, too: a table and a filter block never change once open.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_H
#define LANEBLOOM_TABLES_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Filter blocks: one small filter for each 2 KiB of data blocks. LevelDB's and goleveldb's
 * (LANEBLOOM_LEVELDB), and RocksDB's before 7.0 when asked for block-based filters
 * (LANEBLOOM_LEVELDB_SIGNED); other formats: FORMAT. Source: LevelDB 1.23 table/filter_block.cc.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter_block lanebloom_filter_block;

/* Any bytes open, borrowed: what the engine's reader does not understand may contain every key.
 * Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. */
LANEBLOOM_API lanebloom_status lanebloom_filter_block_open(lanebloom_format format,
                                                           const void *bytes, size_t size,
                                                           lanebloom_filter_block **block);

/* NULL is fine. */
LANEBLOOM_API void lanebloom_filter_block_close(lanebloom_filter_block *block);

/* May this key be in the data block that starts at this offset of the file? */
LANEBLOOM_API bool lanebloom_filter_block_may_contain(const lanebloom_filter_block *block,
                                                      uint64_t data_block_offset, const void *key,
                                                      size_t size);

/* The same for a batch: keys->n offsets, in any order; bitmap and answer as of
 * lanebloom_filter_screen(). Equal offsets that follow each other are screened together, which is
 * fast where there are many. */
LANEBLOOM_API size_t lanebloom_filter_block_screen(const lanebloom_filter_block *block,
                                                   const uint64_t *data_block_offsets,
                                                   const lanebloom_keys *keys, uint8_t *bitmap);

typedef struct lanebloom_filter_block_builder lanebloom_filter_block_builder;

/* LevelDB's FilterBlockBuilder, byte for byte: (start_block add*)* finish. bits_per_key: as of
 * lanebloom_filter_build(); base_lg: a filter for each 2^base_lg bytes, 11 in LevelDB, at most 63.
 * Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. */
LANEBLOOM_API lanebloom_status
lanebloom_filter_block_builder_create(lanebloom_format format, double bits_per_key,
                                      unsigned base_lg, lanebloom_filter_block_builder **builder);

/* A data block begins here; after the last one also the end of the data. As in LevelDB each filter
 * that is skipped takes 4 bytes. Errors: ARGUMENT: less than before; MEMORY, KERNEL. */
LANEBLOOM_API lanebloom_status lanebloom_filter_block_builder_start_block(
    lanebloom_filter_block_builder *builder, uint64_t data_block_offset);

/* Keys of that data block. Errors: LIMIT: filters would pass 2^32 bytes; MEMORY, KERNEL. */
LANEBLOOM_API lanebloom_status lanebloom_filter_block_builder_add(
    lanebloom_filter_block_builder *builder, const lanebloom_keys *keys);

/* bytes: borrowed until the builder is destroyed, which is all that is left to do with it. Errors:
 * MEMORY, KERNEL. */
LANEBLOOM_API lanebloom_status lanebloom_filter_block_builder_finish(
    lanebloom_filter_block_builder *builder, const void **bytes, size_t *size);

/* NULL is fine. */
LANEBLOOM_API void lanebloom_filter_block_builder_destroy(lanebloom_filter_block_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_table lanebloom_table;

/* A filter that is named filter.leveldb.BuiltinBloomFilter has unsigned tails if goleveldb wrote
 * it, and signed ones if LevelDB before 1.18 did, on a CPU whose char has a sign. Where nobody
 * knows, a key is absent only if both say so. */
typedef enum lanebloom_writer {
  LANEBLOOM_WRITER_UNKNOWN = 0,
  LANEBLOOM_WRITER_LEVELDB = 1,
  LANEBLOOM_WRITER_GOLEVELDB = 2
} lanebloom_writer;

/* Reads what screening needs: footer, index, filter, properties, first and last data block;
 * verifies their checksums. LevelDB's tables do not say which order their keys have: CURRENT and
 * MANIFEST beside them do, and are read, too. problem: room for one line about what was expected
 * and found, which an error fills in and which may quote any bytes of the file; NULL: none wanted.
 * Errors: FORMAT: no table; CORRUPT; LIMIT: a version, checksum, compression or layout that this
 * build does not read, or far more than a file of this size should hold; ARGUMENT: no such writer;
 * IO; MEMORY; KERNEL. */
LANEBLOOM_API lanebloom_status lanebloom_table_open(const char *path, lanebloom_writer writer,
                                                    lanebloom_table **table, char *problem,
                                                    size_t problem_size);

/* The same of bytes in memory, borrowed. No order is looked up beside them. Errors: also ARGUMENT:
 * NULL of some size; never IO. */
LANEBLOOM_API lanebloom_status lanebloom_table_parse(const void *bytes, size_t size,
                                                     lanebloom_writer writer,
                                                     lanebloom_table **table, char *problem,
                                                     size_t problem_size);

/* NULL is fine. */
LANEBLOOM_API void lanebloom_table_close(lanebloom_table *table);

typedef enum lanebloom_engine {
  LANEBLOOM_ENGINE_LEVELDB = 1, /* goleveldb, too */
  LANEBLOOM_ENGINE_ROCKSDB = 2,
  LANEBLOOM_ENGINE_PEBBLE = 3
} lanebloom_engine;

typedef enum lanebloom_table_filter {
  LANEBLOOM_TABLE_FILTER_NONE = 0,
  LANEBLOOM_TABLE_FILTER_BLOCK = 1,       /* a filter block */
  LANEBLOOM_TABLE_FILTER_FULL = 2,        /* one filter for the whole table */
  LANEBLOOM_TABLE_FILTER_PARTITIONED = 3, /* one for each part of the key range */
  LANEBLOOM_TABLE_FILTER_OTHER =
      4 /* Ribbon, or of a policy that is not known: every key in range may be there */
} lanebloom_table_filter;

typedef struct lanebloom_table_info {
  lanebloom_engine engine;
  uint32_t version;  /* format_version of RocksDB and Pebble; 0 */
  uint32_t checksum; /* as RocksDB numbers them: 0 none, 1 CRC32C, 2 XXH32, 3 XXH64, 4 XXH3 */
  lanebloom_table_filter filter;
  /* of the first one that holds a key; LANEBLOOM_ROCKSDB: constant answers; 0: none */
  lanebloom_format filter_format;
  uint32_t nprobes;       /* the same one's */
  uint64_t nfilters;      /* that hold keys */
  uint64_t filter_nbytes; /* of the filter block, or of all partitions */
  uint64_t file_nbytes;
  uint64_t nentries; /* versions of keys and deletions; LANEBLOOM_UNKNOWN: the file does not say */
  double bits_per_key; /* filter bits per entry; NaN when unknown */
  /* share of absent keys that the filter lets pass, by the bits that are set, filters weighed
   * by * their bytes; 1: no filter */
  double model_rate;
  bool has_whole_keys, has_prefixes; /* what the filter holds */
  bool has_range; /* are bounds known, and in bytewise order? They may be loose */
  lanebloom_slice smallest,
      largest; /* user keys: no key of the table is below or above; borrowed from the table */
  const char *filter_name; /* "filter.leveldb.BuiltinBloomFilter2", ...; borrowed; "" for none */
  const char
      *comparator; /* "leveldb.BytewiseComparator", ...; borrowed; "" where the file does not say */
  const char *prefix_extractor; /* "rocksdb.FixedPrefix.3", ...; borrowed; "" for none */
  const char *warning; /* why less is known than could be, one line; borrowed; "" for none */
} lanebloom_table_info;

/* Fills at most info_size bytes, so that later versions may have more of them. Counts the bits of
 * all filters. Errors: none; where memory is short for a filter block's, bits_per_key and
 * model_rate are NaN. */
LANEBLOOM_API void lanebloom_table_describe(const lanebloom_table *table,
                                            lanebloom_table_info *info, size_t info_size);

/* What it says as `warning`, without the counting. */
LANEBLOOM_API const char *lanebloom_table_warning(const lanebloom_table *table);

/* "crc32c", ... of lanebloom_table_info.checksum; "unknown". */
LANEBLOOM_API const char *lanebloom_table_checksum_name(uint32_t checksum);

/* The one filter of a table with LANEBLOOM_TABLE_FILTER_FULL, borrowed from the table; NULL for
 * others. It can be saved and screened like any other; what it holds may be prefixes. */
LANEBLOOM_API const lanebloom_filter *lanebloom_table_full_filter(const lanebloom_table *table);

/* Which of these user keys may be in the table: first by its key range, then by its filter. Of one
 * that may not, the table has no version and no deletion of its own; range deletions are not looked
 * at. bitmap, NULL and the answer: as of lanebloom_filter_screen(). Errors: none; where memory is
 * short for something better, more keys than needed may be there. */
LANEBLOOM_API size_t lanebloom_table_screen(const lanebloom_table *table,
                                            const lanebloom_keys *keys, uint8_t *bitmap);

/* The same for many tables at once: keys are hashed once for each kind of hash. bitmaps: NULL, or
 * ntables of them, each NULL or ceil(n / 8) bytes; counts: NULL, or ntables. Returns how many keys
 * may be in any of the tables; any: NULL, or ceil(n / 8) bytes for which ones. */
LANEBLOOM_API size_t lanebloom_tables_screen(const lanebloom_table *const *tables, size_t ntables,
                                             const lanebloom_keys *keys, uint8_t *any,
                                             uint8_t *const *bitmaps, size_t *counts);

#ifdef __cplusplus
}
#endif

#endif
