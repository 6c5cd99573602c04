/* Describes the types of columns: the meaning, the storage and the order of their values.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_TYPE_H
#define LANEBLOOM_PARQUET_TYPE_H

#include "thrift.h"

/* The ways in which values are stored. The numbers are the ones that the Parquet format defines. */
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

/* The order of values, without which bounds have no meaning. */
enum value_order {
  ORDER_NONE,     /* unknown, so bounds cannot be used */
  ORDER_SIGNED,   /* integers */
  ORDER_UNSIGNED, /* integers */
  ORDER_FLOAT,
  ORDER_BYTES,     /* by unsigned bytes; a prefix of a value comes before the value */
  ORDER_BIG_ENDIAN /* signed integers of a fixed size, high byte first */
};

enum { TYPE_TEXT_NBYTES = 32 };

struct column_type {
  enum physical physical;
  enum value_order order;
  uint32_t value_nbytes; /* the size of each value as it is stored; 0 for any size */

  bool has_keys; /* if false, the column cannot be screened, and the next members are 0 */
  lanebloom_encoding encoding;
  uint32_t key_nbytes;      /* 0 for any size */
  uint32_t nbits;           /* INT32 and UINT32: numbers have at most 8, 16 or 32 bits */
  uint32_t precision;       /* DECIMAL128 */
  int32_t scale;            /* DECIMAL128 */
  int32_t units_per_second; /* INT32 and INT64: for times of day; 0 for plain numbers */

  char text[TYPE_TEXT_NBYTES]; /* a name of the type for messages */
};

/* The fields of an element of the schema that describe the type of its values. */
struct type_source {
  bool has_physical;
  int32_t physical, length; /* length: the size of values of PHYSICAL_FIXED */
  bool has_converted;
  int32_t converted; /* the older annotation */
  int32_t scale, precision;

  int32_t logical; /* the newer annotation: the number of a member of LogicalType; 0 if none */
  int32_t logical_unit, logical_nbits;
  bool logical_is_signed;
  int32_t logical_scale, logical_precision;
};

/* Reads a field of the type LogicalType into the members logical*. */
void lanebloom_type_read_logical(struct thrift *thrift, struct thrift_field field,
                                 struct type_source *source);

/* Makes the type of a column. If the annotation is unknown or does not fit the physical type, the
 * column has no keys, so it cannot be screened. source->physical must be a number below
 * NPHYSICAL. */
struct column_type lanebloom_type_make(const struct type_source *source);

/* Checks whether values of both types are stored alike, so that keys that were prepared for a
 * column of one type can be used for a column of the other type. */
bool lanebloom_type_same_keys(const struct column_type *a, const struct column_type *b);

/* ---- Values, as they are stored ---- */

/* Returns the ordinal of a value, a number by which values can be compared quickly. If A's ordinal
 * is below B's ordinal, then A is below B. If the ordinals of two numeric values of up to 8 bytes
 * are equal, the values are equal. -0 equals 0, and NaN is above all other values. */
uint64_t lanebloom_value_ordinal(const struct column_type *type, lanebloom_slice value);
#define ORDINAL_NAN UINT64_MAX

/* Compares two values: returns a number below 0, 0, or a number above 0. */
int lanebloom_value_compare(const struct column_type *type, lanebloom_slice a, lanebloom_slice b);

#endif
