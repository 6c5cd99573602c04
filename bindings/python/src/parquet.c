/* The part of the extension module for Parquet files: it finds the files of a folder and the row
 * groups in which keys may be, and reads the statistics and filters that an audit compares with the
 * data. These functions are private; lanebloom/parquet.py calls them and is the public interface.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>
#include <string.h>

#include "module.h"

/* ---- Folders ---- */

static PyObject *list_paths(const lanebloom_parquet_paths *paths)
{
  PyObject *list = PyList_New((Py_ssize_t)paths->n);
  for (size_t i = 0; list && i < paths->n; i++) {
    PyObject *path = PyUnicode_DecodeFSDefault(paths->all[i]);
    if (!path || PyList_SetItem(list, (Py_ssize_t)i, path) < 0)
      Py_CLEAR(list);
  }
  return list;
}

/* Takes a folder. Returns the list of files to read, and the list of files that are skipped. */
PyObject *parquet_find_files(PyObject *self, PyObject *object)
{
  PyObject *found = NULL;
  char problem[PROBLEM_NBYTES];
  struct path path;
  (void)self;
  if (path_begin(&path, object) == 0) {
    lanebloom_parquet_files *files;
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_parquet_find_files(&path.name, 1, &files, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (!status)
      found = Py_BuildValue("NN", list_paths(&files->read), list_paths(&files->skipped));
    else /* the message names the folder that failed, which may be below this one */
      raise_status(status, problem, NULL);
    lanebloom_parquet_files_free(files);
  }
  path_end(&path);
  return found;
}

/* ---- Files: a capsule owns an open file and remembers the column to query ---- */

static const char capsule_name[] = "lanebloom.parquet";

struct search {
  lanebloom_parquet *file;
  size_t column;
  bool uses_hudi; /* are the filter and the range of keys that Hudi wrote used? */
  PyObject *path; /* for messages */
};

static const struct search *search_of(PyObject *capsule)
{
  return PyCapsule_GetPointer(capsule, capsule_name);
}

static void search_free(PyObject *capsule)
{
  struct search *search = PyCapsule_GetPointer(capsule, capsule_name);
  lanebloom_parquet_free(search->file);
  Py_XDECREF(search->path);
  PyMem_Free(search);
}

/* Returns a capsule that owns the file. On an error, closes the file, raises and returns NULL. */
static PyObject *search_wrap(lanebloom_parquet *file, size_t column, bool uses_hudi, PyObject *path)
{
  struct search *search = PyMem_Malloc(sizeof *search);
  PyObject *capsule = search ? PyCapsule_New(search, capsule_name, search_free) : PyErr_NoMemory();
  if (capsule) {
    *search = (struct search){file, column, uses_hudi, Py_NewRef(path)};
  } else {
    PyMem_Free(search);
    lanebloom_parquet_free(file);
  }
  return capsule;
}

/* Is this the column of which Hudi writes a filter? */
static bool is_of_hudi(const lanebloom_parquet *file, size_t column)
{
  lanebloom_parquet_column_info info;
  lanebloom_parquet_describe_column(file, column, &info, sizeof info);
  return strcmp(info.path, "_hoodie_record_key") == 0 && info.encoding == LANEBLOOM_BYTES;
}

/* Takes a path, a column, the bounds to use, and whether to use what Hudi wrote. Returns a capsule
 * of the open file. */
PyObject *parquet_open(PyObject *self, PyObject *args)
{
  PyObject *object, *capsule = NULL;
  const char *column_path, *name;
  char problem[PROBLEM_NBYTES];
  lanebloom_parquet_bounds bounds;
  struct path path;
  int hudi;
  (void)self;
  if (!PyArg_ParseTuple(args, "Ossp", &object, &column_path, &name, &hudi))
    return NULL;
  if (!lanebloom_parquet_bounds_by_name(name, &bounds))
    return PyErr_Format(PyExc_ValueError, "bounds: expected 'known', 'all' or 'none', found '%s'",
                        name);
  if (path_begin(&path, object) == 0) {
    lanebloom_parquet *file;
    size_t column;
    lanebloom_status status =
        lanebloom_parquet_open(path.name, bounds, &file, problem, sizeof problem);
    if (!status)
      status = lanebloom_parquet_find(file, column_path, &column, problem, sizeof problem);
    if (!status) {
      capsule = search_wrap(file, column, hudi && is_of_hudi(file, column), path.text);
    } else {
      raise_status(status, problem, path.text);
      lanebloom_parquet_free(file);
    }
  }
  path_end(&path);
  return capsule;
}

static lanebloom_parquet_column_info describe_column(const struct search *search)
{
  lanebloom_parquet_column_info column;
  lanebloom_parquet_describe_column(search->file, search->column, &column, sizeof column);
  return column;
}

static lanebloom_parquet_info describe_file(const struct search *search)
{
  lanebloom_parquet_info info;
  lanebloom_parquet_describe(search->file, &info, sizeof info);
  return info;
}

/* ---- Keys ---- */

/* Finds the encoding of the keys. If the column has UUIDs, keys that are bytes are taken as
 * UUIDs. */
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

/* Removes nulls, because no row group's filter has them. Returns the number of slices that are
 * left. */
static size_t drop_nulls(lanebloom_slice *slices, size_t n)
{
  size_t nleft = 0;
  for (size_t i = 0; i < n; i++)
    if (slices[i].data)
      slices[nleft++] = slices[i];
  return nleft;
}

/* Keys, prepared for a column. */
struct query {
  lanebloom_parquet_keys *keys;
  size_t nkeys;
  uint8_t *hudi;   /* the keys that may be in the file according to Hudi; NULL: all keys */
  uint8_t *bitmap; /* room for a row group's keys */
};

static void query_end(struct query *query)
{
  lanebloom_parquet_keys_free(query->keys);
  PyMem_Free(query->hudi);
  PyMem_Free(query->bitmap);
}

static int prepare_keys(const struct search *search, lanebloom_encoding encoding,
                        const lanebloom_keys *keys, struct query *query)
{
  const lanebloom_parquet_column_info column = describe_column(search);
  char problem[PROBLEM_NBYTES];
  lanebloom_status status;
  size_t bad_key;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_parquet_keys_create(search->file, search->column, encoding, keys, &query->keys,
                                         &bad_key, problem, sizeof problem);
  Py_END_ALLOW_THREADS
  if (!status)
    return 0;
  /* no single key is wrong, so all keys have a wrong encoding */
  if (status == LANEBLOOM_ERR_ARGUMENT && column.has_keys && bad_key == keys->n)
    PyErr_Format(PyExc_TypeError, "%S: keys of the column \"%s\": %s; the array has %s",
                 search->path, column.path, lanebloom_encoding_name(column.encoding),
                 lanebloom_encoding_name(encoding));
  else
    raise_status(status, problem, search->path);
  return -1;
}

/* Finds the keys that Hudi's filter and range do not rule out. */
static int screen_hudi(const struct search *search, const lanebloom_keys *keys, struct query *query)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_status status;
  size_t nmaybe;
  query->hudi = PyMem_Calloc(keys->n / 8 + 1, 1);
  if (!query->hudi) {
    PyErr_NoMemory();
    return -1;
  }
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_parquet_screen_hudi(search->file, keys, query->hudi, &nmaybe, problem,
                                         sizeof problem);
  Py_END_ALLOW_THREADS
  if (!status || status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_LIMIT)
    return 0; /* filters that cannot be used are like none */
  raise_status(status, problem, search->path);
  return -1;
}

