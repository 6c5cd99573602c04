/* Has the list of all kernel tables, and chooses the one to use on this CPU.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "system/system.h"

#if defined(__x86_64__)
#include "system/cpu_x86.h"
#endif

static const struct kernel_table *const tables[] = {
#if defined(LANEBLOOM_WITH_AVX512)
    &lanebloom_kernels_avx512, /* with gathers */
    &lanebloom_kernels_avx512_loads,
#endif
#if defined(LANEBLOOM_WITH_AVX2)
    &lanebloom_kernels_avx2, /* with gathers */
    &lanebloom_kernels_avx2_loads,
#endif
#if defined(LANEBLOOM_WITH_SSE41)
    &lanebloom_kernels_sse41,
#endif
#if defined(LANEBLOOM_WITH_SIMD128)
    &lanebloom_kernels_simd128,
#endif
#if defined(LANEBLOOM_WITH_NEON)
    &lanebloom_kernels_neon,
#endif
    &lanebloom_kernels_scalar,
#if defined(LANEBLOOM_WITH_SVE2)
    &lanebloom_kernels_sve2,
#endif
#if defined(LANEBLOOM_WITH_RVV)
    &lanebloom_kernels_rvv,
#endif
#if defined(LANEBLOOM_WITH_VSX)
    &lanebloom_kernels_vsx,
#endif
};
enum { NTABLES = sizeof tables / sizeof *tables };

static const struct kernel_table
    refused; /* the choice if $LANEBLOOM_KERNEL names a table that cannot run here */
static kernel_choice default_table; /* NULL until it is chosen */
kernel_choice lanebloom_kernels_chosen;

/* Returns the usable table of this rank, where rank 0 is the best, or NULL if fewer tables are
 * usable. If two scores are equal, the table that is listed first is better. */
static const struct kernel_table *by_rank(size_t rank)
{
  unsigned scores[NTABLES];
  for (size_t i = 0; i < NTABLES; i++)
    scores[i] = tables[i]->score();
  for (size_t i = 0; i < NTABLES; i++) {
    size_t nbetter = 0;
    for (size_t j = 0; j < NTABLES; j++)
      nbetter += scores[j] > scores[i] || (j < i && scores[j] == scores[i]);
    if (scores[i] > 0 && nbetter == rank)
      return tables[i];
  }
  return NULL;
}

static const struct kernel_table *by_name(const char *name)
{
  for (size_t i = 0; i < NTABLES; i++)
    if (strcmp(tables[i]->name, name) == 0 && tables[i]->score() > 0)
      return tables[i];
  return NULL;
}

/* If the choice is NULL, stores `value` in it. Returns the choice. If several threads call this at
 * once, the first value is stored, and all threads get it. */
static const struct kernel_table *settle(kernel_choice *choice, const struct kernel_table *value)
{
  const struct kernel_table *found = NULL;
  return atomic_compare_exchange_strong(choice, &found, value) ? value : found;
}

static const struct kernel_table *the_default(void)
{
  const struct kernel_table *table = atomic_load_explicit(&default_table, memory_order_relaxed);
  if (table)
    return table;
  const char *name = lanebloom_system_environment("LANEBLOOM_KERNEL");
  table = name && *name ? by_name(name) : by_rank(0);
  return settle(&default_table, table ? table : &refused);
}

/* CPUID has a bit that says whether a hypervisor runs, and a leaf with the hypervisor's name. The
 * name is TCG if QEMU translates instructions; hypervisors that run instructions on the CPU have
 * other names. */
bool lanebloom_cpu_is_emulated(void)
{
#if defined(__x86_64__)
  enum { HYPERVISOR_BIT = 31, LEAF_HYPERVISOR = 0x40000000 };
  unsigned most, name[3];
  if (!(cpu_leaf(1, 0).c >> HYPERVISOR_BIT & 1))
    return false;
  __cpuid(LEAF_HYPERVISOR, most, name[0], name[1], name[2]);
  return memcmp(name, "TCGTCGTCGTCG", sizeof name) == 0;
#else
  return false;
#endif
}

/* Returns true on Intel's CPUs with AVX-VNNI: Alder Lake, Sapphire Rapids and later.
 *
 * - On the Xeon with AVX-VNNI that was measured, gathers are one to two times as fast as loads
 *   (LevelDB filter of 16 KiB, present keys: AVX-512 takes 1.5 ns per key with gathers and 2.6 ns
 *   with loads; AVX2 takes 1.9 ns with gathers and 2.6 ns with loads). No other CPU with AVX-VNNI
 *   was measured.
 * - Earlier Intel CPUs, from Skylake on, gather slowly if their microcode mitigates Gather Data
 *   Sampling (CVE-2022-40982; INTEL-SA-00828 lists the CPUs). A program cannot read from the CPU
 *   whether the microcode does so; Linux shows it in
 *   /sys/devices/system/cpu/vulnerabilities/gather_data_sampling.
 * - AMD splits a gather in microcode. On Zen 3 a gather of eight dwords takes 39 operations and 8
 *   cycles; in 8 cycles the CPU could do 24 loads (uops.info, vpgatherdd). On Zen 4 loads are 1.1
 *   to 1.6 times as fast as gathers. */
bool lanebloom_cpu_gathers_fast(void)
{
#if defined(__x86_64__)
  return cpu_is_intel() && cpu_has_avx_vnni();
#else
  return false;
#endif
}

const struct kernel_table *lanebloom_kernels_choose(void)
{
  const struct kernel_table *table = the_default();
  return table == &refused ? NULL : settle(&lanebloom_kernels_chosen, table);
}

size_t lanebloom_kernel_count(void)
{
  size_t n = 0;
  for (size_t i = 0; i < NTABLES; i++)
    n += tables[i]->score() > 0;
  return n;
}

const char *lanebloom_kernel_at(size_t i)
{
  const struct kernel_table *table = by_rank(i);
  return table ? table->name : NULL;
}

const char *lanebloom_kernel_active(void)
{
  const struct kernel_table *table = lanebloom_kernels_current();
  return table ? table->name : NULL;
}

const char *lanebloom_kernel_reason(void)
{
  const struct kernel_table *table = lanebloom_kernels_current();
  if (!table)
    return NULL;
  if (table == by_rank(0))
    return lanebloom_cpu_is_emulated() ? "QEMU emulates this CPU, where vectors are slow"
                                       : "best for this CPU";
  return table == the_default() ? "named by LANEBLOOM_KERNEL" : "chosen by the program";
}

lanebloom_status lanebloom_kernel_use(const char *name)
{
  const struct kernel_table *table = name ? by_name(name) : the_default();
  if (!table || table == &refused)
    return LANEBLOOM_ERR_KERNEL;
  atomic_store_explicit(&lanebloom_kernels_chosen, table, memory_order_relaxed);
  return LANEBLOOM_OK;
}
