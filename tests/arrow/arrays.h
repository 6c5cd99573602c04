/* Makes Arrow arrays of every type that can hold keys, and the keys that their rows must yield.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ARROW_ARRAYS_H
#define LANEBLOOM_TESTS_ARROW_ARRAYS_H

#include <criterion/criterion.h>

#include <lanebloom_arrow.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Types ---- */

enum kind { SIGNED, UNSIGNED, FIXED_BYTES, STRINGS32, STRINGS64, STRING_VIEWS };

struct array_type {
  const char *format;
  enum kind kind;
  size_t width, key_nbytes; /* in the array, and of the key; 0 for strings */
  lanebloom_encoding encoding;
  bool is_text, is_uuid;
};

enum { NARRAY_TYPES = 47, NINDEX_TYPES = 8 };
extern const struct array_type array_types[NARRAY_TYPES];

/* Returns the type with this format. */
const struct array_type *array_type_of(const char *format);

/* ---- Arrays ---- */

/* A description of an array to make. */
struct array_plan {
  const struct array_type *type;
  const struct array_type *index_type; /* the type of a dictionary's indices; NULL: no dictionary */
  size_t n, nvalues;                   /* numbers of rows, and of a dictionary's values */
  uint64_t rows_null_of, values_null_of; /* one row or value in this many is null; 0: none */
  bool has_slices;                       /* do arrays begin after other rows? */
};

struct array_key {
  size_t at, size; /* in the column's `bytes` */
  bool is_null;
};

enum { MAX_NBUFFERS = 8 };

/* A column and its buffers. Each buffer is allocated by itself, without spare room. */
struct array_column {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const void *buffers[MAX_NBUFFERS];
  struct array_key *keys; /* one for each row */
  uint8_t *bytes;         /* the bytes of all keys */
  size_t nbytes;
};

/* Rows have the keys of `rows`. In a dictionary they have the keys of `values` that `indices`
 * select. */
struct sample {
  struct array_column rows, values;
  bool has_dictionary;
  uint64_t *indices;
  lanebloom_slice *expected; /* the key of each row; its data is NULL if the row is */
};

/* Fills in `sample`, which holds pointers to itself and so must not be moved. */
void sample_make(const struct array_plan *plan, struct rng *rng, struct sample *sample);

/* Draws a plan. Most arrays are small. */
struct array_plan random_array_plan(struct rng *rng);
void sample_free(struct sample *sample);

/* Returns metadata of two pairs, the second of which names this extension type. For free(). */
char *extension_metadata(const char *name);

/* The release callbacks of the tests' arrays and schemas, which are never called. */
void release_no_array(struct ArrowArray *array);
void release_no_schema(struct ArrowSchema *schema);

#endif
