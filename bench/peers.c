/* Lists the engines that were installed when the build was configured.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "peers.h"
#include "shim.h"

const struct bench_peer *const bench_peers[] = {
#if defined(LANEBLOOM_BENCH_LEVELDB)
    bench_leveldb_peers,
#endif
#if defined(LANEBLOOM_BENCH_ROCKSDB)
    bench_rocksdb_peers,
#endif
    NULL,
};

void bench_describe_peers(void)
{
#if defined(LANEBLOOM_BENCH_LEVELDB)
  bench_context("leveldb_version", bench_leveldb_version());
#endif
#if defined(LANEBLOOM_BENCH_ROCKSDB)
  bench_context("rocksdb_version", bench_rocksdb_version());
#endif
}
