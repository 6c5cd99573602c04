/* lanebloom's second library: the Bloom filters inside the table files (.ldb, .sst) of LevelDB,
 * goleveldb, RocksDB and Pebble. It screens keys against single table files or against a whole
 * database. This header is the whole public interface of liblanebloom-tables, and its manual;
 * docs/database-files.md explains the files.
 *
 * Table files are read, never written, and an engine may use the database meanwhile. A running
 * engine replaces tables. The functions for databases, below, take care of that. If you open tables
 * without them, list the folder, open every table, and list the folder again; repeat until both
 * lists agree.
 *
 * The rules of lanebloom.h about errors, memory, threads and empty batches apply here, too. Open
 * tables and filter blocks never change, so any number of threads may screen one.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_H
#define LANEBLOOM_TABLES_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Filter blocks: a filter block is a part of a table file and holds one small filter for each 2 KiB
 * of data blocks. LevelDB and goleveldb write filter blocks (LANEBLOOM_LEVELDB), and so does
 * RocksDB before 7.0 if it is configured for block-based filters (LANEBLOOM_LEVELDB_SIGNED). The
 * functions below return LANEBLOOM_ERR_FORMAT for any other format.
 * Source: LevelDB 1.23 table/filter_block.cc.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter_block lanebloom_filter_block;

/* Opens a filter block whose bytes are in memory. The bytes are borrowed. Any bytes are accepted:
 * if LevelDB's reader does not understand them, every key may be present. bytes may be NULL when
 * size is 0. Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. Cost: constant. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_parse(lanebloom_format format,
                                                                  const void *bytes, size_t size,
                                                                  lanebloom_filter_block **block,
                                                                  char *problem,
                                                                  size_t problem_size);
LANEBLOOM_API void lanebloom_filter_block_free(lanebloom_filter_block *block);

/* Returns true if this key may be in the data block that starts at this offset of the file. */
LANEBLOOM_API bool lanebloom_filter_block_may_contain(const lanebloom_filter_block *block,
                                                      uint64_t data_block_offset, const void *key,
                                                      size_t size);

/* Screens a batch of keys, each against the filter of one data block. data_block_offsets[i] is the
 * offset of the block for key i; the offsets may be in any order. bitmap and result: as for
 * lanebloom_filter_screen(). Consecutive keys with the same filter are screened together, so
 * screening is fastest if the keys are sorted by offset. */
LANEBLOOM_API size_t lanebloom_filter_block_screen(const lanebloom_filter_block *block,
                                                   const uint64_t *data_block_offsets,
                                                   const lanebloom_keys *keys, uint8_t *bitmap);

typedef struct lanebloom_filter_block_builder lanebloom_filter_block_builder;

/* Makes a builder whose filter blocks equal the blocks of LevelDB's FilterBlockBuilder, byte for
 * byte. Call the builder's functions in the order (start_block add*)* finish. bits_per_key: as for
 * lanebloom_filter_build(). base_lg: the block gets one filter for each 2^base_lg bytes of the
 * file. base_lg is at most 63; LevelDB uses 11. Errors: ARGUMENT, FORMAT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_filter_block_builder_create(lanebloom_format format, double bits_per_key,
                                      unsigned base_lg, lanebloom_filter_block_builder **builder);

/* Starts the data block at this offset. After the last data block, call this function once more
 * with the offset at which that block ends. As in LevelDB, a range of 2^base_lg bytes in which no
 * data block starts takes 4 bytes of the filter block. Errors: ARGUMENT: the offset is below the
 * offset of the previous call. MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_start_block(
    lanebloom_filter_block_builder *builder, uint64_t data_block_offset);

/* Adds keys to the data block that was started last. Errors: LIMIT: the filters would exceed 2^32
 * bytes. MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_add(
    lanebloom_filter_block_builder *builder, const lanebloom_keys *keys);

/* Makes the filter block and empties the builder, which may then be used again, from offset 0 on.
 * *bytes is borrowed from the builder until the next call on it. Errors: MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_block_builder_finish(
    lanebloom_filter_block_builder *builder, const void **bytes, size_t *size);

LANEBLOOM_API void lanebloom_filter_block_builder_free(lanebloom_filter_block_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_table lanebloom_table;

/* The program that wrote a table whose filter is named filter.leveldb.BuiltinBloomFilter. Two
 * programs write such filters, and they hash the last bytes of a key differently: goleveldb hashes
 * them as unsigned, LevelDB before 1.18 as signed on CPUs whose char is signed. If the writer is
 * unknown, a key is looked up in both ways and is absent only if both ways say so. */
