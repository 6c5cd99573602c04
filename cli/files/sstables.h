/* Lists the SSTables of Cassandra and ScyllaDB, and loads their filters. An SSTable consists of
 * several files, such as nb-7-big-Data.db and nb-7-big-Filter.db.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SSTABLES_H
#define LANEBLOOM_CLI_SSTABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <lanebloom.h>

struct sstable {
  char *path;                 /* the path of its Data.db; if there is none, of its Filter.db */
  char version[3];            /* the version in its name, such as "nb" */
  lanebloom_format format;    /* the format of its filter; 0: the version is unknown */
  bool has_filter;            /* false: there is no filter, so every key passes */
  lanebloom_filter *filter;   /* NULL if it was described */
  lanebloom_filter_info info; /* set if the filter was described, as is its size */
  size_t nbytes;
};

struct sstables {
  struct sstable *all;
  size_t n;
};

/* Is the path a folder with SSTables, or a file of an SSTable? */
bool is_sstable(const char *path);

/* Loads the filters of the SSTables at these paths, each of which is_sstable() accepts. If
 * `describes` is set, only describes them, with one filter in memory at a time. The order is that
 * of the paths and of the numbers in names. If a running server replaces SSTables, lists the
 * folders again, for at most one second. If something could not be read, prints messages and
 * returns false; the list then has only the other SSTables. Call sstables_free() in either case. */
bool sstables_load(struct sstables *sstables, char *const *paths, size_t npaths, bool describes);
void sstables_free(struct sstables *sstables);

#endif
