/* Declarations that the files of the type lanebloom.Filter share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PYTHON_FILTER_H
#define LANEBLOOM_PYTHON_FILTER_H

#include "module.h"

typedef struct {
  PyObject_HEAD lanebloom_filter *filter;
  PyObject *owner; /* owns the bytes that the filter borrows; NULL if the filter owns them */
} Filter;

static inline lanebloom_filter *get(PyObject *self)
{
  return ((Filter *)self)->filter;
}

/* ---- Methods, which the table in filter.c describes ---- */

PyObject *filter_build(PyObject *type, PyObject *args, PyObject *named);

PyObject *filter_load(PyObject *type, PyObject *args, PyObject *named);
PyObject *filter_map(PyObject *type, PyObject *args, PyObject *named);
PyObject *filter_load_raw(PyObject *type, PyObject *args, PyObject *named);
PyObject *filter_save(PyObject *self, PyObject *path);
PyObject *filter_save_raw(PyObject *self, PyObject *path);
PyObject *filter_parse(PyObject *type, PyObject *args, PyObject *named);
PyObject *filter_parse_raw(PyObject *type, PyObject *args, PyObject *named);
PyObject *filter_to_bytes(PyObject *self, PyObject *none);
PyObject *filter_bytes(PyObject *self, void *closure);
int filter_buffer(PyObject *self, Py_buffer *view, int flags);

PyObject *filter_screen(PyObject *self, PyObject *keys);
PyObject *filter_bitmap(PyObject *self, PyObject *keys);
PyObject *filter_select(PyObject *self, PyObject *keys);
PyObject *filter_count(PyObject *self, PyObject *keys);
PyObject *filter_hash(PyObject *self, PyObject *keys);
int filter_contains(PyObject *self, PyObject *key);

PyObject *filter_info(PyObject *self, void *closure);
PyObject *filter_form(PyObject *self, void *closure);
PyObject *filter_format(PyObject *self, void *closure);
PyObject *filter_repr(PyObject *self);
int info_type_add(PyObject *module);

#endif
