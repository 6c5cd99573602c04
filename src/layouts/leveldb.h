/* Defines LevelDB's layout, in which a probe may be anywhere in the payload.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_LEVELDB_H
#define LANEBLOOM_LAYOUTS_LEVELDB_H

#include "bloomhash.h"
#include "shape.h"

/* If a LevelDB filter has more probes than this, every key may be present. So the filter gets a
 * constant answer, and kernels never see it (LevelDB 1.23 util/bloom.cc). */
enum { LEVELDB_MAX_NPROBES = 30 };

#endif
