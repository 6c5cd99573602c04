/* The format table has everything that a filter format needs besides kernels. The library reaches
 * filter formats by these tables, and instruction sets by the kernel tables of kernels.h. Tables
 * are constant and their functions have no state, so any thread may call them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMAT_H
#define LANEBLOOM_FORMAT_H

#include "common/bytes.h"
#include "common/memory.h"
#include "common/problem.h"
#include "kernels.h"

struct format_table {
  lanebloom_format id;
  const char *name;
  const char *text;    /* one line for users that says who writes these filters */
  uint64_t max_nbytes; /* the largest filter that the engine can read, including its frame */

  /* The frame: the number of bytes before the payload, and after it. */
  size_t header_nbytes, trailer_nbytes;

  /* if true, any bytes may follow the payload: data of the user, which are no part of a built
   * filter, and which merging preserves */
  bool has_attachment;

  /* If the header counts the keys that set a bit when they were added, the offset of this count, a
   * little-endian number of 8 bytes; otherwise 0. */
  size_t count_offset;

  /* if true, the engine counts a run of equal hashes only once when it chooses the size */
  bool drops_equal_neighbours;

  /* ---- The differences between formats that share functions. A function below gets the table that
   * it is in as `format`. Members that the functions of a format do not use are 0. ---- */

  /* the number in the header that tells the format from its relatives */
  uint32_t version;

  /* how many bits of a hash the probes depend on, or 0 if there are so many that an absent key does
   * not pass because of an equal hash */
  int hash_nbits;

  /* bits of the payload from 2^probe_nbits on are never probed */
  unsigned probe_nbits;

  struct double_hashing_shape double_hashing;

  /* ---- Opening ---- */

  /* Returns the table of the format that the bytes have. Only a table that stands for several
   * formats has this function; in all other tables the member is NULL. */
  const struct format_table *(*recognise)(const uint8_t *bytes, size_t size);

  /* Finds the shape of a filter of at most max_nbytes bytes, by the rules of the engine's reader.
   * The engine accepts some damaged bytes, so they have a shape, too. Errors: FORMAT, LIMIT;
   * CORRUPT if another process changed the bytes meanwhile. */
  lanebloom_status (*parse)(const struct format_table *format, const uint8_t *bytes, size_t size,
                            struct filter_shape *shape, const struct problem *problem);

  /* Decodes a filter that is written as text. If the bytes are such a text, *decoded gets the bytes
   * of the filter, and *nbytes their number; otherwise decoded->bytes becomes NULL. The member is
   * NULL if the format has no text. Errors: FORMAT, MEMORY. */
  lanebloom_status (*decode)(const uint8_t *bytes, size_t size, struct memory *decoded,
                             size_t *nbytes, const struct problem *problem);

  /* ---- Probing. In a table with `recognise`, all these members are 0 or NULL. ---- */

  enum hash hash;
  enum layout layout;

  /* Returns the false-positive rate, from 0 to 1, that the model gives for a filter with nbits_set
   * bits set. nkeys may be LANEBLOOM_UNKNOWN. */
  double (*filled_rate)(const struct format_table *format, const struct filter_shape *shape,
                        uint64_t nbits_set, uint64_t nkeys);

  /* Returns the number of set bits, and computes the same rate as filled_rate. Only a format whose
   * bits are not the first bits of the payload has this function; in all other tables the member is
   * NULL. */
  uint64_t (*count)(const struct filter_shape *shape, const uint8_t *payload, double *rate);

  /* ---- Building. If the format only opens filters, all these members are 0 or NULL. ---- */

  /* Writes the positions of the nprobes bits that a hash probes in the payload, by the format's
   * definition. */
  void (*positions)(const struct filter_shape *shape, const void *hash, uint64_t *positions);

  /* the range that readers accept; writers may use a smaller one */
  uint32_t min_nprobes, max_nprobes;

  /* The size of a built payload is a multiple of this: the size of a line, or 1. */
  uint32_t line_nbytes;

  /* Makes the shape of a payload of nbytes bytes. line_nbytes is the member above, or another size
   * of a line that readers accept. */
  struct filter_shape (*shape)(const struct format_table *format, uint64_t nbytes,
                               uint32_t line_nbytes, uint32_t nprobes);

  /* Bits per key, in thousandths: the least value that is accepted, the highest value that has an
   * effect, and the step between values. If rounds_bits is set, other values are rounded; otherwise
   * they are an error, ARGUMENT. */
  uint64_t min_millibits, max_millibits, step_millibits;
  bool rounds_bits;

  /* Rounds and limits the requested bits per key as the engine's writer does. Errors: ARGUMENT. */
  lanebloom_status (*round_bits)(const struct format_table *format, double bits_per_key,
                                 uint64_t *millibits);

  /* Finds the shape that the engine's writer gives a filter of nkeys keys. millibits must come from
   * round_bits. Errors: LIMIT. */
  lanebloom_status (*plan)(const struct format_table *format, uint64_t millibits, uint64_t nkeys,
                           struct filter_shape *shape);

  /* Finds the least bits per key for which planned_rate, with nkeys keys, is at most `rate`. The
   * function uses the engine's own rule if the engine has one, and lanebloom_search_bits otherwise.
   * Errors: LIMIT. */
  lanebloom_status (*bits_for_rate)(const struct format_table *format, double rate, uint64_t nkeys,
                                    uint64_t *millibits);

  /* Finds the shape that the engine's writer gives a filter of nkeys keys for a false-positive rate
   * between 0 and 1, both excluded. The member is NULL if the writer takes bits per key and no
   * rate. Errors: LIMIT. */
  lanebloom_status (*plan_for_rate)(const struct format_table *format, double rate, uint64_t nkeys,
                                    struct filter_shape *shape);

  /* lanebloom_search_bits calls this. Returns the largest value v such that all values from
   * millibits to v have the same number of probes for nkeys keys. The result may exceed
   * max_millibits. */
  uint64_t (*last_with_same_nprobes)(uint64_t millibits, uint64_t nkeys);

  /* Writes the frame around a payload, except the count at count_offset. `bytes` is the whole
   * filter. The member is NULL if the format has no frame. */
  void (*write_frame)(const struct format_table *format, const struct filter_shape *shape,
                      uint8_t *bytes);

  /* Returns the false-positive rate, from 0 to 1, that the model gives for a filter that will be
   * built from nkeys distinct keys. */
  double (*planned_rate)(const struct format_table *format, const struct filter_shape *shape,
                         uint64_t nkeys);
};

