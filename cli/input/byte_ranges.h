/* Makes keys from ranges of the bytes of records.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_BYTE_RANGES_H
#define LANEBLOOM_CLI_BYTE_RANGES_H

#include "records.h"

/* Makes the keys of a batch, whose records were cut already. If a record lacks the first byte of a
 * range, it has no key, or the batch ends before it with a fault, depending on --missing. */
void take_byte_ranges(struct cutter *cutter, struct batch *batch);

#endif
