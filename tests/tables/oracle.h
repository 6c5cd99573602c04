/* Databases that the real LevelDB and RocksDB write, for tests in C.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ORACLE_TABLES_H
#define LANEBLOOM_TESTS_ORACLE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom_tables.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option set, and what lanebloom should report about its tables. */
struct oracle_set {
  const char *name;
  bool is_leveldb;
  lanebloom_table_filter filter;
  uint32_t version, checksum;
  bool has_whole_keys, has_prefixes;
  bool has_range;   /* can a range be known? */
  bool uses_filter; /* does the filter keep absent keys out? */
  /* there are many versions of few keys, so a filter is sized for many keys but holds few, and no
   * rate is modelled */
  bool is_skewed;
};

size_t oracle_sets(void);
const struct oracle_set *oracle_set_at(size_t i);

/* Writes a database of about nkeys keys, or one table, into the folder, and closes it. If there is
 * an error, the process ends. */
void oracle_write(size_t set, const char *folder, size_t nkeys, uint64_t seed);

/* Lists the user keys of one table in the table's order. For LevelDB, deleted and old keys are
 * listed, too. */
typedef void oracle_key(void *context, const void *key, size_t size);
void oracle_keys_of_table(size_t set, const char *path, oracle_key *take, void *context);

/* Lists the live keys of the whole database. Lists nothing for a single table. */
void oracle_keys_of_database(size_t set, const char *folder, oracle_key *take, void *context);

#ifdef __cplusplus
}
#endif

#endif
