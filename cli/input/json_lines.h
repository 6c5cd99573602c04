/* Lines of JSON whose key is one or more of their members.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_LINES_H
#define LANEBLOOM_CLI_JSON_LINES_H

#include "records.h"

/* Extracts the keys from the records of the batch, which are lines. If a record has a fault, the
 * batch ends before it. */
void take_json_keys(struct cutter *cutter, struct batch *batch);

#endif
