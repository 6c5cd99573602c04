/* Makes filters from files and bytes, and writes filters.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filter.h"

/* ---- Facts that the caller gives ---- */

/* The arguments for facts about a filter that its bare bytes do not record. */
struct statement {
  const char *form;
  PyObject *nkeys, *bits_per_key;
};

/* Converts the arguments to options. If an argument is wrong, returns -1 and raises. */
static int find_options(const struct statement *statement, lanebloom_raw_options *options)
{
  PyObject *const nkeys = statement->nkeys, *const bits = statement->bits_per_key;
  *options = (lanebloom_raw_options){.has_nkeys = nkeys && nkeys != Py_None,
                                     .has_bits_per_key = bits && bits != Py_None};
  if (statement->form && find_form(statement->form, &options->key_form) < 0)
    return -1;
  if (options->has_nkeys && count_of(nkeys, "nkeys", &options->nkeys) < 0)
    return -1;
  if (options->has_bits_per_key)
    options->bits_per_key = PyFloat_AsDouble(bits);
  return options->bits_per_key == -1 && PyErr_Occurred() ? -1 : 0;
}

PyObject *filter_wrap_as(lanebloom_filter *filter, PyObject *owner, const lanebloom_key_form *form)
{
  PyObject *made = filter_wrap(filter, owner);
  if (!made || !form)
    return made;
  const uint64_t nkeys = lanebloom_filter_nkeys(filter);
  const double bits_per_key = lanebloom_filter_bits_per_key(filter);
  const lanebloom_raw_options options = {.key_form = *form,
                                         .has_nkeys = nkeys != LANEBLOOM_UNKNOWN,
                                         .has_bits_per_key = !isnan(bits_per_key),
                                         .nkeys = nkeys,
                                         .bits_per_key = bits_per_key};
  char problem[PROBLEM_NBYTES];
  lanebloom_filter *other;
  size_t size;
  const void *bytes = lanebloom_filter_bytes(filter, &size);
  const lanebloom_status status = lanebloom_filter_parse_raw(
      lanebloom_filter_format(filter), bytes, size, &options, &other, problem, sizeof problem);
  PyObject *made_as = status ? raise_status(status, problem, NULL) : filter_wrap(other, made);
  Py_DECREF(made);
  return made_as;
}

/* Makes a Filter of a container. If the caller gave the name of a form, the keys have this form. */
static PyObject *wrap_container(lanebloom_filter *filter, PyObject *owner, const char *form_name)
{
  lanebloom_key_form form;
  if (!form_name || find_form(form_name, &form) == 0)
    return filter_wrap_as(filter, owner, form_name ? &form : NULL);
  lanebloom_filter_free(filter);
  return NULL;
}

/* ---- Files ---- */

typedef lanebloom_status load_function(const char *path, lanebloom_filter **filter, char *problem,
                                       size_t problem_size);

static PyObject *load(load_function *function, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "form", NULL};
  PyObject *object;
  const char *form_name = NULL;
  char problem[PROBLEM_NBYTES];
  struct path path;
  lanebloom_filter *filter = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &form_name))
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
  return filter ? wrap_container(filter, NULL, form_name) : NULL;
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
  lanebloom_raw_options options;
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  struct path path;
  lanebloom_filter *filter = NULL;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0 || find_options(&statement, &options) < 0)
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status =
        lanebloom_filter_load_raw(format, path.name, &options, &filter, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path.text);
  }
  path_end(&path);
  return filter ? filter_wrap(filter, NULL) : NULL;
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
  const char *form_name = NULL;
  char problem[PROBLEM_NBYTES];
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &form_name))
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status = lanebloom_filter_parse(
      PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), &filter, problem, sizeof problem);
  PyObject *made =
      status ? raise_status(status, problem, NULL) : wrap_container(filter, bytes, form_name);
  Py_DECREF(bytes);
  return made;
}

PyObject *filter_parse_raw(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"data", "format", "form", "nkeys", "bits_per_key", NULL};
  PyObject *object;
  const char *format_name;
  struct statement statement = {0};
  lanebloom_raw_options options;
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0 || find_options(&statement, &options) < 0)
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status =
      lanebloom_filter_parse_raw(format, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes),
                                 &options, &filter, problem, sizeof problem);
  PyObject *made = status ? raise_status(status, problem, NULL) : filter_wrap(filter, bytes);
  Py_DECREF(bytes);
  return made;
}

PyObject *filter_to_bytes(PyObject *self, PyObject *none)
{
  size_t size;
  (void)none;
  lanebloom_status status = lanebloom_filter_write(get(self), NULL, 0, &size); /* finds the size */
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (bytes)
    status = lanebloom_filter_write(get(self), PyBytes_AsString(bytes), size, &size);
  if (!bytes || !status)
    return bytes;
  Py_DECREF(bytes);
  return raise_status(status, NULL, NULL);
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
