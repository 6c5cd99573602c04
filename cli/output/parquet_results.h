/* Carries out `screen --parquet'.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_PARQUET_RESULTS_H
#define LANEBLOOM_CLI_PARQUET_RESULTS_H

#include "screen.h"

/* Reads all inputs into memory, screens all Parquet files, and prints the result. The caller must
 * have set screen->answer to the answer of Parquet files. */
void screen_parquet(struct screen *screen, struct inputs *inputs);

#endif
