/* The summary of a run of `screen' or `match'.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "screen.h"

/* The share of absent keys that pass; NaN: none is expected. */
static double expected_rate(const struct screen *screen)
{
  return screen->exact || screen->parquet.nnames > 0 ? NAN : sources_rate(&screen->sources);
}

/* Records that have a key, and those of them whose key passed, whichever are selected. */
struct passing {
  uint64_t nkeys, nhits;
};

static struct passing count_passing(const struct screen *screen)
{
  const bool keeps = screen->syntax.fields.missing == MISSING_KEEP;
  const uint64_t nkeys = screen->job.nrecords - screen->job.nmissing;
  const uint64_t nselected = screen->nselected - (keeps ? screen->job.nmissing : 0);
  return (struct passing){nkeys, screen->invert ? nkeys - nselected : nselected};
}

bool are_false_positives(const struct screen *screen)
{
  const struct passing passing = count_passing(screen);
  const double rate = expected_rate(screen), expected = rate * (double)passing.nkeys;
  if (screen->exact || isnan(rate))
    return !screen->exact && passing.nhits == 0;
  return (double)passing.nhits <= 1.1 * expected + 3 * sqrt(expected * (1 - rate));
}

/* Are there enough keys to say so? */
static bool are_telling(const struct screen *screen)
{
  enum { MIN_NKEYS = 1000 };
  return !isnan(expected_rate(screen)) && count_passing(screen).nkeys >= MIN_NKEYS;
}

void warn_of_chance(const struct screen *screen)
{
  const struct passing passing = count_passing(screen);
  if (!screen->invert && !screen->quiet && !screen->summary && passing.nhits > 0 &&
      are_telling(screen) && are_false_positives(screen))
    complain(NULL,
             "warning: %" PRIu64 " of %" PRIu64 " keys passed, no more than chance: all may be "
             "false positives; does the filter hold this field of the records?",
             passing.nhits, passing.nkeys);
}

static void print_versions(const struct screen *screen, FILE *stream)
{
  for (size_t i = 0; i < screen->database.nsources; i++)
    if (screen->database.sources[i]) {
      fputc('\n', stream);
      print_version_of(stream, screen->databases[i], screen->database.sources[i]);
    }
}

static void print_parquet(const struct parquet_query *query, FILE *stream)
{
  fprintf(stream,
          "\n%zu Parquet files, %zu failed, %zu skipped, %zu row groups, %zu without a filter, %zu "
          "that may have a key",
          query->nfiles, query->nfailed, query->nskipped, query->nrow_groups,
          query->nwithout_filter, query->nleft);
}

static struct json_object *parquet_in_json(const struct parquet_query *query)
{
  struct json_object *object = json_needed(json_object_new_object());
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"files", query->nfiles},
                {"failed_files", query->nfailed},
                {"skipped_files", query->nskipped},
                {"row_groups", query->nrow_groups},
                {"without_filter", query->nwithout_filter},
                {"left", query->nleft},
                {"keys", query->nkeys}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    json_object_object_add(object, counts[i].name, json_object_new_uint64(counts[i].n));
  return object;
}

static void print_text(const struct screen *screen, FILE *stream, double nseconds)
{
  const struct job *job = &screen->job;
  fprintf(stream, "%" PRIu64 " records, %" PRIu64 " selected, %" PRIu64 " without a key", //
          job->nrecords, screen->nselected, job->nmissing);
  fprintf(stream, ", %zu inputs failed, %.3f seconds", job->nfailed, nseconds);
  const double rate = expected_rate(screen);
  if (!isnan(rate))
    fprintf(stream, ", %.3g %% of absent keys expected to pass", 100 * rate);
  const struct passing passing = count_passing(screen);
  if (are_telling(screen) && are_false_positives(screen))
    fprintf(stream, "; %" PRIu64 " of %" PRIu64 " keys did, no more than chance", passing.nhits,
            passing.nkeys);
  if (screen->parquet.nnames > 0)
    print_parquet(&screen->parquet, stream);
  print_versions(screen, stream);
}

static struct json_object *versions_in_json(const struct screen *screen)
{
  struct json_object *versions = json_needed(json_object_new_object());
  for (size_t i = 0; i < screen->database.nsources; i++)
    if (screen->database.sources[i]) {
      char *name = escape_name(screen->databases[i]);
      json_object_object_add(versions, name, version_in_json(screen->database.sources[i]));
      free(name);
    }
  return versions;
}

static void print_json(const struct screen *screen, FILE *stream, double nseconds)
{
  const struct job *job = &screen->job;
  struct json_object *object = json_begin();
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"records", job->nrecords},
                {"selected", screen->nselected},
                {"without_key", job->nmissing},
                {"failed_inputs", job->nfailed}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    json_object_object_add(object, counts[i].name, json_object_new_uint64(counts[i].n));
  json_object_object_add(object, "seconds", json_number(nseconds));
  json_object_object_add(object, "expected_rate", json_number(expected_rate(screen)));
  json_object_object_add(object, "within_expected_rate",
                         are_telling(screen) ? json_object_new_boolean(are_false_positives(screen))
                                             : NULL);
  if (screen->parquet.nnames > 0)
    json_object_object_add(object, "parquet", parquet_in_json(&screen->parquet));
  if (screen->ndatabases > 0)
    json_object_object_add(object, "databases", versions_in_json(screen));
  fputs(json_line(object), stream);
  json_object_put(object);
}

void print_summary(struct screen *screen)
{
  if (!screen->summary)
    return;
  const double nseconds = seconds() - screen->begin;
  char *text;
  size_t nbytes;
  FILE *stream = open_string(&text, &nbytes);
  (screen->summary == SUMMARY_JSON ? print_json : print_text)(screen, stream, nseconds);
  close_string(stream, &text);
  if (screen->summary_path) {
    sink_write(&screen->summary_file, text, nbytes);
    sink_write(&screen->summary_file, "\n", 1);
  } else {
    progress_erase();
    fprintf(stderr, "%s%s\n", screen->summary == SUMMARY_TEXT ? "lanebloom: " : "", text);
  }
  free(text);
}
