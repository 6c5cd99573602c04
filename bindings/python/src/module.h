/* Declarations that the C files of the Python package share. They form one extension module.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PYTHON_MODULE_H
#define LANEBLOOM_PYTHON_MODULE_H

#include <Python.h>
#include <lanebloom_arrow.h>
#include <stdio.h>

extern PyObject *error_type; /* lanebloom.Error */

/* Room for an error message of the library. */
enum { PROBLEM_NBYTES = 1024 };

/* Raises the exception for a status and returns NULL. problem: the message; if it is NULL or "",
 * the text of the status is the message. path: a str that the message names, or NULL. */
PyObject *raise_status(lanebloom_status status, const char *problem, PyObject *path);

/* Like raise_status(), for errors about keys: raises TypeError if keys of this type are not
 * accepted, or if the filter has keys of another type. */
PyObject *raise_keys(lanebloom_status status, const char *problem);

/* Find a format by its name, or a key form by the name of its encoding. If there is none, return -1
 * and raise ValueError. */
int find_format(const char *name, lanebloom_format *format);
int find_form(const char *name, lanebloom_key_form *form);

/* A path as bytes and, for messages, as str. path_end() must be called even if path_begin()
 * fails. */
struct path {
  const char *name; /* borrowed from `bytes`; without the interpreter's lock, only this member may
                     * be used */
  PyObject *bytes, *text;
};
int path_begin(struct path *path, PyObject *object);
void path_end(struct path *path);

/* ---- Batches: keys of any kind, converted to arrays of Arrow ---- */

struct batch {
  struct ArrowSchema *schema; /* the type of all arrays */
  struct ArrowArray **arrays;
  size_t narrays;
  size_t n;        /* the number of rows of all arrays */
  bool is_untyped; /* all rows are null, so the type of the keys is unknown */

  /* The owners of the memory that the arrays borrow. If no capsule of Arrow owns the structs, the
   * batch owns them, too. */
  PyObject *owner;
  Py_buffer buffer;
  struct ArrowSchema own_schema;
  char format[32], metadata[64]; /* texts that own_schema may borrow */
  struct ArrowArray *own_arrays;
  void *memory[4];
};

/* Makes a batch of the keys that a caller passed. `wanted` is the encoding for keys that have none
 * of their own. If `wanted` is INT32, INT64, UINT32 or UINT64, an int of Python gets this encoding;
 * otherwise it gets INT64. If all rows are null and have no type, they get the wanted encoding.
 * Returns -1 and raises on an error. */
int batch_begin(struct batch *batch, PyObject *keys, lanebloom_encoding wanted);
void batch_end(struct batch *batch);

/* ---- Results ---- */

/* Makes an array of numpy, and a buffer for writing to its memory. The caller releases the
 * buffer. */
PyObject *numpy_empty(size_t n, const char *type, Py_buffer *buffer);

/* These functions screen a batch without the interpreter's lock. They return an array of numpy or,
 * for the count, an int. On an error they raise and return NULL. hash_batch() hashes the batch in
 * the same way. */
PyObject *screen_to_mask(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_bitmap(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_rows(const lanebloom_filter *filter, const struct batch *batch);
PyObject *screen_to_count(const lanebloom_filter *filter, const struct batch *batch);
PyObject *hash_batch(lanebloom_format format, const struct batch *batch);

/* Finds the encoding of a batch's keys. Returns -1 and raises if values of this type cannot be
 * keys. */
int batch_encoding(const struct batch *batch, lanebloom_encoding *encoding);

/* Returns the rows of all arrays as slices. *numbers becomes the memory that holds converted
 * numbers. The caller frees both with PyMem_Free(). Returns NULL and raises on an error. */
lanebloom_slice *batch_slices(const struct batch *batch, void **numbers);

/* ---- Types ---- */

/* Makes a Filter. owner: owns the bytes that the filter borrows, or NULL. If memory runs out, frees
 * the filter. */
PyObject *filter_wrap(lanebloom_filter *filter, PyObject *owner);

/* Makes a Filter whose keys have this form, whatever form the filter records. form may be NULL. */
PyObject *filter_wrap_as(lanebloom_filter *filter, PyObject *owner, const lanebloom_key_form *form);
lanebloom_filter *filter_of(PyObject *object); /* raises if it is no filter */
bool is_filter(PyObject *object);
int filter_type_add(PyObject *module);
int builder_type_add(PyObject *module);
int database_type_add(PyObject *module);

/* How the size of a filter is chosen: by the rate or, if this is 0, by the bits per key. */
struct size_choice {
  double rate, bits_per_key;
};

/* Chooses the size of a filter for n keys. If neither `bits_per_key` nor `rate` is given, chooses
 * 10 bits per key. An argument that is not given is None or NULL. Returns -1 and raises on an
 * error. */
int choose_size(lanebloom_format format, PyObject *bits_per_key, PyObject *rate, uint64_t n,
                struct size_choice *choice);
lanebloom_status create_builder(lanebloom_format format, const struct size_choice *choice,
                                uint64_t expected, lanebloom_builder **builder);

/* Converts an int, or a float that is a whole number, to a count. Returns -1 and raises on an
 * error, with `name` in the message. */
int count_of(PyObject *object, const char *name, uint64_t *count);

PyObject *parquet_find_files(PyObject *self, PyObject *path);
PyObject *parquet_open(PyObject *self, PyObject *args);
PyObject *parquet_row_groups(PyObject *self, PyObject *args);
PyObject *parquet_describe(PyObject *self, PyObject *file);
PyObject *parquet_chunk(PyObject *self, PyObject *args);
PyObject *parquet_absent(PyObject *self, PyObject *args);

#endif
