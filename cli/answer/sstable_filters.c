/* A record passes this answer if its key may be in any of several SSTables.
 * SPDX-License-Identifier: MIT */
#include "sstable_filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/memory.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "database.h"

bool are_sstables(char *const *names, size_t n)
{
  const char *one = NULL, *other = NULL;
  for (size_t i = 0; i < n; i++) {
    const bool is_one = is_sstable(names[i]);
    if (is_one && is_database(names[i]))
      die(names[i],
          "expected either SSTables of Cassandra or a database, found files of both: move "
          "one of them to another folder");
    *(is_one ? &one : &other) = names[i];
  }
  if (one && other && !lanebloom_system_exists(other))
    die(other, "%s", strerror(errno));
  if (one && other)
    die(other,
        "expected SSTables of Cassandra, as in %s, found something else: name it in another "
        "command",
        one);
  return one;
}

static size_t screen(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts)
{
  const struct sstable_filters *filters = context;
  return sources_screen(&filters->sources, &batch->keys, bitmap, NULL, counts);
}

static double rate(void *context)
{
  const struct sstable_filters *filters = context;
  return sources_rate(&filters->sources);
}

static void free_filters(void *context)
{
  struct sstable_filters *filters = context;
  sources_free(&filters->sources); /* and with them the filters */
  for (size_t i = 0; i < filters->sstables.n; i++)
    filters->sstables.all[i].filter = NULL;
  sstables_free(&filters->sstables);
}

static const struct answer_kind kind = {.screen = screen, .rate = rate, .free = free_filters};

/* Warns of SSTables without a filter. */
static void warn(const struct sstables *sstables)
{
  char **paths = resize(NULL, (sstables->n + 1) * sizeof *paths);
  const char **warnings = resize(NULL, (sstables->n + 1) * sizeof *warnings);
  for (size_t i = 0; i < sstables->n; i++) {
    paths[i] = sstables->all[i].path;
    warnings[i] = sstables->all[i].has_filter ? "" : "no filter: every key may be in it";
  }
  warn_of_tables(paths, warnings, sstables->n);
  free(warnings);
  free(paths);
}

struct answer sstables_answer(struct sstable_filters *filters, char *const *names, size_t n)
{
  struct sources *sources = &filters->sources;
  const struct sstables *sstables = &filters->sstables;
  if (!sstables_load(&filters->sstables, names, n, false))
    exit(EXIT_TROUBLE);
  warn(sstables);
  for (size_t i = 0; i < sstables->n; i++)
    sources_add_filter(sources, sstables->all[i].path, sstables->all[i].filter);
  if (sources->n > 1)
    sources_find_hashes(sources);
  return (struct answer){.kind = &kind, .context = filters, .sources = sources};
}
