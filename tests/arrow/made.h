/* Arrow arrays of every type that has keys, made with the keys that their rows must be.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ARROW_MADE_H
#define LANEBLOOM_TESTS_ARROW_MADE_H

#include <criterion/criterion.h>

#include <lanebloom_arrow.h>

#include "../support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Types ---- */

enum kind { SIGNED, UNSIGNED, FIXED_BYTES, STRINGS32, STRINGS64, STRING_VIEWS };

struct made_type {
  const char *format;
  enum kind kind;
  size_t width, key_nbytes; /* in the array, and of the key; of strings 0 */
  lanebloom_encoding encoding;
  bool is_text, is_uuid;
};

enum { MADE_NTYPES = 47, MADE_NINDEX_TYPES = 8 };
extern const struct made_type made_types[MADE_NTYPES];

/* The type of this format. */
const struct made_type *made_type_of(const char *format);

/* ---- Arrays ---- */

/* What an array is to be. */
struct made_plan {
  const struct made_type *type;
  const struct made_type *index_type;    /* of a dictionary; NULL: none */
  size_t n, nvalues;                     /* rows; values of a dictionary */
  uint64_t rows_null_of, values_null_of; /* one in so many is null; 0: none */
  bool has_slices;                       /* do arrays begin after rows of others? */
};

struct made_key {
  size_t at, size; /* bytes of struct made */
  bool is_null;
};

enum { MADE_NBUFFERS = 8 };

/* A column and its buffers, each of which is its own block of memory without room to spare. */
struct made_column {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const void *buffers[MADE_NBUFFERS];
  struct made_key *keys; /* of the rows */
  uint8_t *bytes;        /* of the keys */
  size_t nbytes;
};

/* The keys of rows are those of `rows` or, in a dictionary, of `values`, which `indices` select. */
struct made {
  struct made_column rows, values;
  bool has_dictionary;
  uint64_t *indices;
  lanebloom_slice *expected; /* a row's key; data NULL: null */
};

/* `made` holds pointers to itself. */
void made_array(const struct made_plan *plan, struct rng *rng, struct made *made);

/* An array that rng chooses. Most are small. */
struct made_plan made_random_plan(struct rng *rng);
void made_free(struct made *made);

/* Metadata of two pairs, of which the second one marks this extension type. For free(). */
char *made_extension(const char *name);

/* What the tests' arrays and schemas have as their release: it is never called. */
void made_release_array(struct ArrowArray *array);
void made_release_schema(struct ArrowSchema *schema);

#endif
