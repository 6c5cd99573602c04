/* A record passes this answer if its key may be in any of several filters.
 * SPDX-License-Identifier: MIT */
#include "filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/common/tree.h"
#include "../base/memory.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../input/record_options.h"
#include "../system/files.h"

/* ---- The names of filters ---- */

static int compare_names(const void *a, const void *b)
{
  return strcmp(a, b);
}

bool filters_add(struct filters *filters, char *path)
{
  if (find_or_add(path, &filters->known, compare_names) != path)
    return false;
  filters->paths = grow_list(filters->paths, filters->n, sizeof *filters->paths);
  filters->paths[filters->n++] = path;
  return true;
}

/* Reads a line without its end. Returns NULL if the file has ended or cannot be read; otherwise the
 * caller frees the line. */
static char *read_line(FILE *file, size_t *nbytes)
{
  char *line = NULL;
  size_t n = 0;
  int byte;
  while ((byte = getc(file)) != EOF && byte != '\n') {
    line = grow_list(line, n, 1);
    line[n++] = (char)byte;
  }
  if (byte == EOF && (n == 0 || ferror(file))) {
    free(line);
    return NULL;
  }
  line = grow_list(line, n, 1);
  line[n] = '\0';
  *nbytes = n;
  return line;
}

static FILE *open_list(const char *path)
{
  FILE *file = is_standard_input(path) ? stdin : open_stream(path);
  if (!file)
    die(path, "%s", strerror(errno));
  return file;
}

void filters_read_list(struct filters *filters)
{
  const char *path = filters->list;
  FILE *file = open_list(path);
  size_t nbytes;
  for (char *line; (line = read_line(file, &nbytes));) {
    if (strlen(line) != nbytes || nbytes == 0)
      die(input_name(path), "expected the name of a filter in each line, found an empty line or a "
                            "NUL byte");
    filters->names = grow_list(filters->names, filters->nnames, sizeof *filters->names);
    filters->names[filters->nnames++] = line;
    if (!filters_add(filters, line))
      die(line, "expected each filter once, found it twice");
  }
  if (ferror(file))
    die(input_name(path), "%s", strerror(errno));
  if (file != stdin)
    fclose(file);
  if (filters->n == 0)
    die(input_name(path), "expected the names of filters, found an empty file");
}

/* ---- The functions of the answer ---- */

static size_t screen(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts)
{
  const struct filters *filters = context;
  return sources_screen(&filters->sources, &batch->keys, bitmap, NULL, counts);
}

static double rate(void *context)
{
  const struct filters *filters = context;
  return sources_rate(&filters->sources);
}

static void filters_free(void *context)
{
  struct filters *filters = context;
  sources_free(&filters->sources);
  tree_free(&filters->known, NULL);
  free(filters->paths);
  for (size_t i = 0; i < filters->nnames; i++)
    free(filters->names[i]);
  free(filters->names);
}

static const struct answer_kind kind = {.screen = screen, .rate = rate, .free = filters_free};

/* ---- Loading ---- */

/* Warns if every key passes the filter. This often happens if the bytes of the filter are read in
 * the wrong format. */
static void check_filter(const struct source *source)
{
  lanebloom_filter_info info;
  if (!lanebloom_filter_may_contain(source->filter, NULL, 0))
    return;
  lanebloom_filter_describe(source->filter, &info, sizeof info);
  if (info.model_rate >= 1)
    complain(input_name(source->name), "warning: every key passes this filter");
}

/* Warns if no filter has any keys. Does not warn if only some filters are empty, because this is
 * normal. */
static void check_any_has_keys(const struct sources *sources)
{
  for (size_t i = 0; i < sources->n; i++)
    if (!has_no_keys(sources->all[i].filter))
      return;
  if (sources->n == 1)
    complain(input_name(sources->all->name), "warning: this filter has no keys: no key passes");
  else
    complain(NULL, "warning: none of the %zu filters has keys: no key passes", sources->n);
}

struct answer filters_answer(struct filters *filters, struct record_syntax *syntax)
{
  struct sources *sources = &filters->sources;
  for (size_t i = 0; i < filters->n; i++) {
    lanebloom_filter *filter = load_filter(filters->paths[i], &filters->source);
    if (!filter)
      continue;
    if (!filters->source.raw && !take_form(syntax, filters->paths[i], filter))
      exit(EXIT_TROUBLE);
    sources_add_filter(sources, filters->paths[i], filter);
    check_filter(&sources->all[sources->n - 1]);
  }
  if (sources->n < filters->n)
    exit(EXIT_TROUBLE);
  check_any_has_keys(sources);
  if (sources->n > 1)
    sources_find_hashes(sources);
  return (struct answer){.kind = &kind, .context = filters, .sources = sources};
}
