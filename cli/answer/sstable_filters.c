/* A record passes this answer if its key may be in any of several SSTables.
 * SPDX-License-Identifier: MIT */
#include "sstable_filters.h"

#include <stdlib.h>

#include "../base/memory.h"
#include "../base/report.h"
#include "../files/folders.h"
#include "database.h"

bool are_sstables(char *const *names, size_t n)
{
  size_t nsstables = 0;
  for (size_t i = 0; i < n; i++) {
    const bool is_one = is_sstable(names[i]);
    if (is_one && is_database(names[i]))
      die(names[i], "expected either SSTables of Cassandra or a database, found files of both");
    nsstables += is_one;
  }
  if (nsstables > 0 && nsstables < n)
    die(NULL, "expected either SSTables of Cassandra or tables of other databases, found both");
  return nsstables > 0;
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
  if (!sstables_load(&filters->sstables, names, n))
    exit(EXIT_TROUBLE);
  warn(sstables);
  for (size_t i = 0; i < sstables->n; i++)
    sources_add_filter(sources, sstables->all[i].path, sstables->all[i].filter);
  if (sources->n > 1)
    sources_find_hashes(sources);
  return (struct answer){.kind = &kind, .context = filters, .sources = sources};
}
