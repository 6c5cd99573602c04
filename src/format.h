/* The format table: everything that one filter format needs beyond kernels.
 * One of the two seams; the other is kernels.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMAT_H
#define LANEBLOOM_FORMAT_H

#include "kernels.h"

struct format_table {
  lanebloom_format id;
  const char *name;
  const char *text;    /* one line for people: who writes such filters */
  uint64_t max_nbytes; /* that the engine can read, frame included */

  /* The frame: how many of the engine's bytes stand before the payload, and how many behind it. */
  size_t header_nbytes, trailer_nbytes;

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

  uint32_t min_nprobes, max_nprobes; /* that readers do; writers may make fewer */

  /* Payloads of filters that are built are a multiple of so many bytes: their lines, or 1. */
  uint32_t line_nbytes;

  /* The shape of a payload, in lines of line_nbytes or of another size that readers take. */
  struct filter_shape (*shape)(uint64_t nbytes, uint32_t line_nbytes, uint32_t nprobes);

  /* Bits per key, in thousandths: the least that may be asked for, the most that have an effect,
   * and the step in between. Does the engine round what else is asked for, or is that ARGUMENT? */
  uint64_t min_millibits, max_millibits, step_millibits;
  bool rounds_bits;

  /* The bits per key in effect when bits_per_key are asked for: as the engine's writer rounds and
   * limits them. Errors: ARGUMENT. */
  lanebloom_status (*round_bits)(double bits_per_key, uint64_t *millibits);

  /* What the engine's writer would make of nkeys keys. millibits: as round_bits makes them. Errors:
   * LIMIT. */
  lanebloom_status (*plan)(uint64_t millibits, uint64_t nkeys, struct filter_shape *shape);

  /* How much memory besides the payload lanes can use to add nkeys keys. NULL: none. */
  size_t (*scratch_nbytes)(const struct filter_shape *shape, size_t nkeys);

  /* The least bits per key whose model rate for nkeys keys is at most `rate`: by the engine's own
   * rule, or by lanebloom_search_bits. Errors: LIMIT. */
  lanebloom_status (*bits_for_rate)(const struct format_table *format, double rate, uint64_t nkeys,
                                    uint64_t *millibits);

  /* For lanebloom_search_bits: the most bits per key up to which all from millibits on have the
   * same number of probes. It may lie beyond max_millibits. */
  uint64_t (*last_with_same_nprobes)(uint64_t millibits);

  /* Writes the frame into the bytes of a filter, whose payload is there. NULL: there is none. */
  void (*write_frame)(const struct filter_shape *shape, uint8_t *bytes);

  /* The model's false-positive rate: of a filter to be built of nkeys distinct keys, and of one
   * with these bits set. */
  double (*planned_rate)(const struct filter_shape *shape, uint64_t nkeys);
  double (*filled_rate)(const struct filter_shape *shape, uint64_t nbits_set, uint64_t nkeys);
};

extern const struct format_table lanebloom_format_leveldb, lanebloom_format_leveldb_signed;
extern const struct format_table lanebloom_format_rocksdb, lanebloom_format_rocksdb_legacy,
    lanebloom_format_rocksdb_local;

/* How many bytes a filter of this shape has, frame included. */
static inline uint64_t format_nbytes(const struct format_table *format,
                                     const struct filter_shape *shape)
{
  return format->header_nbytes + shape->nbytes + format->trailer_nbytes;
}

/* The one list of formats (format.c): the i-th, NULL past the last. */
const struct format_table *lanebloom_format_listed(size_t i);

/* The table of a format, NULL where this build has none. */
const struct format_table *lanebloom_format_table(lanebloom_format id);

/* The same for calls that return a status. Errors: FORMAT; KERNEL when there are no kernels to
 * use. */
lanebloom_status lanebloom_format_find(lanebloom_format id, const struct format_table **format);

/* The same for calls that plan or build, which a format that only opens is not for. */
lanebloom_status lanebloom_format_find_to_build(lanebloom_format id,
                                                const struct format_table **format);

/* ---- Equations that formats share (plan.c) ---- */

/* format_table.bits_for_rate for formats whose rate falls with more bits, while the number of
 * probes stays the same. */
lanebloom_status lanebloom_search_bits(const struct format_table *format, double rate,
                                       uint64_t nkeys, uint64_t *millibits);

/* 0.69 probes per bit, 1 to 30: of LevelDB and RocksDB's legacy format. */
enum { MAX_NPROBES_BY_BITS = 30 };
uint32_t lanebloom_nprobes_by_bits(uint64_t bits_per_key);
uint64_t lanebloom_last_with_same_nprobes_by_bits(uint64_t millibits);

uint64_t lanebloom_estimate_nkeys(const struct filter_shape *shape, uint64_t nbits_set,
                                  unsigned hash_nbits);
double lanebloom_rate_filled(double fill, unsigned nprobes);
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys);
double lanebloom_rate_collision(double nkeys, int hash_nbits);
double lanebloom_rate_either(double a, double b);

#endif