/* Prepares keys for the column. Returns -1 and raises on an error; query_end() must be called even
 * then. */
static int query_begin(struct query *query, const struct search *search, PyObject *keys)
{
  const lanebloom_parquet_column_info column = describe_column(search);
  lanebloom_encoding encoding;
  struct batch batch;
  void *numbers = NULL;
  int status = -1;
  *query = (struct query){0};
  if (batch_begin(&batch, keys, column.has_keys ? column.encoding : LANEBLOOM_BYTES) < 0)
    return -1;
  lanebloom_slice *slices =
      encoding_of(&batch, column.encoding, &encoding) < 0 ? NULL : batch_slices(&batch, &numbers);
  if (slices) {
    const lanebloom_keys given = lanebloom_keys_slices(slices, drop_nulls(slices, batch.n));
    query->nkeys = given.n;
    query->bitmap = PyMem_Calloc(given.n / 8 + 1, 1);
    if (!query->bitmap)
      PyErr_NoMemory();
    else
      status = prepare_keys(search, encoding, &given, query);
    if (status == 0 && search->uses_hudi)
      status = screen_hudi(search, &given, query);
  }
  PyMem_Free(slices);
  PyMem_Free(numbers);
  batch_end(&batch);
  return status;
}

/* ---- Row groups ---- */

/* Sets query->bitmap to the keys that may be in a row group, and counts them. Returns -1 and raises
 * on an error. */
static int screen(const struct search *search, size_t row_group, const struct query *query,
                  size_t *nmaybe)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_status status;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_parquet_screen(search->file, row_group, search->column, query->keys,
                                    query->bitmap, nmaybe, problem, sizeof problem);
  Py_END_ALLOW_THREADS
  if (status && status != LANEBLOOM_ERR_FORMAT) { /* a filter of an unknown kind is ignored */
    raise_status(status, problem, search->path);
    return -1;
  }
  if (query->hudi && *nmaybe > 0) {
    *nmaybe = 0;
    for (size_t i = 0; i < (query->nkeys + 7) / 8; i++) {
      query->bitmap[i] &= query->hudi[i];
      *nmaybe += (size_t)__builtin_popcount(query->bitmap[i]);
    }
  }
  return PyErr_CheckSignals();
}

/* Appends a number to a list. On an error, frees the list, sets it to NULL and raises. */
static void append(PyObject **list, size_t number)
{
  PyObject *object = PyLong_FromSize_t(number);
  if (!object || PyList_Append(*list, object) < 0)
    Py_CLEAR(*list);
  Py_XDECREF(object);
}

