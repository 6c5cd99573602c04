/* Measures what disturbs a benchmark: other programs that use the CPUs or their caches, and a CPU
 * frequency that changes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_NOISE_H
#define LANEBLOOM_BENCH_NOISE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns how many CPUs other programs and other virtual machines kept busy, on average since the
 * last call. For example, 0.5 means half of one CPU. Returns a negative number at the first call,
 * or if the system does not report these times. */
double noise_other_cpus(void);

/* Returns the frequency of this CPU now, in GHz. The call takes about 20 microseconds. */
double noise_frequency(void);

/* Returns how many independent additions this CPU does in a cycle now. The call takes about 60
 * microseconds. The number is lower while the other hardware thread of the same core is busy. This
 * works even if that thread belongs to another virtual machine, about which the system knows
 * nothing. */
double noise_additions_per_cycle(void);

/* Returns how many ns a load from the level-2 cache takes in a chain of loads, in which each load
 * waits for the previous one. The chain uses half of the cache. The time is longer while another
 * thread of the core, or the host of a virtual machine, fills that cache. The call takes about 80
 * microseconds. Only one thread at a time may call it. */
double noise_level2_ns(void);

#ifdef __cplusplus
}
#endif

#endif
