/* Measures what disturbs a benchmark: other programs, and a CPU frequency that moves.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_NOISE_H
#define LANEBLOOM_BENCH_NOISE_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many CPUs other programs, and other virtual machines, kept busy since the last call, on
 * average; 0.5 is half of one. Negative at the first call, and if the system does not say. */
double noise_other_cpus(void);

/* This CPU's frequency now, in GHz, measured in about 20 microseconds. */
double noise_frequency(void);

/* How many independent additions this CPU does in a cycle now, measured in about 60 microseconds.
 * There are fewer while the core's other hardware thread is busy. If that thread belongs to another
 * virtual machine, the system cannot tell when it is busy. */
double noise_additions_per_cycle(void);

/* The time of a load from half of the level-2 cache, in ns, if each load waits for the one before.
 * Measured in about 80 microseconds; one thread at a time may call it. The time grows while another
 * thread of the core, or the host, fills that cache. */
double noise_level2_ns(void);

#ifdef __cplusplus
}
#endif

#endif
