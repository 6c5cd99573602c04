/* The shape of a filter: all that kernels need to know about it except its bits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SHAPE_H
#define LANEBLOOM_LAYOUTS_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "../divide.h"

/* How a filter decides: by probing, or with the same result for every key. */
enum shape_answer { ANSWER_BY_PROBES, ANSWER_NEVER, ANSWER_ALWAYS };

/* LevelDB's layout. */
struct leveldb_shape {
  struct reciprocal reciprocal; /* of nbits / 8 */
};

/* Layouts whose probes of a key are all in one line of the payload: RocksDB's, and Parquet's, in
 * which lines are blocks. */
struct lines_shape {
  uint32_t n;
  uint32_t nbytes;              /* the size of a line, a power of two */
  uint32_t word_nbits;          /* Parquet: bits per word, each probe has its own word; else 0 */
  struct reciprocal reciprocal; /* rocksdb-legacy: of n */
};

/* Ribbon. Its number of probes is the number of columns. The first nnarrow of nblocks blocks have
 * one column less. */
struct ribbon_shape {
  uint32_t nblocks, nnarrow;
  uint32_t seed; /* as it is combined with hashes */
};

/* The shape is made by format_table.plan, or by .parse from an engine's bytes. Members of other
 * layouts are 0. */
struct filter_shape {
  enum shape_answer answer;
  uint32_t nprobes; /* never 0 with ANSWER_BY_PROBES */
  uint64_t nbytes;  /* the size of the payload: the engine's bytes without their frame */
  uint64_t nbits;   /* the bits that probes can address; never 0 with ANSWER_BY_PROBES */

  struct leveldb_shape leveldb;
  struct lines_shape lines;
  struct ribbon_shape ribbon;
};

#endif
