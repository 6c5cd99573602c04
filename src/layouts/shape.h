/* Everything about a filter except its bits, as kernels get it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SHAPE_H
#define LANEBLOOM_LAYOUTS_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "../divide.h"

/* How a filter answers: by probing, or the same for every key. */
enum shape_answer { ANSWER_BY_PROBES, ANSWER_NEVER, ANSWER_ALWAYS };

/* LevelDB's layout. */
struct leveldb_shape {
  struct reciprocal reciprocal; /* of nbits / 8 */
};

/* Layouts whose probes of a key are all in one line of the payload: RocksDB's, and Parquet's, whose
 * lines are blocks. */
struct lines_shape {
  uint32_t n;
  uint32_t nbytes;              /* of each, a power of two */
  uint32_t word_nbits;          /* Parquet: of the part that each probe has to itself; else 0 */
  struct reciprocal reciprocal; /* rocksdb-legacy: of n */
};

/* Ribbon, whose number of probes is the number of columns. The first nnarrow of nblocks blocks have
 * one less. */
struct ribbon_shape {
  uint32_t nblocks, nnarrow;
  uint32_t seed; /* of hashes, as it is combined with them */
};

/* Made by format_table.plan, or by .parse from an engine's bytes. What other layouts have is 0. */
struct filter_shape {
  enum shape_answer answer;
  uint32_t nprobes; /* never 0 with ANSWER_BY_PROBES */
  uint64_t nbytes;  /* of the payload: the engine's bytes without their frame */
  uint64_t nbits;   /* that probes can address; never 0 with ANSWER_BY_PROBES */

  struct leveldb_shape leveldb;
  struct lines_shape lines;
  struct ribbon_shape ribbon;
};

#endif
