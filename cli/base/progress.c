/* Reports progress for people who wait at a terminal.
 * SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "../../src/system/system.h"
#include "../system/files.h"

static enum progress when;
static uint64_t total;
static const char *units;
static double first, last;
static bool is_shown; /* true if a report stands on the terminal; the cursor is then at the
                       * beginning of the report */

void progress_begin(enum progress resolved, uint64_t whole, const char *counted)
{
  when = resolved;
  total = whole;
  units = counted;
  first = last = lanebloom_system_seconds();
}

void progress_erase(void)
{
  if (is_shown)
    fputs("\033[K", stderr); /* the ANSI sequence that erases to the end of the line */
  is_shown = false;
}

static double rate(uint64_t nunits, double now)
{
  return (double)nunits / (now > first ? now - first : 1e-9);
}

static void print_time_left(double nseconds)
{
  if (nseconds < 100)
    fprintf(stderr, ", %.0f s left", nseconds);
  else if (nseconds < 6000)
    fprintf(stderr, ", %.0f min left", nseconds / 60);
  else
    fprintf(stderr, ", %.1f h left", nseconds / 3600);
}

void progress_report(uint64_t nunits, uint64_t ndone)
{
  const double now = when == PROGRESS_NEVER ? 0 : lanebloom_system_seconds();
  if (when == PROGRESS_NEVER || now - last < 1)
    return;
  last = now;
  const bool to_terminal = is_terminal(STANDARD_ERROR);
  const bool has_share = total > 0 && ndone > 0 && ndone <= total;
  const double share = has_share ? (double)ndone / (double)total : 0;
  progress_erase();
  fputs("lanebloom: ", stderr);
  if (has_share)
    fprintf(stderr, "%.0f %%, ", 100 * share);
  fprintf(stderr, "%" PRIu64 " %s, %.0f per second", nunits, units, rate(nunits, now));
  if (has_share)
    print_time_left((now - first) * (1 - share) / share);
  fputs(to_terminal ? "\r" : "\n", stderr);
  fflush(stderr);
  is_shown = to_terminal;
}

void progress_end(uint64_t nunits)
{
  progress_erase();
  if (when == PROGRESS_ALWAYS)
    fprintf(stderr, "lanebloom: %" PRIu64 " %s, %.0f per second\n", nunits, units,
            rate(nunits, lanebloom_system_seconds()));
  fflush(stderr);
}
