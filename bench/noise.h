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

#ifdef __cplusplus
}
#endif

#endif
