/* Reports on standard error how far the command is.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PROGRESS_H
#define LANEBLOOM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Says whether to report progress on standard error. */
enum progress { PROGRESS_NEVER, PROGRESS_AUTO, PROGRESS_ALWAYS };

/* Starts the clock. when: the result of resolve_progress(). total: bytes of all inputs, or another
 * measure of the whole; 0: unknown. units: the name of the things counted, "records". */
void progress_begin(enum progress when, uint64_t total, const char *units);

/* Reports, at most once a second, the share of the total, the units and their rate, and the
 * remaining time. */
void progress_report(uint64_t nunits, uint64_t ndone);

/* Erases the report. With PROGRESS_ALWAYS, prints the number of units and their rate. */
void progress_end(uint64_t nunits);

/* Erases the report, if there is one, before other text is printed. */
void progress_erase(void);

#endif
