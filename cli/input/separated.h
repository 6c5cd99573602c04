/* Cuts records that consist of separated fields, and makes keys from their fields.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_SEPARATED_H
#define LANEBLOOM_CLI_SEPARATED_H

#include "records.h"

/* Cuts the next batch as cutter_next() describes it, and makes its keys from fields. Sets batch->n,
 * which is 0 if the first record has a fault. */
void cut_separated(struct cutter *cutter, struct batch *batch);

#endif
