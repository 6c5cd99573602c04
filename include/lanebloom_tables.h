/* lanebloom's second library: Bloom filters inside the table files (.ldb, .sst) of LevelDB,
 * goleveldb, RocksDB and Pebble. This header is the whole public interface of
 * liblanebloom-tables, and its manual; docs/database-files.md explains the files.
 *
 * Table files are read, never written, and a database may be open meanwhile. A running engine
 * replaces tables: list the folder, open every table, list again; repeat until both lists agree.
 *
 * The rules of lanebloom.h about errors, memory, threads and empty batches apply here, too. Tables
 * and filter blocks never change once open: any number of threads may screen one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_H
#define LANEBLOOM_TABLES_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Filter blocks: one small filter for each 2 KiB of data blocks. LevelDB and goleveldb write them
 * (LANEBLOOM_LEVELDB), and so does RocksDB before 7.0 if it is configured for block-based filters
 * (LANEBLOOM_LEVELDB_SIGNED). Other formats have none: LANEBLOOM_ERR_FORMAT.
 * Source: LevelDB 1.23 table/filter_block.cc.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter_block lanebloom_filter_block;

/* Parses the bytes of a filter block, which are borrowed. Any bytes are accepted: if LevelDB's
 * reader does not understand them, every key may be present. bytes may be NULL when size is 0.
 * Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. Cost: constant. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_parse(lanebloom_format format,
                                                                  const void *bytes, size_t size,
                                                                  lanebloom_filter_block **block);

/* Frees a filter block. block may be NULL. */
LANEBLOOM_API void lanebloom_filter_block_close(lanebloom_filter_block *block);

/* May this key be in the data block that starts at this offset of the file? */
LANEBLOOM_API bool lanebloom_filter_block_may_contain(const lanebloom_filter_block *block,
                                                      uint64_t data_block_offset, const void *key,
                                                      size_t size);

/* Screens a batch. data_block_offsets: keys->n of them, in any order. bitmap and result: as for
 * lanebloom_filter_screen(). Consecutive keys of one data block are screened together, which is
 * fastest. */
LANEBLOOM_API size_t lanebloom_filter_block_screen(const lanebloom_filter_block *block,
                                                   const uint64_t *data_block_offsets,
                                                   const lanebloom_keys *keys, uint8_t *bitmap);

typedef struct lanebloom_filter_block_builder lanebloom_filter_block_builder;

