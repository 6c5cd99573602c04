/* The AVX2 kernels: by gathers, and by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "avx2.h"

/* The compiler's library asks the CPU once, when the program starts, and counts AVX2 only where the operating system
 * saves its registers (CPUID's OSXSAVE, then XGETBV; tests/cpus.bats hides each). */
static bool usable(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

static unsigned avx2_score(void)
{
  return usable() ? 20 : 0;
}

/* AMD takes a gather apart in microcode: eight dwords cost Zen 3 39 operations and 8 cycles, where it can do three
 * loads a cycle; Intel's Skylake 5 and 5 (vpgatherdd of uops.info). On Zen 4 loads are 1.1 to 1.5 times as fast for
 * LevelDB filters of every size, hash included; RocksDB's kernels gather nothing. Intel's CPUs from Skylake on, before
 * Alder Lake and Sapphire Rapids, gather slowly once microcode mitigates Gather Data Sampling (CVE-2022-40982,
 * INTEL-SA-00828). A program cannot ask the CPU for that; Linux shows it in
 * /sys/devices/system/cpu/vulnerabilities/gather_data_sampling, and the user may choose avx2-loads. */
static unsigned avx2_loads_score(void)
{
  const bool gathers_are_slow = __builtin_cpu_is("amd");
  return !usable() ? 0 : gathers_are_slow ? 21 : 19;
}

const struct kernel_table lanebloom_kernels_avx2 = {
    .name = "avx2",
    .score = avx2_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_avx2,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_avx2,
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_avx2,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_avx2,
        },
};

const struct kernel_table lanebloom_kernels_avx2_loads = {
    .name = "avx2-loads",
    .score = avx2_loads_score,
    .ops =
        {
            [LANEBLOOM_LEVELDB] = &lanebloom_leveldb_avx2_loads,
            [LANEBLOOM_ROCKSDB_LEGACY] = &lanebloom_rocksdb_legacy_avx2, /* which gather nothing */
            [LANEBLOOM_ROCKSDB_LOCAL] = &lanebloom_rocksdb_local_avx2,
            [LANEBLOOM_LEVELDB_SIGNED] = &lanebloom_leveldb_signed_avx2_loads,
        },
};
