/* Sizes and counts that 32 bits do not hold. LevelDB filters of 2^29 bytes and more: their number
 * of bits does not fit, and a 32-bit hash reaches only the first 2^32 of them. RocksDB's filters
 * where their sizes end. Counts of keys. Memory and files are nearly all untouched, so a few
 * hundred megabytes of them are real; ../huge.bats takes it all.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_HUGE_H
#define LANEBLOOM_TESTS_HUGE_H

#include <criterion/criterion.h>
#include <lanebloom.h>

#include "../model.h"
#include "../support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const lanebloom_slice keys[] = {
    {"hello", 5}, {"world", 5}, {"\xff\xfe\xfd", 3}, {"absent", 6}, {NULL, 0}};
static const uint64_t TWO_TO_29 = (uint64_t)1 << 29, GIB = (uint64_t)1 << 30;

enum { NPROBES = 30, CONTAINER_HEADER_NBYTES = 64 };

/* A file of holes behind a header that promises a payload of so many bytes. In memory, where holes
 * are not read ahead. */
int make_container(char path[32], lanebloom_format format, uint64_t promised_nbytes,
                   uint64_t nbytes);

#endif