/* Takes a file and keys. Returns the numbers of the row groups in which any of the keys may be. */
PyObject *parquet_row_groups(PyObject *self, PyObject *args)
{
  PyObject *capsule, *keys;
  const struct search *search;
  struct query query;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &keys) || !(search = search_of(capsule)))
    return NULL;
  PyObject *found = query_begin(&query, search, keys) < 0 ? NULL : PyList_New(0);
  const size_t n = describe_file(search).nrow_groups;
  for (size_t i = 0; found && i < n; i++) {
    size_t nmaybe;
    if (screen(search, i, &query, &nmaybe) < 0)
      Py_CLEAR(found);
    else if (nmaybe > 0)
      append(&found, i);
  }
  query_end(&query);
  return found;
}

/* ---- Audits ---- */

/* Makes a str of a name in a file, which need not be UTF-8. */
static PyObject *decode(const char *text)
{
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Takes a file. Returns the path of the column, the name of the writer, and the number of row
 * groups. */
PyObject *parquet_describe(PyObject *self, PyObject *capsule)
{
  const struct search *search = search_of(capsule);
  (void)self;
  if (!search)
    return NULL;
  const lanebloom_parquet_info info = describe_file(search);
  const lanebloom_parquet_column_info column = describe_column(search);
  if (!column.has_keys)
    return PyErr_Format(PyExc_ValueError,
                        "%S: column \"%s\": expected values that can be keys, found the type %s",
                        search->path, column.path, column.type);
  return Py_BuildValue("NNn", decode(column.path), decode(info.created_by),
                       (Py_ssize_t)info.nrow_groups);
}

/* Parses arguments: a file, the number of one of its row groups and, unless `keys` is NULL,
 * keys. */
static const struct search *parse_row_group(PyObject *args, size_t *row_group, PyObject **keys)
{
  PyObject *capsule;
  Py_ssize_t number;
  const struct search *search;
  if (!PyArg_ParseTuple(args, keys ? "OnO" : "On", &capsule, &number, keys) ||
      !(search = search_of(capsule)))
    return NULL;
  *row_group = (size_t)number;
  if (*row_group < describe_file(search).nrow_groups)
    return search;
  PyErr_Format(PyExc_IndexError, "row group: expected one of %zu, found %zd",
               describe_file(search).nrow_groups, number);
  return NULL;
}

/* Loads the filter of a row group, or returns None if the filter is of an unknown kind. Screen the
 * filter with arrays whose values are as the file stores them; the filter does not find values in
 * another representation. */
static PyObject *load_filter(const struct search *search, size_t row_group)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_filter *filter;
  lanebloom_status status;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_parquet_load_filter(search->file, row_group, search->column, &filter, problem,
                                         sizeof problem);
  Py_END_ALLOW_THREADS
  if (status == LANEBLOOM_ERR_FORMAT) /* a filter of an unknown kind is ignored */
    return Py_NewRef(Py_None);
  if (status)
    return raise_status(status, problem, search->path);
  const lanebloom_encoding encoding = describe_column(search).encoding;
  const lanebloom_key_form form = {.encoding =
                                       encoding == LANEBLOOM_UUID ? LANEBLOOM_BYTES : encoding};
  return filter_wrap_as(filter, NULL, &form);
}

/* Takes a file and the number of a row group. Returns three values. The first is a bool: does the
 * row group have bounds that are used? The second is the number of values that are not null
 * according to the count of nulls, or None if this count is unknown. The third is the filter, or
 * None if the row group has no filter of a known kind. */
PyObject *parquet_chunk(PyObject *self, PyObject *args)
{
  size_t row_group;
  const struct search *search = parse_row_group(args, &row_group, NULL);
  lanebloom_parquet_chunk_info info;
  (void)self;
  if (!search)
    return NULL;
  lanebloom_parquet_describe_chunk(search->file, row_group, search->column, &info, sizeof info);
  return Py_BuildValue("NNN", PyBool_FromLong(info.has_min || info.has_max),
                       info.nnulls == LANEBLOOM_UNKNOWN
                           ? Py_NewRef(Py_None)
                           : PyLong_FromUnsignedLongLong(info.nvalues - info.nnulls),
                       info.has_filter ? load_filter(search, row_group) : Py_NewRef(Py_None));
}

/* Takes a file, the number of a row group, and keys without nulls. Returns the indices of the keys
 * that the row group's statistics or filter report as absent. */
PyObject *parquet_absent(PyObject *self, PyObject *args)
{
  PyObject *keys, *absent = NULL;
  size_t row_group, nmaybe;
  struct query query;
  const struct search *search = parse_row_group(args, &row_group, &keys);
  (void)self;
  if (!search)
    return NULL;
  if (query_begin(&query, search, keys) == 0 && screen(search, row_group, &query, &nmaybe) == 0)
    absent = PyList_New(0);
  for (size_t i = 0; absent && i < query.nkeys; i++)
    if (!(query.bitmap[i / 8] >> i % 8 & 1))
      append(&absent, i);
  query_end(&query);
  return absent;
}