/* Makes a builder whose filter blocks equal those of LevelDB's FilterBlockBuilder, byte for byte.
 * Calls follow in the order (start_block add*)* finish. bits_per_key: as for
 * lanebloom_filter_build(). base_lg: one filter for each 2^base_lg bytes of the file, at most 63;
 * LevelDB's is 11.
 * Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_filter_block_builder_create(lanebloom_format format, double bits_per_key,
                                      unsigned base_lg, lanebloom_filter_block_builder **builder);

/* Starts the data block at this offset. After the last data block, call it once more with the end
 * of that block. A range of 2^base_lg bytes in which no data block starts costs 4 bytes, as in
 * LevelDB.
 * Errors: ARGUMENT: the offset is below the one before; MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_start_block(
    lanebloom_filter_block_builder *builder, uint64_t data_block_offset);

/* Adds keys of that data block. Errors: LIMIT: the filters would pass 2^32 bytes; MEMORY,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_add(
    lanebloom_filter_block_builder *builder, const lanebloom_keys *keys);

/* Makes the filter block and empties the builder, which may then be used again, from offset 0 on.
 * bytes: borrowed until the next call on this builder. Errors: MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_finish(
    lanebloom_filter_block_builder *builder, const void **bytes, size_t *size);

/* Frees a builder. builder may be NULL. */
LANEBLOOM_API void lanebloom_filter_block_builder_destroy(lanebloom_filter_block_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_table lanebloom_table;

/* The writer of a filter named filter.leveldb.BuiltinBloomFilter. goleveldb hashes trailing bytes
 * as unsigned, LevelDB before 1.18 as signed on CPUs whose char is signed. If the writer is
 * unknown, a key is absent only if both say so. */
typedef enum lanebloom_writer {
  LANEBLOOM_WRITER_UNKNOWN = 0,
  LANEBLOOM_WRITER_LEVELDB = 1,
  LANEBLOOM_WRITER_GOLEVELDB = 2
} lanebloom_writer;

/* "unknown", "leveldb", "goleveldb"; "unknown" for other values. */
LANEBLOOM_API const char *lanebloom_writer_name(lanebloom_writer writer);

/* The writer of this name; LANEBLOOM_WRITER_UNKNOWN if there is none. */
LANEBLOOM_API lanebloom_writer lanebloom_writer_by_name(const char *name);

/* Opens a table file. Reads the parts that screening needs (footer, index, filter, properties,
 * first and last data block) and verifies the checksum of each. LevelDB's tables do not record the
 * order of their keys: CURRENT and MANIFEST are read in the table's folder or, if they are missing,
 * every data block.
 *
 * problem: room for one line that says what was expected and found; empty on success. It may quote
 * names from the file, with \ooo for bytes that are not printable UTF-8. Pass NULL and 0 if no line
 * is wanted.
 *
 * Errors: FORMAT: not a table, or one that is still being written (the line says so if the file
 * changed within the last minute); CORRUPT; LIMIT: a version, checksum, compression or layout that
 * this build does not read, or far more than a file of this size should hold; ARGUMENT: no such
 * writer; IO; MEMORY; KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_table_open(const char *path, lanebloom_writer writer,
                                                          lanebloom_table **table, char *problem,
                                                          size_t problem_size);

/* Parses a table's bytes in memory, which are borrowed; no MANIFEST is read. bytes may be NULL when
 * size is 0. Errors: as for lanebloom_table_open(), but never IO. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_table_parse(const void *bytes, size_t size,
                                                           lanebloom_writer writer,
                                                           lanebloom_table **table, char *problem,
                                                           size_t problem_size);

/* Frees a table. table may be NULL. */
LANEBLOOM_API void lanebloom_table_close(lanebloom_table *table);

typedef enum lanebloom_engine {
  LANEBLOOM_ENGINE_LEVELDB = 1, /* goleveldb, too */
  LANEBLOOM_ENGINE_ROCKSDB = 2,
  LANEBLOOM_ENGINE_PEBBLE = 3
} lanebloom_engine;

/* "leveldb", "rocksdb", "pebble"; "unknown" for other values. */
LANEBLOOM_API const char *lanebloom_engine_name(lanebloom_engine engine);

typedef enum lanebloom_table_filter {
  LANEBLOOM_TABLE_FILTER_NONE = 0,
  LANEBLOOM_TABLE_FILTER_BLOCK = 1,       /* a filter block */
  LANEBLOOM_TABLE_FILTER_FULL = 2,        /* one filter for the whole table */
  LANEBLOOM_TABLE_FILTER_PARTITIONED = 3, /* one filter for each partition of the key range */
  /* an unknown policy: every key in range may be present */
  LANEBLOOM_TABLE_FILTER_OTHER = 4,
  LANEBLOOM_TABLE_FILTER_KEYS = 5 /* of lanebloom_database_logs(): the hash of each key */
} lanebloom_table_filter;

/* "none", "block", "full", "partitioned", "other", "keys"; "unknown" for other values. */
LANEBLOOM_API const char *lanebloom_table_filter_name(lanebloom_table_filter filter);

/* Texts are borrowed from the table; "" if the file has none. */
typedef struct lanebloom_table_info {
  lanebloom_engine engine;
  uint32_t version;  /* format_version of RocksDB and Pebble; LevelDB: 0 */
  uint32_t checksum; /* lanebloom_table_checksum_name() names it */
  lanebloom_table_filter filter;

  /* The first filter that holds a key has these. LANEBLOOM_ROCKSDB: constant answers; 0: no
   * filter. */
  lanebloom_format filter_format;
  uint32_t nprobes;

  uint64_t nfilters;      /* filters that hold keys; LANEBLOOM_UNKNOWN: memory ran out */
  uint64_t filter_nbytes; /* bytes of the filter block, or of all partitions */
  uint64_t file_nbytes;
  uint64_t nentries; /* versions of keys, and deletions; LANEBLOOM_UNKNOWN: the file does not say */
  double bits_per_key; /* filter bits per entry; NaN: unknown */

  /* The share of absent keys in range that the filter lets pass, by the bits that are set. For
   * several filters it is their mean, weighted by their sizes; if each key is looked up in all
   * filters, it is the share that any of them lets pass. 1: no filter, or one that is not used.
   * NaN: memory ran out, or a filter that is used holds only prefixes: it is unknown how many keys
   * share one. */
  double model_rate;

  bool has_whole_keys, has_prefixes; /* what the filter holds */

  /* Are bounds known, and in bytewise order? No user key of the table is below smallest or above
   * largest; the bounds may be loose. Borrowed from the table. */
  bool has_range;
  lanebloom_slice smallest, largest;

  const char *filter_name;      /* "filter.leveldb.BuiltinBloomFilter2", ... */
  const char *comparator;       /* "leveldb.BytewiseComparator", ... */
  const char *prefix_extractor; /* "rocksdb.FixedPrefix.3", ... */
  const char *warning;          /* one line: why some facts are missing; or "" */
} lanebloom_table_info;

/* Describes the table. info_size: sizeof(lanebloom_table_info). If a program was compiled with
 * another version of this header, it gets the fields that both have; the rest of a larger struct
 * becomes 0. Never fails. Cost: counts the bits of all filters. */
LANEBLOOM_API void lanebloom_table_describe(const lanebloom_table *table,
                                            lanebloom_table_info *info, size_t info_size);

/* The `warning` of lanebloom_table_describe(), at no cost. */
LANEBLOOM_API const char *lanebloom_table_warning(const lanebloom_table *table);

/* The name of a checksum, by RocksDB's numbers: 0 "none", 1 "crc32c", 2 "xxh32", 3 "xxh64",
 * 4 "xxh3"; "unknown" for other numbers. */
LANEBLOOM_API const char *lanebloom_table_checksum_name(uint32_t checksum);

/* The filter of a table with LANEBLOOM_TABLE_FILTER_FULL, borrowed from the table; NULL for other
 * kinds. It can be saved and screened like any other. It may hold prefixes instead of keys. */
LANEBLOOM_API const lanebloom_filter *lanebloom_table_full_filter(const lanebloom_table *table);

/* Finds the user keys that may be in the table: first by its key range, then by its filter. If the
 * table's keys are not in bytewise order, a key is looked up in all filters of the table. Keys are
 * compared by their bytes, whatever the comparator treats as equal. A key that is reported as
 * absent has neither a value nor a deletion in the table; range deletions are ignored. bitmap and
 * result: as for lanebloom_filter_screen(). Never fails. If memory runs out, more keys may be
 * reported as present. */
LANEBLOOM_API size_t lanebloom_table_screen(const lanebloom_table *table,
                                            const lanebloom_keys *keys, uint8_t *bitmap);

/* Screens many tables at once. Keys are hashed once for each kind of hash.
 *
 * bitmaps  NULL, or ntables pointers: bitmaps[i] is NULL, or ceil(n / 8) bytes for table i.
 * counts   NULL, or room for ntables: how many keys may be in each.
 * any      NULL, or ceil(n / 8) bytes: which keys may be in any of the tables.
 *
 * Returns how many keys may be in any of the tables. To bound the memory of bitmaps, screen a large
 * batch in parts (lanebloom_keys_part()): parts of 512 keys take at most 5 % longer. */
LANEBLOOM_API size_t lanebloom_tables_screen(const lanebloom_table *const *tables, size_t ntables,
                                             const lanebloom_keys *keys, uint8_t *any,
                                             uint8_t *const *bitmaps, size_t *counts);

/* -------------------------------------------------------------------------------------------------
 * Databases: the tables and logs that belong to one, which may be open meanwhile
 *
 * A database's folder also holds tables that are not in use yet or any more. CURRENT and the
 * MANIFEST name those in use; the latest writes are only in write-ahead logs. Opening reads the
 * logs first and the MANIFEST after them: every write that an engine had acknowledged before is
 * then in a log that was read, or in a table that the MANIFEST names. To find every key of the
 * database:
 *
 * 1. call lanebloom_database_open(), which reads the logs and the MANIFEST;
 * 2. call lanebloom_database_open_tables(), which opens all tables of one version;
 * 3. call lanebloom_database_logs(), which makes a table of the keys in the logs;
 * 4. screen all these tables together: lanebloom_tables_screen().
 *
 * LevelDB, goleveldb, RocksDB and Pebble are read. One thread at a time may use a database.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_database lanebloom_database;

/* The parts of a database to read. All zeros: its folder alone, and all column families. */
typedef struct lanebloom_database_options {
  /* The folder of RocksDB's or Pebble's logs. NULL: the folder that the newest OPTIONS file names,
   * or the database's own. An OPTIONS file may name any folder of the system, and its NUMBER.log
   * files are then read. If you do not trust the writer of that file, name the folder here: no
   * other one is then used. */
  const char *log_folder;

  /* More folders with tables: RocksDB's db_paths and cf_paths, which none of its files names. */
  const char *const *table_folders;
  size_t ntable_folders;

  /* The names of the column families to open; 0 names: all. */
  const char *const *families;
  size_t nfamilies;
} lanebloom_database_options;

/* Which engine's database is in this folder? *engine becomes LANEBLOOM_ENGINE_LEVELDB also for
 * goleveldb's, and 0 if there is none: tables alone make no database. Errors: IO, also if it is no
 * folder; LIMIT: an OPTIONS file of more than 16 MiB; MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_find(const char *folder,
                                                             lanebloom_engine *engine,
                                                             char *problem, size_t problem_size);

/* Reads the logs and the MANIFEST of a database. options: copied; NULL: zeros. Time: n log n.
 * Memory: linear in the MANIFEST; for the keys of logs about 300 MiB at most.
 *
 * Errors: FORMAT: the folder of logs that OPTIONS names is missing, or column families with
 * timestamps were created and dropped all the time (the line says: try again); CORRUPT: CURRENT or
 * MANIFEST is damaged; LIMIT: the MANIFEST has records that this build does not know; ARGUMENT: no
 * such column family; IO, MEMORY, KERNEL.
 * A damaged log is no error: lanebloom_database_damage() names it. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_database_open(const char *folder, const lanebloom_database_options *options,
                        lanebloom_database **database, char *problem, size_t problem_size);

/* Reads CURRENT and the MANIFEST again, if they have changed. *changed becomes true if the database
 * has changed. Errors: as for lanebloom_database_open(). The database then does not change,
 * borrowed texts stay valid, and the next update tries again. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_update(lanebloom_database *database,
                                                               bool *changed, char *problem,
                                                               size_t problem_size);

/* Frees a database, but not the tables that were opened. database may be NULL. */
LANEBLOOM_API void lanebloom_database_close(lanebloom_database *database);

/* A live table. Texts are borrowed until the next update. */
typedef struct lanebloom_database_table {
  const char *path;
  const char *family; /* the name of its column family; LevelDB: "default" */
  uint64_t number;
  uint32_t level;
  bool is_elsewhere; /* RocksDB stores it in another folder than the first */
  void *opened;      /* the result of lanebloom_database_open_tables(); NULL: it is not open */
} lanebloom_database_table;

/* The number of live tables, and table i of them, ascending by number. */
LANEBLOOM_API size_t lanebloom_database_table_count(const lanebloom_database *database);
LANEBLOOM_API lanebloom_database_table
lanebloom_database_table_at(const lanebloom_database *database, size_t i);

/* How lanebloom_database_open_tables() handles each table. Zeros: it keeps the tables open. context
 * is passed to each function. */
typedef struct lanebloom_table_visitor {
  void *context;

  /* Gets an open table, which then belongs to the function, and returns a result for it. Returns NULL
   * if memory ran out. If this function is NULL, the result is the table. */
  void *(*opened)(void *context, const lanebloom_database_table *live, lanebloom_table *table);

  /* Frees a result of opened(). */
  void (*dropped)(void *context, void *result);

  /* Gets the problem of a table that cannot be opened. Returns true to continue without the table.
   * NULL: the call fails. */
  bool (*failed)(void *context, const lanebloom_database_table *live, lanebloom_status status,
                 const char *problem);

  /* Is called before a table is opened. Returns true to end the call. NULL: nothing ends it. */
  bool (*is_stopped)(void *context);
} lanebloom_table_visitor;

/* Opens all live tables of one version of the database. If a table cannot be opened, the engine may
 * have replaced it: the MANIFEST is read again, and tables of the new version are opened, for at
 * most 100 versions and 30 seconds. If nothing has changed, the table is missing.
 *
 * visitor: NULL: zeros. On success the `opened` of each table is its result, and belongs to the
 * caller; lanebloom_database_update() keeps the results of tables that stay. On failure all results
 * are freed.
 *
 * Errors: LIMIT: the engine replaced tables all the time (the line says: try again); ARGUMENT: no
 * such writer, or is_stopped() returned true; as for lanebloom_table_open() and
 * lanebloom_database_update(). */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_open_tables(
    lanebloom_database *database, lanebloom_writer writer, const lanebloom_table_visitor *visitor,
    char *problem, size_t problem_size);

/* Makes a table of all keys to which live logs give a value. It stays valid after the database is
 * updated or closed. Up to 4,194,304 keys are stored as hashes of 64 bits. The others are in a
 * filter that lets 1 % of absent keys pass when it has 67,108,864 keys, and more beyond. Deletions
 * are ignored: a key that is deleted later stays in the table. So do keys of transactions that are
 * not committed.
 * Errors: MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_logs(lanebloom_database *database,
                                                             lanebloom_table **table, char *problem,
                                                             size_t problem_size);

typedef struct lanebloom_database_info {
  lanebloom_engine engine;
  uint64_t sequence;     /* of the latest write that was read; RocksDB and LevelDB count writes */
  uint64_t ntables;      /* live tables of the column families that were named */
  uint64_t nlogs;        /* live logs that were read */
  uint64_t log_nbytes;   /* bytes that were read of them */
  uint64_t nlog_entries; /* their entries, with deletions and all column families */
  const char *manifest;  /* the name of the MANIFEST; borrowed until the next update */
} lanebloom_database_info;

/* Describes the database. info_size: as for lanebloom_table_describe(). */
LANEBLOOM_API void lanebloom_database_describe(const lanebloom_database *database,
                                               lanebloom_database_info *info, size_t info_size);

/* Returns line i of the reasons why acknowledged writes may be missing: a live log, the position of
 * its first damage, and what was expected and found. NULL when i is not below their number. The
 * readable part of such a log is read. The newest log may end in a torn record, which is no damage:
 * its writer is at work, or was killed. Borrowed until the next update. */
LANEBLOOM_API const char *lanebloom_database_damage(const lanebloom_database *database, size_t i);

#ifdef __cplusplus
}
#endif

#endif
