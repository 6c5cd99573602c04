/* Loads the tables of files, and of folders that are no database. An engine may write into such a
 * folder meanwhile, so the folder is listed again until nothing changes.
 * SPDX-License-Identifier: MIT */
#include <time.h>

#include "../../src/system/system.h"
#include "../base/report.h"
#include "../system/process.h"
#include "loading.h"

bool load_files(struct database *database, const lanebloom_database *source,
                lanebloom_writer writer, const struct table_loader *loader, bool print_error)
{
  bool complete = true;
  for (size_t i = 0; i < database->ntables; i++) {
    const struct table_place *place = &database->places[i];
    if (database->loaded[i] || place->source != source || place->is_log)
      continue;
    lanebloom_table *table = open_table(database->paths[i], writer, print_error);
    if (table)
      database->loaded[i] = loader->load(loader->context, database->paths[i], place, table);
    complete &= table != NULL;
  }
  return complete;
}

/* Returns true if a table that could not be read changed a short time ago or no longer exists. A
 * further attempt to load the tables may then succeed. */
static bool may_change(const struct database *database)
{
  static const int64_t settled_seconds = 10;
  bool may_change = false;
  for (size_t i = 0; i < database->ntables; i++) {
    struct system_info info;
    may_change |= !database->loaded[i] && !database->places[i].source &&
                  (!lanebloom_system_info(database->paths[i], &info) || info.kind != SYSTEM_FILE ||
                   time(NULL) - info.changed_seconds < settled_seconds);
  }
  return may_change;
}

/* Do the folders still contain the same tables? A running engine first writes new tables and then
 * removes the tables that they replace. So if a listing that is made after the tables were loaded
 * equals the first one, no table was missed. */
static bool is_settled(const struct database *database, char *const *names,
                       const struct table_loader *loader)
{
  struct database again = {.nsources = database->nsources, .sources = database->sources};
  if (!database->has_folders)
    return true;
  list_names(&again, names, false);
  const bool is_same = is_same_list(database, &again);
  free_listing(&again, loader);
  return is_same;
}

/* Lists the tables again. Keeps the results of the tables that were already loaded. */
static bool list_again(struct database *database, char *const *names, bool print_error,
                       const struct table_loader *loader)
{
  struct database earlier = *database;
  *database = (struct database){.nsources = earlier.nsources, .sources = earlier.sources};
  const bool listed = list_names(database, names, print_error);
  take_over(database, &earlier);
  free_listing(&earlier, loader);
  return listed;
}

bool load_folders(struct database *database, char *const *names, lanebloom_writer writer,
                  const struct table_loader *loader)
{
  static const double pause_seconds = 0.05, most_seconds = 1;
  const double begin = lanebloom_system_seconds();
  for (bool is_first = true;; is_first = false) {
    const bool listed = list_again(database, names, is_first, loader);
    if (!database->has_folders)
      return load_files(database, NULL, writer, loader, true) && listed;
    const bool loaded = load_files(database, NULL, writer, loader, false);
    const bool is_same = is_settled(database, names, loader);
    if (is_same && loaded)
      return listed;
    const bool is_last = lanebloom_system_seconds() - begin > most_seconds;
    if (is_same && (is_last || !may_change(database)))
      return load_files(database, NULL, writer, loader, true) && listed;
    if (is_last) {
      complain(NULL, "being written: expected tables that stay, found that they changed at every "
                     "attempt: try again, or use a copy of the database");
      return false;
    }
    sleep_for(pause_seconds);
  }
}
