/* A claim is a chunk of a regular file that inputs_next() only measures, and that inputs_load()
 * reads.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CLAIMS_H
#define LANEBLOOM_CLI_CLAIMS_H

#include "inputs.h"

/* Assigns the next records of the open input to the chunk, so that inputs_load() will read them.
 * The chunk gets its own descriptor, because the input may be closed before inputs_load() is
 * called. Returns false if this is not possible; the caller must then read the records. */
bool claim(struct inputs *inputs, struct chunk *chunk);

#endif
