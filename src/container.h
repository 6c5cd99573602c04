/* Containers are lanebloom's own files. A container is a header of 64 bytes, followed by a filter
 * as its engine (LevelDB, RocksDB ...) stores it. docs/file-format.md defines them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CONTAINER_H
#define LANEBLOOM_CONTAINER_H

#include "common/problem.h"
#include "filter.h"

enum { CONTAINER_HEADER_NBYTES = 64 }; /* one cache line, so that the payload starts on the next */

/* Returns true if there are at least 64 bytes, and they begin with the magic number of
 * containers. */
bool lanebloom_container_begins(const uint8_t *bytes, uint64_t nbytes);

/* Checks the header of a file. `found` is the number of bytes at `header`; fewer than 64 are an
 * error. Errors: FORMAT, CORRUPT, LIMIT. */
lanebloom_status lanebloom_container_check_header(const uint8_t *header, uint64_t found,
                                                  const struct problem *problem);

/* Returns the size of the engine's bytes. lanebloom_container_check_header() must have accepted the
 * header. */
uint64_t lanebloom_container_payload_nbytes(const uint8_t *header);

/* Opens a container, whose bytes are in `memory` or are borrowed. On success the filter owns
 * `memory`; on an error the caller still owns it. Errors: FORMAT, CORRUPT, LIMIT, MEMORY. Cost: if
 * verify_sum is set, all bytes are read for the checksum; otherwise constant. */
lanebloom_status lanebloom_container_open(const uint8_t *bytes, size_t nbytes, bool verify_sum,
                                          struct memory memory, const struct problem *problem,
                                          lanebloom_filter **filter);

/* Makes the header of a filter's container. Cost: all bytes of the filter are read for the
 * checksum. */
void lanebloom_container_write_header(const lanebloom_filter *filter,
                                      uint8_t header[CONTAINER_HEADER_NBYTES]);

#endif
