/* Row groups of Parquet files in which keys may be; lanebloom/parquet.py is its public face.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <string.h>

#include "module.h"

/* What one file needs: the file, its column, and keys that are ready for it. */
struct search {
  lanebloom_parquet *file;
  size_t column;
  lanebloom_parquet_keys *keys;
};

static void end_search(struct search *search)
{
  lanebloom_parquet_keys_free(search->keys);
  lanebloom_parquet_close(search->file);
}

/* What the keys are for this column: bytes stand for UUIDs, too. */
static int encoding_of(const struct batch *batch, lanebloom_encoding wanted,
                       lanebloom_encoding *encoding)
{
  if (batch_encoding(batch, encoding) < 0)
    return -1;
  if (strchr("zZw", batch->schema->format[0]) && !batch->schema->dictionary &&
      wanted == LANEBLOOM_UUID)
    *encoding = wanted;
  return 0;
}

/* Drops nulls, which are in no row group's filter. */
static size_t drop_nulls(lanebloom_slice *slices, size_t n)
{
  size_t nleft = 0;
  for (size_t i = 0; i < n; i++)
    if (slices[i].data)
      slices[nleft++] = slices[i];
  return nleft;
}

/* Makes keys ready for the column. Returns -1 and raises. */
static int prepare(struct search *search, PyObject *keys, PyObject *path)
{
  lanebloom_parquet_column_info column;
  lanebloom_encoding encoding;
  char problem[PROBLEM_NBYTES];
  struct batch batch;
  void *numbers = NULL;
  lanebloom_parquet_describe_column(search->file, search->column, &column, sizeof column);
  if (batch_begin(&batch, keys, column.has_keys ? column.encoding : LANEBLOOM_BYTES) < 0)
    return -1;
  lanebloom_slice *slices =
      encoding_of(&batch, column.encoding, &encoding) < 0 ? NULL : batch_slices(&batch, &numbers);
  int result = -1;
  if (slices && column.has_keys && encoding != column.encoding) {
    PyErr_Format(PyExc_TypeError, "%S: keys of the column \"%s\": %s; the array has %s", path,
                 column.path, lanebloom_encoding_name(column.encoding),
                 lanebloom_encoding_name(encoding));
  } else if (slices) {
    const lanebloom_keys given = lanebloom_keys_slices(slices, drop_nulls(slices, batch.n));
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_parquet_keys_create(search->file, search->column, encoding, &given,
                                           &search->keys, NULL, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path);
    result = status ? -1 : 0;
  }
  PyMem_Free(slices);
  PyMem_Free(numbers);
  batch_end(&batch);
  return result;
}

static PyObject *search_row_groups(const struct search *search, PyObject *path)
{
  lanebloom_parquet_info info;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_describe(search->file, &info, sizeof info);
  PyObject *found = PyList_New(0);
  for (size_t i = 0; found && i < info.nrow_groups; i++) {
    lanebloom_status status;
    size_t nmaybe;
    if (PyErr_CheckSignals() < 0) {
      Py_CLEAR(found);
      break;
    }
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_parquet_screen(search->file, i, search->column, search->keys, NULL, &nmaybe,
                                      problem, sizeof problem);
    Py_END_ALLOW_THREADS
    PyObject *number = status || nmaybe == 0 ? NULL : PyLong_FromSize_t(i);
    if (status) {
      raise_status(status, problem, path);
      Py_CLEAR(found);
    } else if (nmaybe > 0 && (!number || PyList_Append(found, number) < 0)) {
      Py_CLEAR(found);
    }
    Py_XDECREF(number);
  }
  return found;
}

/* Finds the value of this name. -1: there is none; an exception is set. */
static int find_bounds(const char *name, lanebloom_parquet_bounds *bounds)
{
  for (*bounds = LANEBLOOM_PARQUET_BOUNDS_KNOWN; lanebloom_parquet_bounds_name(*bounds); ++*bounds)
    if (strcmp(lanebloom_parquet_bounds_name(*bounds), name) == 0)
      return 0;
  PyErr_Format(PyExc_ValueError, "bounds: expected 'known', 'all' or 'none', found '%s'", name);
  return -1;
}

/* (path, column, keys, bounds) -> the numbers of row groups. Keys may be an iterable only once, so
 * the public function makes a list of it. */
PyObject *parquet_row_groups(PyObject *self, PyObject *args)
{
  PyObject *object, *keys, *found = NULL;
  const char *column, *name;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_bounds bounds;
  struct search search = {0};
  struct path path;
  (void)self;
  if (!PyArg_ParseTuple(args, "OsOs", &object, &column, &keys, &name) ||
      find_bounds(name, &bounds) < 0)
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status =
        lanebloom_parquet_open(path_name(&path), bounds, &search.file, problem, sizeof problem);
    if (!status)
      status = lanebloom_parquet_find(search.file, column, &search.column, problem, sizeof problem);
    if (status)
      raise_status(status, problem, path.text);
    else if (prepare(&search, keys, path.text) == 0)
      found = search_row_groups(&search, path.text);
  }
  end_search(&search);
  path_end(&path);
  return found;
}
