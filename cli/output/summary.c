/* Prints the summary of a run of `screen' or `match', and warns if the result looks like chance.
 * SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "../../src/system/system.h"
#include "../base/json_object.h"
#include "../base/memory.h"
#include "../base/progress.h"
#include "../base/report.h"
#include "../input/inputs.h"
#include "../input/records.h"
#include "../input/workers.h"
#include "screen.h"

/* Returns the share of absent keys that pass. Returns NaN if the share is unknown, and for `match',
 * for which no absent key passes. */
static double expected_rate(const struct screen *screen)
{
  const struct answer *answer = &screen->answer;
  return answer->kind->rate ? answer->kind->rate(answer->context) : NAN;
}

/* The number of records that have a key, and how many of these keys passed, whether or not the
 * records are selected. */
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
  if (isnan(rate))
    return !screen->answer.is_exact && passing.nhits == 0;
  return (double)passing.nhits <= 1.1 * expected + 3 * sqrt(expected * (1 - rate));
}

/* Are there enough keys for a conclusion? The rate is computed last, because computing it reads all
 * filters. */
static bool are_significant(const struct screen *screen)
{
  return count_passing(screen).nkeys >= SIGNIFICANT_NKEYS && !isnan(expected_rate(screen));
}

/* Prints no warning if an input failed: this error may be the reason for the result. */
void warn_of_chance(const struct screen *screen)
{
  static const char advice[] =
      "if some should be there, check -f, --crlf, --trim, --lower, --upper, --decode, --digest and "
      "--type, here and where the filter was built";
  const struct passing passing = count_passing(screen);
  if (screen->invert || screen->quiet || screen->summary || screen->job.nfailed > 0)
    return;
  if (passing.nhits == 0 && screen->answer.kind->warn_of_none)
    screen->answer.kind->warn_of_none(screen->answer.context, passing.nkeys);
  if (!are_significant(screen) || !are_false_positives(screen))
    return;
  if (passing.nhits > 0)
    complain(NULL,
             "warning: %" PRIu64 " of %" PRIu64 " keys passed, no more than chance: all may be "
             "false positives; %s",
             passing.nhits, passing.nkeys, advice);
  else if (expected_rate(screen) != 0) /* if it is 0, a message has already said that the filter has
                                        * no keys */
    complain(NULL, "warning: none of %" PRIu64 " keys passed; %s", passing.nkeys, advice);
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
  if (are_significant(screen) && are_false_positives(screen))
    fprintf(stream, "; %" PRIu64 " of %" PRIu64 " keys did, no more than chance", passing.nhits,
            passing.nkeys);
  if (screen->answer.kind->print)
    screen->answer.kind->print(screen->answer.context, stream);
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
  json_object_object_add(
      object, "within_expected_rate",
      are_significant(screen) ? json_object_new_boolean(are_false_positives(screen)) : NULL);
  if (screen->answer.kind->add_json)
    screen->answer.kind->add_json(screen->answer.context, object);
  fputs(json_line(object), stream);
  json_object_put(object);
}

void print_summary(struct screen *screen)
{
  if (!screen->summary)
    return;
  const double nseconds = lanebloom_system_seconds() - screen->begin;
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
