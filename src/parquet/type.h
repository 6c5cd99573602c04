/* The types of columns: what their values are, how they are stored and in which order they stand.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_TYPE_H
#define LANEBLOOM_PARQUET_TYPE_H

#include "thrift.h"

/* How values are stored: the numbers of the format. */
enum physical {
  PHYSICAL_BOOLEAN,
  PHYSICAL_INT32,
  PHYSICAL_INT64,
  PHYSICAL_INT96,
  PHYSICAL_FLOAT,
  PHYSICAL_DOUBLE,
  PHYSICAL_BYTES,
  PHYSICAL_FIXED,
  NPHYSICAL
};

/* In which order values stand, and so what their bounds mean. */
enum value_order {
  ORDER_NONE,     /* an unknown one: bounds say nothing */
  ORDER_SIGNED,   /* integers */
  ORDER_UNSIGNED, /* integers */
  ORDER_FLOAT,
  ORDER_BYTES,     /* by unsigned bytes; a prefix first */
  ORDER_BIG_ENDIAN /* signed integers of a fixed size, their first byte the highest */
};

enum { TYPE_TEXT_NBYTES = 32 };

struct column_type {
  enum physical physical;
  enum value_order order;
  uint32_t value_nbytes; /* of each value as it is stored; 0: any number */

  bool has_keys; /* and if so: */
  lanebloom_encoding encoding;
  uint32_t key_nbytes;      /* 0: any number */
  uint32_t nbits;           /* INT32 and UINT32: of the numbers that are allowed: 8, 16 or 32 */
  uint32_t precision;       /* DECIMAL128 */
  int32_t scale;            /* DECIMAL128 */
  int32_t units_per_second; /* INT32 and INT64: values are times of day in such units; 0: numbers */

  char text[TYPE_TEXT_NBYTES]; /* for people */
};

/* What an element of the schema says about the type of its values. */
struct type_source {
  bool has_physical;
  int32_t physical, length; /* length: of PHYSICAL_FIXED */
  bool has_converted;
  int32_t converted; /* the older annotation */
  int32_t scale, precision;

  int32_t logical; /* the newer annotation: a member of the union LogicalType; 0: none */
  int32_t logical_unit, logical_nbits;
  bool logical_is_signed;
  int32_t logical_scale, logical_precision;
};

/* Reads a field of the type LogicalType. */
void lanebloom_type_read_logical(struct thrift *thrift, struct thrift_field field,
                                 struct type_source *source);

/* What it amounts to. An annotation that does not fit the physical type, or is unknown, leaves a
 * column without keys. The physical type must be one of the format's. */
struct column_type lanebloom_type_make(const struct type_source *source);

/* Are values of both types stored alike, so that keys for one are keys for the other? */
bool lanebloom_type_same_keys(const struct column_type *a, const struct column_type *b);

/* ---- Values, as they are stored ---- */

/* A number that orders values: if it is below another's, so is the value. Values of numbers up to 8
 * bytes are equal if theirs are; -0 equals 0, and NaN is the largest of all. */
uint64_t lanebloom_value_ordinal(const struct column_type *type, lanebloom_slice value);
#define ORDINAL_NAN UINT64_MAX

/* Below 0, 0 or above 0: the order of two values. */
int lanebloom_value_compare(const struct column_type *type, lanebloom_slice a, lanebloom_slice b);

#endif
