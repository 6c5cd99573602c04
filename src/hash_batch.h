/* Says when sorting the hashes of a batch pays.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_HASH_BATCH_H
#define LANEBLOOM_HASH_BATCH_H

/* Sorting pays if at least this many filters are probed with the sorted hashes. The number follows
 * from 25 to 40 ns for sorting a hash and 0.4 to 1 ns that each filter saves (Zen 3). Where the
 * number of filters is not known, hashes are sorted after this many filters; if no more follow, the
 * sort took 0.2 to 0.6 times as long as the probes before it, by the times in hash_batch.c. */
enum { HASH_BATCH_MIN_NFILTERS = 64 };

#endif
