/* What the sse41 folder's files offer its kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SSE41_H
#define LANEBLOOM_SSE41_H

#include "../kernels.h"

hash_function lanebloom_bloomhash_hash_sse41, lanebloom_bloomhash_signed_hash_sse41;
probe_function lanebloom_leveldb_probe_sse41;
probe_function lanebloom_rocksdb_legacy_probe_sse41, lanebloom_rocksdb_local_probe_sse41;

#endif