extern const struct format_table lanebloom_format_leveldb, lanebloom_format_leveldb_signed;
extern const struct format_table lanebloom_format_rocksdb, lanebloom_format_rocksdb_legacy,
    lanebloom_format_rocksdb_local, lanebloom_format_rocksdb_ribbon;
extern const struct format_table lanebloom_format_parquet;
extern const struct format_table lanebloom_format_pebble_binaryfuse;
extern const struct format_table lanebloom_format_dcso, lanebloom_format_dcso_signed;
extern const struct format_table lanebloom_format_spark_v1, lanebloom_format_spark_v2;
extern const struct format_table lanebloom_format_guava_32, lanebloom_format_guava_64,
    lanebloom_format_guava;
extern const struct format_table lanebloom_format_cassandra, lanebloom_format_cassandra_3,
    lanebloom_format_cassandra_2;
extern const struct format_table lanebloom_format_hudi;

/* Returns the size of a filter of this shape, in bytes, including its frame. */
static inline uint64_t format_nbytes(const struct format_table *format,
                                     const struct filter_shape *shape)
{
  return format->header_nbytes + shape->nbytes + format->trailer_nbytes;
}

/* Adds two numbers of keys. If one of them is unknown, or if the sum overflows, the sum is
 * unknown. */
static inline uint64_t add_counts(uint64_t a, uint64_t b)
{
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? LANEBLOOM_UNKNOWN : sum;
}

/* Adds n to the count of keys in the header, if the format has one. `bytes` is a whole filter. */
static inline void format_count(const struct format_table *format, uint8_t *bytes, uint64_t n)
{
  if (format->count_offset > 0)
    store_le64(bytes + format->count_offset,
               add_counts(load_le64(bytes + format->count_offset), n));
}

/* Returns table i of the list of all formats (format.c), or NULL if i is past the last. */
const struct format_table *lanebloom_format_listed(size_t i);

