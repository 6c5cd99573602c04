/* The shape of a filter is all that kernels need to know about the filter except its bits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_SHAPE_H
#define LANEBLOOM_LAYOUTS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../divide.h"

/* A filter decides by probing, or with the same result for every key: no key is present, or every
 * key may be present. */
enum shape_answer { ANSWER_BY_PROBES, ANSWER_NEVER, ANSWER_ALWAYS };

/* For LevelDB's layout. */
struct leveldb_shape {
  struct reciprocal reciprocal; /* of nbits / 8 */
};

/* For layouts in which all probes of a key are in one line of the payload. These are the layouts of
 * RocksDB's Bloom filters, and Parquet's layout, in which each block is a line. */
struct lines_shape {
  uint32_t n;
  uint32_t nbytes; /* the size of a line, a power of two */
  /* Parquet: bits per word, because each probe has a word of its own; other layouts: 0 */
  uint32_t word_nbits;
  struct reciprocal reciprocal; /* rocksdb-legacy: of n */
};

/* For RocksDB's Ribbon layout. filter_shape.nprobes is the number of columns. The first nnarrow of
 * the nblocks blocks have one column fewer. */
struct ribbon_shape {
  uint32_t nblocks, nnarrow;
  uint32_t seed; /* in the form in which it is combined with hashes */
};

/* For Pebble's binary fuse layout. filter_shape.nprobes is the number of bits of a fingerprint. */
struct fuse_shape {
  uint64_t seed;
  uint32_t nstarts;        /* the slots that can be a key's first slot */
  uint32_t segment_nslots; /* a power of two */
};

/* For DCSO's format. */
struct dcso_shape {
  uint64_t flags; /* of the header; readers use only the lowest byte */
};

/* What a filter was planned for, if its frame says so; otherwise all members are 0. */
struct planned_shape {
  uint64_t nkeys;
  double rate;
};

/* For the layouts of Spark, Guava and Cassandra, which use double hashing; double_hashing.h defines
 * the sums. */
struct double_hashing_shape {
  enum sums {
    SUMS_NONE,     /* the layout has no double hashing */
    SUMS_SPARK_V1, /* also those of Guava's strategy with 32 bits */
    SUMS_SPARK_V2,
    SUMS_GUAVA_64,
    SUMS_CASSANDRA,
  } sums;
  bool is_swapped;    /* the base of the probes is the second number of the hash */
  bool is_big_endian; /* words of 64 bits are big-endian */
};

/* Combined with the number of a bit by an exclusive or, this gives the bit's position in a payload
 * of big-endian words of 64 bits. */
enum { BIG_ENDIAN_FLIP = 64 - 8 };

/* For Hudi's layout. The bits of a row begin at `first` + i * stride in the payload, for each row i
 * below nrows. */
struct hudi_shape {
  uint32_t nrows;
  uint32_t row_nbits; /* at most 2^31 - 1 */
  uint64_t first, stride;
  struct reciprocal reciprocal; /* of row_nbits */
};

/* format_table.plan makes the shape of a filter to be built, and format_table.parse finds the shape
 * of an engine's bytes. Members of layouts other than the filter's are 0. */
struct filter_shape {
  enum shape_answer answer;
  uint32_t nprobes; /* never 0 with ANSWER_BY_PROBES */
  uint64_t nbytes;  /* the size of the payload: the engine's bytes without their frame */
  uint64_t nbits;   /* the bits that probes can address; never 0 with ANSWER_BY_PROBES */

  struct leveldb_shape leveldb;
  struct lines_shape lines;
  struct ribbon_shape ribbon;
  struct fuse_shape fuse;
  struct dcso_shape dcso;
  struct planned_shape planned;
  struct double_hashing_shape double_hashing;
  struct hudi_shape hudi;
};

#endif
