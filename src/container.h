/* Container bytes: a header of 64 bytes, then the engine's bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CONTAINER_H
#define LANEBLOOM_CONTAINER_H

#include "filter.h"
#include "problem.h"

enum { CONTAINER_HEADER_NBYTES = 64 }; /* so that the payload starts on a cache line */

/* Do these bytes hold a header that begins as a container's does? */
bool lanebloom_container_begins(const uint8_t *bytes, uint64_t nbytes);

/* Structure only: what can be judged from the first `found` bytes of a file. */
lanebloom_status lanebloom_container_check_header(const uint8_t *header, uint64_t found,
                                                  const struct problem *problem);

/* What a header that has been checked says of the payload's size. */
uint64_t lanebloom_container_payload_nbytes(const uint8_t *header);

/* A filter over container bytes, which lie in `memory` or are borrowed; on success it owns the
 * memory. */
lanebloom_status lanebloom_container_open(const uint8_t *bytes, size_t nbytes, bool verify_sum,
                                          struct memory memory, const struct problem *problem,
                                          lanebloom_filter **filter);

/* The header of a filter's container. Reads all of the payload, for its checksum. */
void lanebloom_container_write_header(const lanebloom_filter *filter,
                                      uint8_t header[CONTAINER_HEADER_NBYTES]);

#endif