typedef enum lanebloom_writer {
  LANEBLOOM_WRITER_UNKNOWN = 0,
  LANEBLOOM_WRITER_LEVELDB = 1,
  LANEBLOOM_WRITER_GOLEVELDB = 2
} lanebloom_writer;

/* The names of writers: "leveldb", "goleveldb". */
LANEBLOOM_API const char *lanebloom_writer_name(lanebloom_writer writer);
LANEBLOOM_API bool lanebloom_writer_by_name(const char *name, lanebloom_writer *writer);

/* Opens a table file. Reads the parts that screening needs (footer, index, filter, properties,
 * first and last data block) and verifies the checksum of each. LevelDB's tables do not record the
 * order of their keys. This order is read from the MANIFEST that CURRENT names in the table's
 * folder. If these files are missing, every data block is read to find the order.
 *
 * Errors: FORMAT: the file is not a table, or it is still being written (the line says so if the
 * file changed within the last minute). CORRUPT: a part is damaged. LIMIT: the table has a version,
 * checksum, compression or layout that this build does not read, or it holds far more of something
 * than a file of its size should hold. ARGUMENT: there is no such writer. IO, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_table_open(const char *path, lanebloom_writer writer,
                                                          lanebloom_table **table, char *problem,
                                                          size_t problem_size);

/* Opens a table whose bytes are in memory. The bytes are borrowed, and no MANIFEST is read. bytes
 * may be NULL when size is 0. Errors: as for lanebloom_table_open(), but never IO. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_table_parse(const void *bytes, size_t size,
                                                           lanebloom_writer writer,
                                                           lanebloom_table **table, char *problem,
                                                           size_t problem_size);

LANEBLOOM_API void lanebloom_table_free(lanebloom_table *table);

typedef enum lanebloom_engine {
  LANEBLOOM_ENGINE_LEVELDB = 1, /* also goleveldb */
  LANEBLOOM_ENGINE_ROCKSDB = 2,
  LANEBLOOM_ENGINE_PEBBLE = 3
} lanebloom_engine;

/* The names of engines: "leveldb", "rocksdb", "pebble". */
LANEBLOOM_API const char *lanebloom_engine_name(lanebloom_engine engine);

typedef enum lanebloom_table_filter {
  LANEBLOOM_TABLE_FILTER_NONE = 0,
  LANEBLOOM_TABLE_FILTER_BLOCK = 1,       /* a filter block */
  LANEBLOOM_TABLE_FILTER_FULL = 2,        /* one filter for the whole table */
  LANEBLOOM_TABLE_FILTER_PARTITIONED = 3, /* one filter for each partition of the key range */
  /* a filter of a policy that this build does not know: every key in the key range may be
   * present */
  LANEBLOOM_TABLE_FILTER_OTHER = 4,
  LANEBLOOM_TABLE_FILTER_KEYS = 5 /* a table of lanebloom_database_logs(): hashes of keys */
} lanebloom_table_filter;

/* The names of kinds of filters: "none", "block", "full", "partitioned", "other", "keys". */
LANEBLOOM_API const char *lanebloom_table_filter_name(lanebloom_table_filter filter);

