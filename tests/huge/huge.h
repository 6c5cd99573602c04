/* Sizes and counts that exceed 32 bits. A LevelDB filter of 2^29 bytes or more has too many bits
 * for 32 bits, and a 32-bit hash reaches only the first 2^32 of them. RocksDB's filters are tested
 * at their largest sizes. Counts of keys exceed 32 bits. Most of the memory and of the files is
 * never touched, so the tests take only a few hundred megabytes; huge.bats uses the full sizes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_HUGE_H
#define LANEBLOOM_TESTS_HUGE_H

#include <criterion/criterion.h>
#include <lanebloom.h>

#include "model.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lanebloom_slice keys[] = {
    {"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}, {"absent", 6}, {NULL, 0}};
static const uint64_t TWO_TO_29 = (uint64_t)1 << 29, GIB = (uint64_t)1 << 30;

enum { NPROBES = 30, CONTAINER_HEADER_NBYTES = 64 };

/* Makes a file with a header that states promised_nbytes of payload, and a payload of nbytes of
 * holes. The file is in memory, where holes are not read ahead. */
int make_container(char path[32], lanebloom_format format, uint64_t promised_nbytes,
                   uint64_t nbytes);

#endif
