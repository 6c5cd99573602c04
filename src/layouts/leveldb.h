/* LevelDB's layout: probes anywhere in the payload.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_LEVELDB_H
#define LANEBLOOM_LAYOUTS_LEVELDB_H

#include "bloomhash.h"
#include "shape.h"

/* In a LevelDB filter with more probes every key may be present, so kernels never see more (LevelDB
 * 1.23 util/bloom.cc). */
enum { LEVELDB_MAX_NPROBES = 30 };

#endif
