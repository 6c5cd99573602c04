/* Sizes and counts that exceed 32 bits. LevelDB filters of 2^29 bytes and more have too many bits
 * for 32 bits, and a 32-bit hash reaches only the first 2^32 of them. RocksDB's filters are tested
 * at their largest sizes, and counts of keys beyond 32 bits. Memory and files are nearly all
 * untouched, so they take only a few hundred megabytes; huge.bats uses the full sizes.
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

/* Makes a file with a header that states promised_nbytes of payload, and nbytes of holes. It is in
 * memory, where holes are not read ahead. */
int make_container(char path[32], lanebloom_format format, uint64_t promised_nbytes,
                   uint64_t nbytes);

#endif
