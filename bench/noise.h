/* What other programs and a moving frequency do to a measurement.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_NOISE_H
#define LANEBLOOM_BENCH_NOISE_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many CPUs other programs, and other virtual machines, kept busy since the last call, on
 * average; 0.5 is half of one. Negative at the first call, and where the system does not say. */
double noise_other_cpus(void);

/* This CPU's frequency now, in GHz, measured in about 20 microseconds. */
double noise_frequency(void);

/* How many independent additions this CPU does in a cycle now, measured in about 60 microseconds.
 * They become fewer while the core's other thread works, which the system does not say where that
 * thread belongs to another virtual machine. */
double noise_additions_per_cycle(void);

/* The time of a load from half of the level-2 cache, each of which waits for the one before, in ns;
 * measured in about 80 microseconds, by one thread at a time. It grows while another thread of the
 * core, or the host, fills that cache. */
double noise_level2_ns(void);

#ifdef __cplusplus
}
#endif

#endif
