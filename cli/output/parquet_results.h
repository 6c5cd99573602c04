/* Carries out `screen --parquet'.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_RESULTS_H
#define LANEBLOOM_CLI_PARQUET_RESULTS_H

#include "screen.h"

struct parquet_query;

/* Reads all inputs into memory, screens all Parquet files, and prints the result. Returns the exit
 * status. */
int screen_parquet(struct screen *screen, struct parquet_query *query,
                   const struct input_messages *messages);

#endif
