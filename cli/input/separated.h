/* Records whose key is one or more of their fields.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SEPARATED_H
#define LANEBLOOM_CLI_SEPARATED_H

#include "records.h"

/* Cuts the next batch, as cutter_next() does, and takes the keys out of the fields. Sets batch->n;
 * it is 0 if the first record has a fault. */
void cut_separated(struct cutter *cutter, struct batch *batch);

#endif