/* Returns the table of a format, or NULL if there is no such format. */
const struct format_table *lanebloom_format_table(lanebloom_format id);

/* Finds the table of a format, for calls that return a status. Errors: FORMAT if there is no such
 * format; KERNEL if no kernels are active. */
lanebloom_status lanebloom_format_find(lanebloom_format id, const struct format_table **format);

/* Finds the table of a format, for calls that plan or build. Errors: FORMAT if there is no such
 * format, or if lanebloom can only open its filters; KERNEL if no kernels are active. */
lanebloom_status lanebloom_format_find_to_build(lanebloom_format id,
                                                const struct format_table **format);

/* Writes why lanebloom_format_find() returned this status for a number. */
lanebloom_status lanebloom_format_problem(const struct problem *problem, lanebloom_status status,
                                          lanebloom_format id);

/* Checks that the format can hold a filter of this size. Errors: LIMIT. */
lanebloom_status lanebloom_format_check_size(const struct format_table *format, uint64_t nbytes,
                                             const struct problem *problem);

/* Finds the shape of a filter of nkeys keys with at most this false-positive rate, which must be
 * between 0 and 1, both excluded, and its bits per key: by plan_for_rate, or by bits_for_rate and
 * plan (plan.c). Errors: LIMIT. */
lanebloom_status lanebloom_format_plan_for_rate(const struct format_table *format, double rate,
                                                uint64_t nkeys, struct filter_shape *shape,
                                                uint64_t *millibits);

/* ---- Equations that formats share (plan.c) ---- */

/* Serves as format_table.round_bits for formats that accept any bits per key from the minimum on:
 * limits and rounds them to the format's step. */
lanebloom_status lanebloom_round_bits(const struct format_table *format, double bits_per_key,
                                      uint64_t *millibits);

/* Serves as format_table.bits_for_rate for formats that have plan_for_rate. Returns the bits per
 * key of the planned shape, rounded up. */
lanebloom_status lanebloom_bits_of_plan(const struct format_table *format, double rate,
                                        uint64_t nkeys, uint64_t *millibits);

/* Serves as format_table.bits_for_rate for formats whose rate falls when the bits per key rise and
 * the number of probes stays the same. */
lanebloom_status lanebloom_search_bits(const struct format_table *format, double rate,
                                       uint64_t nkeys, uint64_t *millibits);

/* lanebloom_nprobes_by_bits returns 0.69 probes per bit, at least 1 and at most 30, as LevelDB and
 * RocksDB's legacy format do. lanebloom_last_with_same_nprobes_by_bits serves as
 * format_table.last_with_same_nprobes of these formats. */
enum { MAX_NPROBES_BY_BITS = 30 };
uint32_t lanebloom_nprobes_by_bits(uint64_t bits_per_key);
uint64_t lanebloom_last_with_same_nprobes_by_bits(uint64_t millibits, uint64_t nkeys);

/* Estimates the number of distinct keys. Returns LANEBLOOM_UNKNOWN if the set bits allow no
 * estimate, for example if all bits are set. */
uint64_t lanebloom_estimate_nkeys(const struct filter_shape *shape, uint64_t nbits_set,
                                  unsigned hash_nbits);

/* Serve as planned_rate and filled_rate in format_table for formats whose probes may be anywhere in
 * the payload. */
double lanebloom_spread_planned_rate(const struct format_table *format,
                                     const struct filter_shape *shape, uint64_t nkeys);
double lanebloom_spread_filled_rate(const struct format_table *format,
                                    const struct filter_shape *shape, uint64_t nbits_set,
                                    uint64_t nkeys);

/* These functions return false-positive rates, from 0 to 1:
 *
 *   lanebloom_rate_filled      the rate of a filter in which the share `fill` of the bits is set
 *   lanebloom_rate_planned     the rate of a filter of nkeys keys
 *   lanebloom_rate_collision   the rate at which absent keys pass because of equal hashes
 *   lanebloom_rate_either      the rate of two independent causes that have the rates a and b */
double lanebloom_rate_filled(double fill, unsigned nprobes);
double lanebloom_rate_planned(double nbits, unsigned nprobes, double nkeys);
double lanebloom_rate_collision(double nkeys, int hash_nbits);
double lanebloom_rate_either(double a, double b);

#endif
