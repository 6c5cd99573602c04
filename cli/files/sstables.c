/* Lists the SSTables of Cassandra and ScyllaDB, and loads their filters.
 * SPDX-License-Identifier: MIT */
#include "sstables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../system/files.h"
#include "../system/process.h"
#include "folders.h"

/* ---- Names ---- */

static const char DATA[] = "Data.db", FILTER[] = "Filter.db";

/* Returns the part of the name that begins after the last hyphen, if it is one of the two files
 * that are listed; otherwise NULL. */
static const char *component_of(const char *name)
{
  const char *hyphen = strrchr(name, '-');
  if (!hyphen || (strcmp(hyphen + 1, DATA) != 0 && strcmp(hyphen + 1, FILTER) != 0))
    return NULL;
  return hyphen + 1;
}

/* Copies the version out of the name of a file: VERSION-ID-big-COMPONENT, VERSION-ID-bti-COMPONENT,
 * or until Cassandra 2.1 KEYSPACE-TABLE-VERSION-ID-COMPONENT. If the name has another form, returns
 * false, and the version becomes "". */
static bool find_version(const char *name, char version[3])
{
  const char *parts[6];
  size_t n = 0;
  version[0] = '\0';
  if (!component_of(name))
    return false;
  for (const char *at = name; at && n < 6; n++) {
    parts[n] = at;
    at = strchr(at, '-');
    at += at != NULL;
  }
  const bool is_new =
      n == 4 && (strncmp(parts[2], "big-", 4) == 0 || strncmp(parts[2], "bti-", 4) == 0);
  const char *part = is_new ? parts[0] : n == 5 ? parts[2] : NULL;
  if (!part || strspn(part, "abcdefghijklmnopqrstuvwxyz") != 2 || part[2] != '-')
    return false;
  memcpy(version, part, 2);
  version[2] = '\0';
  return true;
}

/* Returns the format of the filters in SSTables of this version, or 0 if it is unknown. The first
 * letter changes if older servers cannot read a version. */
static lanebloom_format format_of(const char *version)
{
  switch (*version) {
  case 'j': /* Cassandra 2.0 */
  case 'k': /* 2.1 */
  case 'l': /* 2.2 */
    return LANEBLOOM_CASSANDRA_2;
  case 'm': /* 3.0 and 3.11, ScyllaDB */
    return LANEBLOOM_CASSANDRA_3;
  case 'n': /* 4.0 and 4.1 */
  case 'o': /* 5.0 */
  case 'd': /* 5.0, with an index in tries */
    return LANEBLOOM_CASSANDRA;
  default:
    return 0;
  }
}

static bool has_version(const char *folder, const char *name)
{
  char version[3];
  (void)folder;
  return find_version(name, version);
}

/* Until Cassandra 2.2, the names of files that are being written have one more part. */
static bool is_being_written(const char *name)
{
  return strncmp(name, "tmp-", 4) == 0 || strncmp(name, "tmplink-", 8) == 0 ||
         strstr(name, "-tmp-") || strstr(name, "-tmplink-");
}

/* Is this a file of an SSTable, even if its name has an unknown form? */
static bool is_of_sstable(const char *folder, const char *name)
{
  (void)folder;
  return component_of(name) && !is_being_written(name);
}

bool is_sstable(const char *path)
{
  char **paths;
  if (!is_folder(path))
    return has_version(NULL, last_component(path));
  const int n = list_folder(path, has_version, &paths);
  free_paths(paths, n);
  return n > 0;
}

/* ---- Lists ---- */

static char *copy_text(const char *text)
{
  return strcpy(resize(NULL, strlen(text) + 1), text);
}

/* Returns the path of another file of the same SSTable. The caller frees it. */
static char *path_of(const char *path, const char *component)
{
  const size_t nbytes = (size_t)(component_of(last_component(path)) - path);
  char *other = resize(NULL, nbytes + sizeof FILTER);
  snprintf(other, nbytes + sizeof FILTER, "%.*s%s", (int)nbytes, path, component);
  return other;
}

/* Adds the SSTable of this file, unless the file is a filter beside a Data.db, which is listed
 * instead. */
static void add_file(struct sstables *sstables, const char *path, bool is_of_folder)
{
  char *data = path_of(path, DATA);
  const bool is_data = strcmp(path, data) == 0, has_data = lanebloom_system_exists(data);
  if (is_data || !has_data || !is_of_folder) {
    sstables->all = grow_list(sstables->all, sstables->n, sizeof *sstables->all);
    struct sstable *sstable = &sstables->all[sstables->n++];
    *sstable = (struct sstable){.path = copy_text(is_data || has_data ? data : path)};
    find_version(last_component(path), sstable->version);
    sstable->format = format_of(sstable->version);
  }
  free(data);
}

/* Lists the SSTables of all paths. Returns false if a folder cannot be read or if a file is
 * missing. */
