/* Lines of JSON whose key is some of their members.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_JSON_LINES_H
#define LANEBLOOM_CLI_JSON_LINES_H

#include "records.h"

/* Takes the keys out of the records of the batch, which are lines. Shortens the batch if one has a
 * fault. */
void take_json_keys(struct cutter *cutter, struct batch *batch);

#endif