/* Describes a table. Texts are borrowed from the table. A text is "" if the file has none. */
typedef struct lanebloom_table_info {
  lanebloom_engine engine;
  uint32_t version;  /* format_version of RocksDB and Pebble; 0 for LevelDB */
  uint32_t checksum; /* lanebloom_table_checksum_name() names it */
  lanebloom_table_filter filter;

  /* The format and the probes per key of the table's first filter that holds a key. The format is
   * LANEBLOOM_ROCKSDB if that filter has a constant answer, and 0 if there is no such filter. */
  lanebloom_format filter_format;
  uint32_t nprobes;

  uint64_t nfilters;      /* filters that hold keys; LANEBLOOM_UNKNOWN if memory ran out */
  uint64_t filter_nbytes; /* bytes of the filter block, or of all partitions */
  uint64_t file_nbytes;
  uint64_t nentries; /* versions of keys, and deletions; LANEBLOOM_UNKNOWN: the file does not say */
  double bits_per_key; /* filter bits per entry; NaN: unknown */

  /* The share of the absent keys within the table's key range that the filter lets pass. It is
   * computed from the bits that are set. If the table has several filters, it is the mean of their
   * rates, weighted by their sizes; but if each key is looked up in all filters, it is the share of
   * keys that at least one of the filters lets pass. It is 1 if there is no filter, or if the
   * filter is not used. It is NaN if memory ran out, or if the filter is used but holds only
   * prefixes, because it is not known how many keys share a prefix. */
  double model_rate;

  bool has_whole_keys, has_prefixes; /* what the filter holds */

  /* The table's key range. has_range is true if the bounds are known and in bytewise order. Then no
   * user key of the table is below smallest or above largest; the table need not have keys that
   * equal them. The bounds are borrowed from the table. */
  bool has_range;
  lanebloom_slice smallest, largest;

  const char *filter_name;      /* "filter.leveldb.BuiltinBloomFilter2", ... */
  const char *comparator;       /* "leveldb.BytewiseComparator", ... */
  const char *prefix_extractor; /* "rocksdb.FixedPrefix.3", ... */
  const char *warning;          /* one line that says why some facts are missing, or "" */

  /* The codecs of the compressed blocks among those that were read, separated by commas: "zstd",
   * "zstd,minlz", ... It is "" if no such block is compressed. */
  const char *codecs;
} lanebloom_table_info;

/* Describes the table. Never fails. Cost: linear in the bytes of all filters, because their bits
 * are counted. */
LANEBLOOM_API void lanebloom_table_describe(const lanebloom_table *table,
                                            lanebloom_table_info *info, size_t info_size);

/* Return the members `filter` and `warning` of lanebloom_table_info. Cost: constant, because no
 * bits are counted. */
LANEBLOOM_API lanebloom_table_filter lanebloom_table_filter_kind(const lanebloom_table *table);
LANEBLOOM_API const char *lanebloom_table_warning(const lanebloom_table *table);

/* The names of checksums, by RocksDB's numbers: 0 "none", 1 "crc32c", 2 "xxh32", 3 "xxh64",
 * 4 "xxh3". */
LANEBLOOM_API const char *lanebloom_table_checksum_name(uint32_t checksum);

/* Returns the filter of a table whose kind of filter is LANEBLOOM_TABLE_FILTER_FULL, or NULL for
 * other kinds. The filter is borrowed from the table. It can be saved and screened like any other
 * filter, but it may hold prefixes instead of keys. */
LANEBLOOM_API const lanebloom_filter *lanebloom_table_full_filter(const lanebloom_table *table);

/* Finds the user keys that may be in the table. The table's key range rules out keys first, then
 * its filter. If the table's keys are not in bytewise order, a key is looked up in all filters of
 * the table. Keys are compared by their bytes, even if the comparator treats other keys as equal. A
 * key that is reported as absent has neither a value nor a deletion in the table; range deletions
 * are ignored. bitmap and result: as for lanebloom_filter_screen(). Never fails. If memory runs
 * out, more keys may be reported as present. */
LANEBLOOM_API size_t lanebloom_table_screen(const lanebloom_table *table,
                                            const lanebloom_keys *keys, uint8_t *bitmap);

/* Screens a batch of keys against many tables. Keys are hashed only once for all tables whose
 * filters share a hash.
 *
 * bitmaps NULL, or ntables pointers. bitmaps[i] is NULL, or the bitmap of table i: ceil(n / 8)
 *         bytes, into which the function writes what lanebloom_table_screen() would.
 * counts  NULL, or room for ntables numbers. counts[i] becomes the number of keys that may be in
 *         table i.
 * any     NULL, or a bitmap of ceil(n / 8) bytes. Bit i becomes 1 if key i may be in any of the
 *         tables.
 *
 * Returns how many keys may be in any of the tables. To bound the memory of bitmaps, screen a large
 * batch in parts (lanebloom_keys_part()). Screening parts of 512 keys takes at most 5 % longer than
 * screening the whole batch, unless at least 64 tables have full filters and nearly the same range:
 * then the more keys, the less time each takes, up to 262,144 keys. Memory of a call: about 100
 * bytes for each key, for at most 32,768 keys at a time, or 262,144 with so many full filters. If
 * filters need different hashes, up to 30 bytes per key are added for each further kind of
 * hash. */
