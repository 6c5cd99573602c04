/* The extension module: declarations that its files share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PYTHON_MODULE_H
#define LANEBLOOM_PYTHON_MODULE_H

#include <Python.h>
#include <lanebloom_arrow.h>
#include <stdio.h>

extern PyObject *error_type; /* lanebloom.Error */

/* Room for an error message of the library. */
enum { PROBLEM_NBYTES = 1024 };

/* Raises the exception for a status, with this message, and returns NULL. path: a str, or NULL. */
PyObject *raise_status(lanebloom_status status, const char *problem, PyObject *path);

/* Like raise_status(), for keys: raises TypeError if a type has no keys, or other keys. */
PyObject *raise_keys(lanebloom_status status, const char *problem);

/* Finds a format or an encoding by name, or raises ValueError. */
int find_format(const char *name, lanebloom_format *format);
int find_form(const char *name, lanebloom_key_form *form);

/* A path as bytes and, for messages, as str. */
struct path {
  PyObject *bytes, *text;
};
int path_begin(struct path *path, PyObject *object);
const char *path_name(const struct path *path);
void path_end(struct path *path);

/* ---- Keys of any kind, as arrays of Arrow ---- */

struct batch {
  struct ArrowSchema *schema; /* of all arrays */
  struct ArrowArray **arrays;
  size_t narrays;
  size_t n;        /* rows of all arrays */
  bool is_untyped; /* no row is a key, and the type of keys is unknown */

  /* The owners of what the arrays borrow, and the structs themselves unless a capsule has them. */
  PyObject *owner;
  Py_buffer buffer;
  struct ArrowSchema own_schema;
  char format[32], metadata[64]; /* of own_schema, if they are needed */
  struct ArrowArray *own_arrays;
  void *memory[4];
};

/* Makes a batch of the keys that a caller passed. wanted: the encoding of keys that have none of
 * their own: Python's int become INT32, INT64, UINT32 or UINT64 (INT64 if another encoding is
 * wanted), and rows without a key and without a type get any wanted encoding. Returns -1 and raises
 * on an error. */
int batch_begin(struct batch *batch, PyObject *keys, lanebloom_encoding wanted);
void batch_end(struct batch *batch);

/* ---- Results ---- */

/* Makes an array of numpy and the buffer of its memory, which must be released. */
PyObject *numpy_empty(size_t n, const char *type, Py_buffer *buffer);

/* Screens a batch with any function that fills masks, with the lock released. */
PyObject *screen_to_mask(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_bitmap(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_rows(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_count(const lanebloom_filter *filter, const struct batch *batch);
PyObject *hash_batch(lanebloom_format format, const struct batch *batch);

/* Finds the encoding of the keys. Returns -1 and raises if the type has no keys. */
int batch_encoding(const struct batch *batch, lanebloom_encoding *encoding);

/* Returns the rows of the whole batch as slices, and the memory of converted numbers, both for
 * PyMem_Free(). */
lanebloom_slice *batch_slices(const struct batch *batch, void **numbers);

/* ---- Types ---- */

PyObject *filter_wrap(lanebloom_filter *filter, PyObject *owner); /* closes it if memory runs out */
lanebloom_filter *filter_of(PyObject *object);                    /* raises if it is no filter */
bool is_filter(PyObject *object);
int filter_type_add(PyObject *module);
int builder_type_add(PyObject *module);
int database_type_add(PyObject *module);

/* Builds a filter of a batch. form: NULL: that of the batch. */
lanebloom_status build_filter(lanebloom_format format, double bits_per_key, uint64_t expected,
                              const lanebloom_key_form *form, const struct batch *batch,
                              lanebloom_filter **filter, char problem[PROBLEM_NBYTES]);

/* Chooses the bits per key of a filter for n keys: those that are given, or those that reach a
 * rate. Each of the two is None or a number. Returns -1 and raises on an error. */
int choose_bits(lanebloom_format format, PyObject *bits_per_key, PyObject *rate, uint64_t n,
                double *bits);

/* Parses a count: an int, or a float that is a whole number. */
int count_of(PyObject *object, const char *name, uint64_t *count);

PyObject *parquet_find_files(PyObject *self, PyObject *path);
PyObject *parquet_open(PyObject *self, PyObject *args);
PyObject *parquet_row_groups(PyObject *self, PyObject *args);
PyObject *parquet_describe(PyObject *self, PyObject *file);
PyObject *parquet_chunk(PyObject *self, PyObject *args);
PyObject *parquet_absent(PyObject *self, PyObject *args);

#endif
