/* LevelDB's filter written a second time, straight from its definition, to check the scalar kernels: one key and one
 * probe at a time, arithmetic in the open, nothing shared with the library but the shape of the kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_MODEL_H
#define LANEBLOOM_TESTS_MODEL_H

#include "kernels.h"

/* BloomHash of one key. */
uint32_t model_bloomhash(const void *key, size_t size, bool signed_tail);

/* Where probe number i, from 0, of a hash lies in a payload of nbytes. */
uint64_t model_position(uint32_t hash, unsigned i, uint64_t nbytes);

/* The number of probes that LevelDB chooses. */
unsigned model_nprobes(unsigned bits_per_key);

/* KeyMayMatch of a hash, on any bytes. */
bool model_may_match(const uint8_t *bytes, size_t size, uint32_t hash);

/* The operations of a format. hash takes keys in slices only: it is no judge of its own reading of other layouts. */
extern const struct kernel_ops model_leveldb, model_leveldb_signed;

#endif