LANEBLOOM_API size_t lanebloom_tables_screen(const lanebloom_table *const *tables, size_t ntables,
                                             const lanebloom_keys *keys, uint8_t *any,
                                             uint8_t *const *bitmaps, size_t *counts);

/* -------------------------------------------------------------------------------------------------
 * Databases: the tables and the logs of one database, which an engine may use meanwhile
 *
 * The folder of a database also holds tables that are not in use yet, or are no longer in use.
 * CURRENT and the MANIFEST name the tables in use, which are called live. The latest writes are
 * only in write-ahead logs. Opening reads the logs first and the MANIFEST after them. So every
 * write that the engine acknowledged before the opening is in a log that was read, or in a table
 * that the MANIFEST names. To find every key of the database:
 *
 * 1. Call lanebloom_database_open(), which reads the logs and the MANIFEST.
 * 2. Call lanebloom_database_open_tables(), which opens all tables of one version.
 * 3. Call lanebloom_database_logs(), which makes a table of the keys in the logs.
 * 4. Screen all these tables together with lanebloom_tables_screen().
 *
 * The databases may be LevelDB's, goleveldb's, RocksDB's and Pebble's. One thread at a time may use
 * a lanebloom_database.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_database lanebloom_database;

/* Says which parts of a database to read. All zeros stand for its folder alone and for all column
 * families. */
typedef struct lanebloom_database_options {
  /* The folder of RocksDB's or Pebble's logs. If it is NULL, the logs are in the folder that the
   * newest OPTIONS file names, or in the database's own folder. An OPTIONS file may name any folder
   * of the system, and the NUMBER.log files in that folder are then read. So if you do not trust
   * the writer of the OPTIONS file, name the folder of logs here: no other folder is then used. */
  const char *log_folder;

  /* More folders with tables, as RocksDB's options db_paths and cf_paths name them. No file of the
   * database names these folders. */
  const char *const *table_folders;
  size_t ntable_folders;

  /* The names of the column families to open. If there are 0 names, all are opened. */
  const char *const *families;
  size_t nfamilies;
} lanebloom_database_options;

/* Finds out which engine's database is in this folder. For a database of goleveldb, *engine becomes
 * LANEBLOOM_ENGINE_LEVELDB. If the folder has no database, *engine becomes 0; a folder that has
 * only tables is no database. Errors: IO, also if the path is no folder. LIMIT: an OPTIONS file has
 * more than 16 MiB. MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_find(const char *folder,
                                                             lanebloom_engine *engine,
                                                             char *problem, size_t problem_size);

/* Reads the logs and the MANIFEST of a database. options: copied; NULL stands for all zeros. Time:
 * n log n for n edits of the MANIFEST and entries of logs. Memory: linear in the MANIFEST; the keys
 * of logs take about 300 MiB at most.
 *
 * problem: the line names a file in the folder without the folder, and any other file by its path.
 *
 * Errors: FORMAT: the folder of logs that OPTIONS names is missing, or column families with
 * timestamps were created and dropped all the time (the line says: try again). CORRUPT: CURRENT or
 * the MANIFEST is damaged. LIMIT: the MANIFEST has records that this build does not know. ARGUMENT:
 * there is no such column family. IO, MEMORY, KERNEL. A damaged log is no error:
 * lanebloom_database_damage_at() names it. */
LANEBLOOM_NODISCARD lanebloom_status
lanebloom_database_open(const char *folder, const lanebloom_database_options *options,
                        lanebloom_database **database, char *problem, size_t problem_size);

/* Reads CURRENT and the MANIFEST again, if they have changed. *changed becomes true if the database
 * has changed. Errors: as for lanebloom_database_open(). On an error the database does not change,
 * borrowed texts stay valid, and the next update tries again. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_update(lanebloom_database *database,
                                                               bool *changed, char *problem,
                                                               size_t problem_size);

/* Frees a database, but not the tables that were opened or made of its logs. */
LANEBLOOM_API void lanebloom_database_free(lanebloom_database *database);

/* A live table. Texts are borrowed from the database until its next update, or until
 * lanebloom_database_open_tables(). */
typedef struct lanebloom_database_table {
  const char *path;
  const char *family; /* the name of its column family; "default" for LevelDB */
  uint64_t number;
  uint32_t level;
  bool is_elsewhere; /* RocksDB stores it in a folder of db_paths or cf_paths that is not the first
                      * of them */
  void *opened;      /* the result of lanebloom_database_open_tables(); NULL: it is not open */
} lanebloom_database_table;

