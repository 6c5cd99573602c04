/* The types of columns: the meaning, the storage and the order of their values.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_TYPE_H
#define LANEBLOOM_PARQUET_TYPE_H

#include "thrift.h"

/* The storage of values, by the numbers of the format. */
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

/* The order of values, which gives their bounds a meaning. */
enum value_order {
  ORDER_NONE,     /* unknown: bounds cannot be used */
  ORDER_SIGNED,   /* integers */
  ORDER_UNSIGNED, /* integers */
  ORDER_FLOAT,
  ORDER_BYTES,     /* by unsigned bytes; a prefix comes first */
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
  uint32_t nbits;           /* INT32 and UINT32: bits of the numbers that are allowed: 8, 16, 32 */
  uint32_t precision;       /* DECIMAL128 */
  int32_t scale;            /* DECIMAL128 */
  int32_t units_per_second; /* INT32 and INT64: values are times of day in such units; 0: numbers */

  char text[TYPE_TEXT_NBYTES]; /* for people */
};

/* The fields of a schema's element that describe the type of its values. */
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

/* Makes the type. If the annotation is unknown or does not fit the physical type, the column has no
 * keys. The physical type must be one of the format's. */
struct column_type lanebloom_type_make(const struct type_source *source);

/* Are values of both types stored alike, so that keys for one are keys for the other? */
bool lanebloom_type_same_keys(const struct column_type *a, const struct column_type *b);

/* ---- Values, as they are stored ---- */

/* Returns a number that orders values: if a value's number is below another's, so is the value.
 * Numeric values of up to 8 bytes are equal if their numbers are; -0 equals 0, and NaN is the
 * largest of all. */
uint64_t lanebloom_value_ordinal(const struct column_type *type, lanebloom_slice value);
#define ORDINAL_NAN UINT64_MAX

/* Compares two values: returns a number below 0, 0, or a number above 0. */
int lanebloom_value_compare(const struct column_type *type, lanebloom_slice a, lanebloom_slice b);

#endif