static bool list(struct sstables *sstables, char *const *paths, size_t npaths, bool print_error)
{
  bool complete = true;
  *sstables = (struct sstables){.n = 0};
  for (size_t i = 0; i < npaths; i++) {
    if (!is_folder(paths[i])) {
      const bool exists = lanebloom_system_exists(paths[i]);
      if (exists)
        add_file(sstables, paths[i], false);
      else if (print_error)
        complain(paths[i], "%s", strerror(errno));
      complete &= exists;
      continue;
    }
    char **files;
    const int n = list_folder(paths[i], is_of_sstable, &files);
    if (n < 0 && print_error)
      complain(paths[i], "%s", strerror(errno));
    for (int j = 0; j < n; j++)
      add_file(sstables, files[j], true);
    free_paths(files, n);
    complete &= n >= 0;
  }
  return complete;
}

static bool are_same(const struct sstables *a, const struct sstables *b)
{
  bool are_same = a->n == b->n;
  for (size_t i = 0; are_same && i < a->n; i++)
    are_same = strcmp(a->all[i].path, b->all[i].path) == 0;
  return are_same;
}

void sstables_free(struct sstables *sstables)
{
  for (size_t i = 0; i < sstables->n; i++) {
    lanebloom_filter_free(sstables->all[i].filter);
    free(sstables->all[i].path);
  }
  free(sstables->all);
  *sstables = (struct sstables){.n = 0};
}

/* ---- Filters ---- */

/* Loads the filter of an SSTable. If there is none, the filter passes every key. On failure prints
 * a message and returns false. */
static bool load(struct sstable *sstable)
{
  char problem[512], *path = path_of(sstable->path, FILTER);
  struct system_info info;
  const bool exists = lanebloom_system_info(path, &info), is_missing = !exists && errno == ENOENT;
  lanebloom_status status;
  if (!sstable->version[0]) {
    status = LANEBLOOM_ERR_FORMAT;
    snprintf(
        problem, sizeof problem,
        "expected a name of an SSTable, such as nb-7-big-%s, found another: move the file away "
        "if it is none",
        FILTER);
  } else if (exists && info.kind != SYSTEM_FILE) {
    status = LANEBLOOM_ERR_FORMAT;
    snprintf(problem, sizeof problem, "expected a regular file, found none");
  } else if (!sstable->format) {
    status = LANEBLOOM_ERR_FORMAT;
    snprintf(problem, sizeof problem,
             "expected an SSTable whose version begins with j to o or d, found version %s; a newer "
             "lanebloom may read it",
             sstable->version);
  } else if (is_missing) {
    status = lanebloom_filter_parse_raw(sstable->format, NULL, 0, NULL, &sstable->filter, problem,
                                        sizeof problem);
  } else {
    status = lanebloom_filter_load_raw(sstable->format, path, NULL, &sstable->filter, problem,
                                       sizeof problem);
  }
  if (status)
    complain(path, "%s", problem);
  sstable->has_filter = exists && info.nbytes > 0;
  free(path);
  return status == LANEBLOOM_OK;
}

/* Describes the filter of an SSTable, and frees it. */
static void describe(struct sstable *sstable)
{
  lanebloom_filter_describe(sstable->filter, &sstable->info, sizeof sstable->info);
  lanebloom_filter_bytes(sstable->filter, &sstable->nbytes);
  lanebloom_filter_free(sstable->filter);
  sstable->filter = NULL;
}

/* Loads all filters, or describes them one at a time. Removes the SSTables whose filter cannot be
 * read, with a message for each. Returns false if any is removed. */
static bool load_all(struct sstables *sstables, bool describes)
{
  size_t n = 0;
  const size_t nlisted = sstables->n;
  for (size_t i = 0; i < nlisted; i++) {
    struct sstable *sstable = &sstables->all[i];
    if (!load(sstable)) {
      free(sstable->path);
      continue;
    }
    if (describes)
      describe(sstable);
    sstables->all[n++] = *sstable;
  }
  sstables->n = n;
  return n == nlisted;
}

/* A server first writes new SSTables and then removes those that they replace. So if the folders
 * have the same SSTables after the filters were read, none was missed. */
bool sstables_load(struct sstables *sstables, char *const *paths, size_t npaths, bool describes)
{
  static const double pause_seconds = 0.05, most_seconds = 1;
  const double begin = lanebloom_system_seconds();
  for (;;) {
    struct sstables before, after;
    const bool is_listed = list(sstables, paths, npaths, true);
    (void)list(&before, paths, npaths, false);
    /* The first list is compared, too: a list that is made while files are renamed may lack both
     * the old and the new ones. */
    const bool is_whole = are_same(sstables, &before), is_loaded = load_all(sstables, describes);
    (void)list(&after, paths, npaths, false);
    const bool is_same = is_whole && are_same(&before, &after);
    sstables_free(&before);
    sstables_free(&after);
    if (is_same)
      return is_listed && is_loaded;
    if (lanebloom_system_seconds() - begin > most_seconds) {
      complain(NULL, "being written: expected SSTables that stay, found that they changed at every "
                     "attempt: try again, or use a snapshot");
      return false;
    }
    sstables_free(sstables);
    sleep_for(pause_seconds);
  }
}
