/* The format table: everything that one filter format needs beyond kernels.
 * One of the two seams; the other is kernels.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMAT_H
#define LANEBLOOM_FORMAT_H

#include "kernels.h"

struct format_table {
  lanebloom_format id;
  const char *name;
  size_t trailer_nbytes;
  uint64_t max_nbytes;         /* that the engine can read, trailer included */
  bool drops_equal_neighbours; /* does the engine count equal hashes in a row once? */

  /* Opening. */

  /* Where bytes say themselves which format they have: that one's table. NULL where they do not. */
  const struct format_table *(*recognise)(const uint8_t *bytes, size_t size);

  /* What the engine's reader makes of these bytes, at most max_nbytes, damaged ones included.
   * Errors: FORMAT. */
  lanebloom_status (*parse)(const uint8_t *bytes, size_t size, struct filter_shape *shape);

  /* The rest is 0 and NULL in a format that only opens. */

  enum hash hash;
  enum layout layout;

  /* The nprobes bit positions of one hash, by definition. */
  void (*positions)(const struct filter_shape *shape, const void *hash, uint64_t *positions);

  /* The bits per key in effect, in thousandths, when bits_per_key are asked for: rounded as the
   * engine's writer rounds them, and no more than it uses. Errors: ARGUMENT. */
  lanebloom_status (*round_bits)(double bits_per_key, uint64_t *millibits);

  /* What the engine's writer would make of nkeys keys. millibits: as round_bits makes them. Errors:
   * LIMIT. */
  lanebloom_status (*plan)(uint64_t millibits, uint64_t nkeys, struct filter_shape *shape);

  /* How much memory besides the payload lanes can use to add nkeys keys. NULL: none. */
  size_t (*scratch_nbytes)(const struct filter_shape *shape, size_t nkeys);

  /* The i-th least candidate for bits_per_key; false past the last. Rates are not monotone:
   * planning tries each. */
  bool (*bits_candidate)(uint64_t i, double *bits_per_key);

  /* The trailer that the engine's writer puts behind the payload: trailer_nbytes. */
  void (*write_trailer)(const struct filter_shape *shape, uint8_t *trailer);

  /* The model's false-positive rate: of a filter to be built of nkeys distinct keys, and of one
   * with these bits set. */
  double (*planned_rate)(const struct filter_shape *shape, uint64_t nkeys);
  double (*filled_rate)(const struct filter_shape *shape, uint64_t nbits_set, uint64_t nkeys);
};

extern const struct format_table lanebloom_format_leveldb, lanebloom_format_leveldb_signed;
extern const struct format_table lanebloom_format_rocksdb, lanebloom_format_rocksdb_legacy,
    lanebloom_format_rocksdb_local;

enum { FORMAT_END = LANEBLOOM_LEVELDB_SIGNED + 1 }; /* one past the highest lanebloom_format */

/* The one list of formats (format.c): the table of a format, NULL where this build has none. */
const struct format_table *lanebloom_format_table(lanebloom_format id);

/* The same for calls that return a status. Errors: FORMAT; KERNEL when there are no kernels to
 * use. */
lanebloom_status lanebloom_format_find(lanebloom_format id, const struct format_table **format);

/* The same for calls that plan or build, which a format that only opens is not for. */
lanebloom_status lanebloom_format_find_to_build(lanebloom_format id,
                                                const struct format_table **format);

/* ---- Equations that formats share (plan.c) ---- */

double lanebloom_rate_filled(double fill, unsigned nprobes);
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys);
double lanebloom_rate_collision(double nkeys, int hash_nbits);
double lanebloom_rate_either(double a, double b);

#endif
