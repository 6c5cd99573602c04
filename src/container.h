/* Containers: a header of 64 bytes, then the engine's bytes. docs/file-format.md defines them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CONTAINER_H
#define LANEBLOOM_CONTAINER_H

#include "common/problem.h"
#include "filter.h"

enum { CONTAINER_HEADER_NBYTES = 64 }; /* so that the payload starts on a cache line */

/* Checks whether there are at least 64 bytes and they begin with a container's magic number. */
bool lanebloom_container_begins(const uint8_t *bytes, uint64_t nbytes);

/* Checks the header of a file. found: bytes at `header`; fewer than 64 are an error. Errors:
 * FORMAT, CORRUPT, LIMIT. */
lanebloom_status lanebloom_container_check_header(const uint8_t *header, uint64_t found,
                                                  const struct problem *problem);

/* Returns the size of the engine's bytes, from a header that was checked. */
uint64_t lanebloom_container_payload_nbytes(const uint8_t *header);

/* Opens a container whose bytes are in `memory` or borrowed. On success the filter owns the memory;
 * on an error the caller does. Errors: FORMAT, CORRUPT, LIMIT, MEMORY. Cost: reads all bytes if
 * verify_sum is set, else constant. */
lanebloom_status lanebloom_container_open(const uint8_t *bytes, size_t nbytes, bool verify_sum,
                                          struct memory memory, const struct problem *problem,
                                          lanebloom_filter **filter);

/* Makes the header of a filter's container. Cost: reads all bytes of the filter, for the
 * checksum. */
void lanebloom_container_write_header(const lanebloom_filter *filter,
                                      uint8_t header[CONTAINER_HEADER_NBYTES]);

#endif
