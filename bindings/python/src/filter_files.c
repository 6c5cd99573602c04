/* Makes filters of files and bytes, and writes them.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filter.h"

/* ---- Facts that the caller gives ---- */

/* Facts about a filter that the caller gives, because the filter's bytes may not record them. */
struct statement {
  const char *form;
  PyObject *nkeys, *bits_per_key;
};

static int state(lanebloom_filter *filter, const struct statement *statement)
{
  lanebloom_key_form form;
  if (statement->form && (find_form(statement->form, &form) < 0 ||
                          lanebloom_filter_set_key_form(filter, form) != LANEBLOOM_OK))
    return -1;
  PyObject *const nkeys = statement->nkeys, *const bits = statement->bits_per_key;
  uint64_t n = LANEBLOOM_UNKNOWN;
  if (nkeys && nkeys != Py_None && count_of(nkeys, "nkeys", &n) < 0)
    return -1;
  const double value = bits && bits != Py_None ? PyFloat_AsDouble(bits) : NAN;
  if (value == -1 && PyErr_Occurred())
    return -1;
  if ((!nkeys && !bits) || lanebloom_filter_set_nkeys(filter, n, value) == LANEBLOOM_OK)
    return 0;
  PyErr_Format(PyExc_ValueError, "bits_per_key: expected 0 to 2147483647, found %R", bits);
  return -1;
}

/* Makes a Filter with the facts that the caller gives. On an error, closes the filter and
 * raises. */
static PyObject *wrap_as(lanebloom_filter *filter, PyObject *owner,
                         const struct statement *statement)
{
  if (state(filter, statement) == 0)
    return filter_wrap(filter, owner);
  lanebloom_filter_close(filter);
  return NULL;
}

/* ---- Files ---- */

typedef lanebloom_status load_function(const char *path, lanebloom_filter **filter, char *problem,
                                       size_t problem_size);

static PyObject *load(load_function *function, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "form", NULL};
  PyObject *object;
  struct statement statement = {0};
  char problem[PROBLEM_NBYTES];
  struct path path;
  lanebloom_filter *filter = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &statement.form))
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = function(path.name, &filter, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path.text);
  }
  path_end(&path);
  return filter ? wrap_as(filter, NULL, &statement) : NULL;
}

PyObject *filter_load(PyObject *type, PyObject *args, PyObject *named)
{
  (void)type;
  return load(lanebloom_filter_load, args, named);
}

PyObject *filter_map(PyObject *type, PyObject *args, PyObject *named)
{
  (void)type;
  return load(lanebloom_filter_map, args, named);
}

PyObject *filter_load_raw(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "format", "form", "nkeys", "bits_per_key", NULL};
  PyObject *object;
  const char *format_name;
  struct statement statement = {0};
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  struct path path;
  lanebloom_filter *filter = NULL;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0)
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_filter_load_raw(format, path.name, &filter, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path.text);
  }
  path_end(&path);
  return filter ? wrap_as(filter, NULL, &statement) : NULL;
}

typedef lanebloom_status save_function(const lanebloom_filter *filter, const char *path);

static PyObject *save(PyObject *self, save_function *function, PyObject *object)
{
  struct path path;
  lanebloom_status status = LANEBLOOM_ERR_ARGUMENT;
  if (path_begin(&path, object) == 0) {
    Py_BEGIN_ALLOW_THREADS
    status = function(get(self), path.name);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, NULL, path.text);
  }
  path_end(&path);
  return status ? NULL : Py_NewRef(Py_None);
}

PyObject *filter_save(PyObject *self, PyObject *path)
{
  return save(self, lanebloom_filter_save, path);
}

PyObject *filter_save_raw(PyObject *self, PyObject *path)
{
  return save(self, lanebloom_filter_save_raw, path);
}

/* ---- Bytes ---- */

/* Returns bytes that do not change: the object itself if it is a bytes object, otherwise a copy. */
static PyObject *constant_bytes(PyObject *object)
{
  return PyBytes_CheckExact(object) ? Py_NewRef(object) : PyBytes_FromObject(object);
}

PyObject *filter_parse(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"data", "form", NULL};
  PyObject *object;
  struct statement statement = {0};
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &statement.form))
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status =
      lanebloom_filter_parse(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), &filter);
  PyObject *made =
      status ? raise_status(status, "not a container of lanebloom, or a damaged one", NULL)
             : wrap_as(filter, bytes, &statement);
  Py_DECREF(bytes);
  return made;
}

PyObject *filter_parse_raw(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"data", "format", "form", "nkeys", "bits_per_key", NULL};
  PyObject *object;
  const char *format_name;
  struct statement statement = {0};
  lanebloom_format format;
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0)
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status = lanebloom_filter_parse_raw(format, PyBytes_AsString(bytes),
                                                             (size_t)PyBytes_Size(bytes), &filter);
  PyObject *made = status ? raise_status(status, NULL, NULL) : wrap_as(filter, bytes, &statement);
  Py_DECREF(bytes);
  return made;
}

PyObject *filter_to_bytes(PyObject *self, PyObject *none)
{
  (void)none;
  const size_t size = lanebloom_filter_write(get(self), NULL, 0);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (bytes)
    lanebloom_filter_write(get(self), PyBytes_AsString(bytes), size);
  return bytes;
}

PyObject *filter_bytes(PyObject *self, void *closure)
{
  (void)closure;
  return PyMemoryView_FromObject(self);
}

int filter_buffer(PyObject *self, Py_buffer *view, int flags)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(get(self), &size);
  return PyBuffer_FillInfo(view, self, (void *)bytes, (Py_ssize_t)size, 1, flags);
}
