/* The format table: everything that a filter format needs besides kernels. This is one of the two
 * seams; the other is kernels.h. Tables are constant, and their functions have no state: any thread
 * may call them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMAT_H
#define LANEBLOOM_FORMAT_H

#include "kernels.h"

struct format_table {
  lanebloom_format id;
  const char *name;
  const char *text;    /* one line for people: who writes these filters */
  uint64_t max_nbytes; /* the largest filter that the engine can read, including its frame */

  /* The frame: bytes before the payload, and bytes after it. */
  size_t header_nbytes, trailer_nbytes;

  bool drops_equal_neighbours; /* the engine counts a run of equal hashes once */

  /* ---- Opening ---- */

  /* Returns the table of the format that the bytes have. The member is NULL if the bytes do not
   * identify their format. */
  const struct format_table *(*recognise)(const uint8_t *bytes, size_t size);

  /* Finds the shape of at most max_nbytes bytes, as the engine's reader does. Damaged bytes have a
   * shape, too. Errors: FORMAT. */
  lanebloom_status (*parse)(const uint8_t *bytes, size_t size, struct filter_shape *shape);

  /* ---- Probing. In a format that recognises others, all members are 0 or NULL. ---- */

  enum hash hash;
  enum layout layout;

  /* Returns the false-positive rate, from 0 to 1, that the model gives for a filter with nbits_set
   * bits set. nkeys may be LANEBLOOM_UNKNOWN. */
  double (*filled_rate)(const struct filter_shape *shape, uint64_t nbits_set, uint64_t nkeys);

  /* ---- Building. In a format that only opens filters, all members are 0 or NULL. ---- */

  /* Writes the nprobes bit positions of one hash in the payload, by the format's definition. */
  void (*positions)(const struct filter_shape *shape, const void *hash, uint64_t *positions);

  uint32_t min_nprobes, max_nprobes; /* that readers accept; writers may use a smaller range */

  /* Payloads are built in multiples of this: the size of a line, or 1. */
  uint32_t line_nbytes;

  /* Makes the shape of a payload. line_nbytes: the value above, or another size that readers
   * accept. */
  struct filter_shape (*shape)(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes);

  /* Thousandths of bits per key: the least value that is accepted, the highest that has an effect,
   * and the step between values. rounds_bits: other values are rounded; without it they are an
   * error, ARGUMENT. */
  uint64_t min_millibits, max_millibits, step_millibits;
  bool rounds_bits;

  /* Rounds and limits the requested bits per key as the engine's writer does. Errors: ARGUMENT. */
  lanebloom_status (*round_bits)(double bits_per_key, uint64_t *millibits);

  /* Finds the shape that the engine's writer gives a filter of nkeys keys. millibits: from
   * round_bits. Errors: LIMIT. */
  lanebloom_status (*plan)(uint64_t millibits, uint64_t nkeys, struct filter_shape *shape);

  /* Finds the least bits per key whose planned_rate for nkeys keys is at most `rate`, by the
   * engine's own rule or by lanebloom_search_bits. Errors: LIMIT. */
  lanebloom_status (*bits_for_rate)(const struct format_table *format, double rate, uint64_t nkeys,
                                    uint64_t *millibits);

  /* For lanebloom_search_bits: returns the largest value such that all values from millibits up to
   * it have the same number of probes, for nkeys keys. It may exceed max_millibits. */
  uint64_t (*last_with_same_nprobes)(uint64_t millibits, uint64_t nkeys);

  /* Writes the frame around a payload. bytes: the whole filter. It is NULL if the format has no
   * frame. */
  void (*write_frame)(const struct filter_shape *shape, uint8_t *bytes);

  /* Returns the false-positive rate, from 0 to 1, that the model gives for a filter that will be
   * built from nkeys distinct keys. */
  double (*planned_rate)(const struct filter_shape *shape, uint64_t nkeys);
};

extern const struct format_table lanebloom_format_leveldb, lanebloom_format_leveldb_signed;
extern const struct format_table lanebloom_format_rocksdb, lanebloom_format_rocksdb_legacy,
    lanebloom_format_rocksdb_local, lanebloom_format_rocksdb_ribbon;
extern const struct format_table lanebloom_format_parquet;
extern const struct format_table lanebloom_format_spark_v1, lanebloom_format_spark_v2;

/* Returns the size of a filter of this shape, in bytes, including its frame. */
static inline uint64_t format_nbytes(const struct format_table *format,
                                     const struct filter_shape *shape)
{
  return format->header_nbytes + shape->nbytes + format->trailer_nbytes;
}

/* Returns table i of the one list of formats (format.c); NULL past the last. */
const struct format_table *lanebloom_format_listed(size_t i);

/* Returns the table of a format; NULL if there is no such format. */
const struct format_table *lanebloom_format_table(lanebloom_format id);

/* Finds the table of a format, for calls that return a status. Errors: FORMAT: no such format;
 * KERNEL: no kernels are active. */
lanebloom_status lanebloom_format_find(lanebloom_format id, const struct format_table **format);

/* Finds the table of a format, for calls that plan or build. Errors: FORMAT: no such format, or it
 * only opens filters; KERNEL: no kernels are active. */
lanebloom_status lanebloom_format_find_to_build(lanebloom_format id,
                                                const struct format_table **format);

/* ---- Equations that formats share (plan.c) ---- */

/* format_table.bits_for_rate for formats whose rate falls when bits per key rise and the number of
 * probes stays the same. */
lanebloom_status lanebloom_search_bits(const struct format_table *format, double rate,
                                       uint64_t nkeys, uint64_t *millibits);

/* lanebloom_nprobes_by_bits returns 0.69 probes per bit, from 1 to 30, as in LevelDB and in
 * RocksDB's legacy format. The other function is format_table.last_with_same_nprobes for both. */
enum { MAX_NPROBES_BY_BITS = 30 };
uint32_t lanebloom_nprobes_by_bits(uint64_t bits_per_key);
uint64_t lanebloom_last_with_same_nprobes_by_bits(uint64_t millibits, uint64_t nkeys);

/* Estimates the number of distinct keys; LANEBLOOM_UNKNOWN if there is no estimate. */
uint64_t lanebloom_estimate_nkeys(const struct filter_shape *shape, uint64_t nbits_set,
                                  unsigned hash_nbits);

/* Return false-positive rates, from 0 to 1: of a filter with this share of bits set, of a filter of
 * nkeys keys, of equal hashes, and of two independent causes together. */
double lanebloom_rate_filled(double fill, unsigned nprobes);
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys);
double lanebloom_rate_collision(double nkeys, int hash_nbits);
double lanebloom_rate_either(double a, double b);

#endif