/* The live tables, in ascending order of their numbers. */
LANEBLOOM_API size_t lanebloom_database_table_count(const lanebloom_database *database);
LANEBLOOM_API lanebloom_database_table
lanebloom_database_table_at(const lanebloom_database *database, size_t i);

/* How lanebloom_database_open_tables() handles each table. If all members are 0, it keeps the
 * tables open. context is passed to each function. The functions must not update or free the
 * database. */
typedef struct lanebloom_table_visitor {
  void *context;

  /* Gets an open table, which then belongs to the function. Returns a result for it, or NULL if
   * memory ran out. If this function is NULL, the result is the table. */
  void *(*opened)(void *context, const lanebloom_database_table *live, lanebloom_table *table);

  /* Frees a result of opened(). It must be set if opened is. */
  void (*dropped)(void *context, void *result);

  /* Gets the problem of a table that cannot be opened, or for which opened() returned NULL. Returns
   * true to continue without the table. NULL: the call fails. */
  bool (*failed)(void *context, const lanebloom_database_table *live, lanebloom_status status,
                 const char *problem);

  /* Is called before a table is opened. Returns true to end the call. NULL: nothing ends it. */
  bool (*is_stopped)(void *context);
} lanebloom_table_visitor;

/* Opens all live tables of one version of the database. If a table cannot be opened, the engine may
 * have replaced it: the MANIFEST is read again, and the tables of the new version are opened. This
 * ends after 100 versions, or after 10 versions if 30 seconds have passed. If the database has not
 * changed, the table counts as one that cannot be opened.
 *
 * visitor: NULL stands for all zeros. On success the `opened` of each table is its result, and
 * belongs to the caller. On failure all results are freed. A later call needs the same opened() and
 * dropped(), because it frees the results of tables that are gone. lanebloom_database_update()
 * frees no results. A caller of it must keep a list of its own, and free the results of tables that
 * are gone.
 *
 * problem: as for lanebloom_database_open(). failed() gets a line that does not name the table.
 *
 * Errors: LIMIT: the engine replaced tables all the time (the line says: try again); ARGUMENT: no
 * such writer, or is_stopped() returned true; as for lanebloom_table_open() and
 * lanebloom_database_update(). */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_open_tables(
    lanebloom_database *database, lanebloom_writer writer, const lanebloom_table_visitor *visitor,
    char *problem, size_t problem_size);

/* Makes a table of all keys to which live logs give a value. It stays valid after the database is
 * updated or freed. Up to 4,194,304 keys are stored as hashes of 64 bits. Further keys are stored
 * in a filter. This filter lets 1 % of absent keys pass if it holds 67,108,864 keys, and more if it
 * holds more. Deletions are ignored, so a key that is deleted later stays in the table. Keys of
 * transactions that are not committed are in the table, too. Errors: MEMORY. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_database_logs(lanebloom_database *database,
                                                             lanebloom_table **table, char *problem,
                                                             size_t problem_size);

typedef struct lanebloom_database_info {
  lanebloom_engine engine;
  uint64_t sequence;     /* the number of the latest write that was read; RocksDB and LevelDB number
                          * their writes */
  uint64_t ntables;      /* live tables of the column families that were named */
  uint64_t nlogs;        /* live logs that were read */
  uint64_t log_nbytes;   /* bytes of logs that were read */
  uint64_t nlog_entries; /* entries in these logs, of all column families; deletions count, too */
  const char *manifest;  /* the name of the MANIFEST; borrowed until the next update */
} lanebloom_database_info;

/* Describes the database. */
LANEBLOOM_API void lanebloom_database_describe(const lanebloom_database *database,
                                               lanebloom_database_info *info, size_t info_size);

/* The lines that say why acknowledged writes may be missing. For a damaged live log, a line names
 * the log and the position of its first damage, and says what was expected and found there. For a
 * log that is missing although the MANIFEST lists it, a line names the log. The readable part of a
 * damaged log is still used. The newest log may end in an incomplete record, which is no damage:
 * its writer is at work, or was killed. The texts are borrowed from the database until its next
 * update. */
LANEBLOOM_API size_t lanebloom_database_damage_count(const lanebloom_database *database);
LANEBLOOM_API const char *lanebloom_database_damage_at(const lanebloom_database *database,
                                                       size_t i);

#ifdef __cplusplus
}
#endif

#endif
