/* Makes keys from members of JSON values. Each line of the input is one value.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_LINES_H
#define LANEBLOOM_CLI_JSON_LINES_H

#include "records.h"

/* Makes the keys of a batch, whose records are lines. If a record has a fault, the batch ends
 * before this record. */
void take_json_keys(struct cutter *cutter, struct batch *batch);

#endif
