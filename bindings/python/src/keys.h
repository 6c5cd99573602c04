/* Declarations for the files that convert keys. keys.c finds out what kind of keys it gets, and
 * calls a function of one of the files keys_*.c.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PYTHON_KEYS_H
#define LANEBLOOM_PYTHON_KEYS_H

#include "module.h"

/* ---- The arrays that a batch owns (batch.c) ---- */

/* Sets the type of all arrays, in Arrow's notation. format: borrowed. */
void set_schema(struct batch *batch, const char *format);

void mark_uuid(struct batch *batch);

/* Sets the batch's only array, which has n rows. validity: a bitmap, or NULL if no row is null.
 * first and second: the other buffers of Arrow's type; second is NULL if the type has only one
 * other buffer. */
int set_array(struct batch *batch, size_t n, const void *validity, const void *first,
              const void *second);

/* Refuses more rows than memory can hold, because computed sizes would overflow. */
int check_count(uint64_t n);

/* ---- Kinds of keys: each function makes a batch, or returns -1 and raises ---- */

int begin_capsules(struct batch *batch, PyObject *keys); /* keys have __arrow_c_array__() */
int begin_stream(struct batch *batch, PyObject *keys);   /* keys have __arrow_c_stream__() */
int begin_buffer(struct batch *batch, PyObject *keys);
int begin_numpy(struct batch *batch, PyObject *keys, lanebloom_encoding wanted);
int begin_sequence(struct batch *batch, PyObject *keys, lanebloom_encoding wanted); /* iterable */

/* Makes a batch of n rows that are all null. The rows get a type that has the wanted encoding. */
int begin_nulls(struct batch *batch, size_t n, lanebloom_encoding wanted);

/* ---- Buffers and arrays of numpy ---- */

/* Checks that the buffer of keys has one dimension, and that its items fit in memory. If not,
 * returns -1 and raises. */
int check_buffer(const Py_buffer *buffer);

/* Returns the items of the buffer side by side, as a copy if they are not side by side already. */
const uint8_t *contiguous(struct batch *batch);

/* Checks that the array that __array__ returned still has the type of the keys. If a column has
 * nulls, pandas converts its own types of numbers to floats, and such keys are refused. Returns -1
 * and raises on an error. */
int check_array(PyObject *keys, PyObject *array);

/* ---- Python objects (objects.c): these functions never raise ---- */

int has(PyObject *object, const char *name); /* does the object have this attribute? */
bool is_instance_of(PyObject *object, const char *module, const char *type);

#endif
