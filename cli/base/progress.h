/* Reports on standard error how much of its work the command has done.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PROGRESS_H
#define LANEBLOOM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Says when progress is reported on standard error. */
enum progress { PROGRESS_NEVER, PROGRESS_AUTO, PROGRESS_ALWAYS };

/* Starts the clock of the reports. `when` is a result of resolve_progress(). `total` is the size of
 * the whole work, such as the bytes of all inputs, or 0 if the size is unknown. `units` names the
 * things that are counted, such as "records". */
void progress_begin(enum progress when, uint64_t total, const char *units);

/* Prints the number of units and their rate. If the total is known, also prints which share of it
 * is done and the remaining time. `ndone` is the part of the total that is done. If the last report
 * is less than a second old, does nothing. */
void progress_report(uint64_t nunits, uint64_t ndone);

/* Erases the last report. With PROGRESS_ALWAYS, then prints the number of units and their rate. */
void progress_end(uint64_t nunits);

/* Erases the last report from the terminal. Call this before other text is printed there. */
void progress_erase(void);

#endif
