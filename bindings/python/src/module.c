/* The module itself: its exceptions, the conversion of simple arguments, and its functions.
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include <errno.h>
#include <math.h>
#include <string.h>

PyObject *error_type;

/* ---- Errors ---- */

static PyObject *exception_of(lanebloom_status status)
{
  switch (status) {
  case LANEBLOOM_ERR_MEMORY:
    return PyExc_MemoryError;
  case LANEBLOOM_ERR_ARGUMENT:
    return PyExc_ValueError;
  default:
    return error_type;
  }
}

/* Raises OSError with errno. If `path` is a folder, the problem may name a file in the folder. */
static PyObject *raise_os_error(const char *problem, PyObject *path)
{
  if (!problem || !*problem)
    return path ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path)
                : PyErr_SetFromErrno(PyExc_OSError);
  PyObject *values =
      path ? Py_BuildValue("isO", errno, problem, path) : Py_BuildValue("is", errno, problem);
  if (values)
    PyErr_SetObject(PyExc_OSError, values);
  Py_XDECREF(values);
  return NULL;
}

PyObject *raise_status(lanebloom_status status, const char *problem, PyObject *path)
{
  if (status == LANEBLOOM_ERR_IO)
    return raise_os_error(problem, path);
  if (!problem || !*problem)
    problem = lanebloom_status_text(status);
  if (path)
    return PyErr_Format(exception_of(status), "%S: %s", path, problem);
  return PyErr_Format(exception_of(status), "%s", problem);
}

PyObject *raise_keys(lanebloom_status status, const char *problem)
{
  if (!*problem) /* the error has another cause than keys */
    return raise_status(status, NULL, NULL);
  if (status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_MISMATCH)
    return PyErr_Format(PyExc_TypeError, "%s", problem);
  return raise_status(status, problem, NULL);
}

/* ---- Names ---- */

int find_format(const char *name, lanebloom_format *format)
{
  if (lanebloom_format_by_name(name, format))
    return 0;
  PyErr_Format(PyExc_ValueError, "format: expected one of lanebloom.formats(), found \"%s\"", name);
  return -1;
}

int find_form(const char *name, lanebloom_key_form *form)
{
  *form = (lanebloom_key_form){0};
  if (lanebloom_encoding_by_name(name, &form->encoding))
    return 0;
  PyErr_Format(PyExc_ValueError, "form: expected \"bytes\", \"int64\", \"uuid\", ..., found \"%s\"",
               name);
  return -1;
}

int path_begin(struct path *path, PyObject *object)
{
  *path = (struct path){0};
  if (!PyUnicode_FSConverter(object, &path->bytes))
    return -1;
  path->name = PyBytes_AsString(path->bytes);
  path->text = PyUnicode_DecodeFSDefault(path->name);
  return path->text ? 0 : -1;
}

void path_end(struct path *path)
{
  Py_XDECREF(path->bytes);
  Py_XDECREF(path->text);
}

int count_of(PyObject *object, const char *name, uint64_t *count)
{
  PyObject *whole = NULL;
  if (PyFloat_Check(object)) {
    const double value = PyFloat_AsDouble(object);
    if (value >= 0 && value <= 0x1p63 && value == (double)(uint64_t)value)
      whole = PyLong_FromDouble(value);
    else
      PyErr_Format(PyExc_ValueError, "%s: expected a whole number, found %R", name, object);
  } else {
    whole = PyNumber_Index(object);
  }
  if (!whole)
    return -1;
  *count = PyLong_AsUnsignedLongLong(whole);
  Py_DECREF(whole);
  return *count == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

/* Finds the bits per key that a filter will have after rounding, by making a filter without
 * keys. */
static lanebloom_status find_used_bits(lanebloom_format format, double bits, double *used)
{
  lanebloom_builder *builder;
  lanebloom_filter *filter = NULL;
  lanebloom_status status = lanebloom_builder_create(format, bits, 0, &builder);
  if (!status)
    status = lanebloom_builder_finish(builder, &filter);
  lanebloom_builder_free(builder);
  if (!status)
    *used = lanebloom_filter_bits_per_key(filter);
  lanebloom_filter_free(filter);
  return status;
}

/* Warns if the filter will have another number of bits per key than the caller gave. Returns -1 and
 * raises on an error. */
static int warn_of_bits(lanebloom_format format, const lanebloom_format_info *info, double bits)
{
  char text[128];
  double used = bits;
  const lanebloom_status status =
      info->rounds_bits ? find_used_bits(format, bits, &used) : LANEBLOOM_OK;
  if (status) {
    raise_status(status, NULL, NULL);
    return -1;
  }
  if (fabs(used - bits) <= 0.0005)
    return 0;
  snprintf(text, sizeof text, "bits_per_key: %s %s %.10g, found %.10g", info->name,
           bits > info->max_bits_per_key ? "uses at most" : "rounds it to", used, bits);
  return PyErr_WarnEx(PyExc_UserWarning, text, 1);
}

/* Checks that filters of this format can be built with this number of bits per key. If they cannot,
 * returns -1 and raises. */
static int check_bits(lanebloom_format format, double bits)
{
  char text[128];
  uint64_t nbytes;
  unsigned nprobes;
  lanebloom_format_info info = {0};
  const lanebloom_status unknown = lanebloom_format_describe(format, &info, sizeof info);
  if (unknown || !info.builds) {
    PyErr_Format(PyExc_ValueError, "format: %s can be read but not built: build rocksdb-local",
                 lanebloom_format_name(format));
    return -1;
  }
  if (lanebloom_plan_size(format, bits, 1, &nbytes, &nprobes) != LANEBLOOM_ERR_ARGUMENT)
    return warn_of_bits(format, &info, bits);
  snprintf(text, sizeof text, "bits_per_key: expected %s from %g on, found %g",
           info.rounds_bits ? "a number" : "a whole number", info.min_bits_per_key, bits);
  PyErr_SetString(PyExc_ValueError, text);
  return -1;
}

lanebloom_status create_builder(lanebloom_format format, const struct size_choice *choice,
                                uint64_t expected, lanebloom_builder **builder)
{
  return choice->rate > 0
             ? lanebloom_builder_create_for_rate(format, choice->rate, expected, builder)
             : lanebloom_builder_create(format, choice->bits_per_key, expected, builder);
}

int choose_size(lanebloom_format format, PyObject *bits_per_key, PyObject *rate, uint64_t n,
                struct size_choice *choice)
{
  *choice = (struct size_choice){.bits_per_key = 10};
  if (rate && rate != Py_None) {
    if (bits_per_key && bits_per_key != Py_None) {
      PyErr_SetString(PyExc_TypeError, "bits_per_key and rate: expected one of them, found both");
      return -1;
    }
    choice->rate = PyFloat_AsDouble(rate);
    if (choice->rate == -1 && PyErr_Occurred())
      return -1;
    const lanebloom_status status =
        lanebloom_plan_bits(format, choice->rate, n, &choice->bits_per_key);
    if (status == LANEBLOOM_ERR_ARGUMENT)
      PyErr_Format(PyExc_ValueError, "rate: expected a number between 0 and 1, found %R", rate);
    else if (status)
      raise_status(status, NULL, NULL);
    return status ? -1 : 0;
  }
  if (bits_per_key && bits_per_key != Py_None) {
    choice->bits_per_key = PyFloat_AsDouble(bits_per_key);
    if (choice->bits_per_key == -1 && PyErr_Occurred())
      return -1;
  }
  return check_bits(format, choice->bits_per_key);
}

/* ---- Functions ---- */

static PyObject *module_hash(PyObject *self, PyObject *args, PyObject *named)
{
  static char *names[] = {"keys", "format", NULL};
  const char *name = "rocksdb-local";
  PyObject *keys;
  lanebloom_format format;
  struct batch batch;
  (void)self;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|s", names, &keys, &name) ||
      find_format(name, &format) < 0 || batch_begin(&batch, keys, LANEBLOOM_BYTES) < 0)
    return NULL;
  PyObject *hashes = hash_batch(format, &batch);
  batch_end(&batch);
  return hashes;
}

static PyObject *module_formats(PyObject *self, PyObject *none)
{
  (void)self, (void)none;
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < lanebloom_format_count(); i++) {
    PyObject *name = PyUnicode_FromString(lanebloom_format_name(lanebloom_format_at(i)));
    if (!name || PyList_Append(list, name) < 0)
      Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *module_kernels(PyObject *self, PyObject *none)
{
  (void)self, (void)none;
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < lanebloom_kernel_count(); i++) {
    PyObject *name = PyUnicode_FromString(lanebloom_kernel_at(i));
    if (!name || PyList_Append(list, name) < 0)
      Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *module_use_kernel(PyObject *self, PyObject *arg)
{
  const char *name = NULL;
  (void)self;
  if (arg != Py_None && !(name = PyUnicode_AsUTF8AndSize(arg, NULL)))
    return NULL;
  const lanebloom_status status = lanebloom_kernel_use(name);
  if (status)
    return PyErr_Format(error_type, "%s: %R", lanebloom_status_text(status), arg);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"hash", (PyCFunction)(void (*)(void))module_hash, METH_VARARGS | METH_KEYWORDS,
     "hash($module, keys, format='rocksdb-local')\n--\n\n"
     "Hashes a batch of keys: numpy uint64 or uint32, one per row, or two for formats with hashes\n"
     "of 16 bytes; 0 where a row is null."},
    {"formats", module_formats, METH_NOARGS,
     "formats($module, /)\n--\n\nReturns the names of all filter formats."},
    {"kernels", module_kernels, METH_NOARGS,
     "kernels($module, /)\n--\n\nReturns the kernels that this CPU can run, the best one first."},
    {"use_kernel", module_use_kernel, METH_O,
     "use_kernel($module, name, /)\n--\n\nUses this kernel from now on, in all threads. If name is "
     "None, uses the best one."},
    {"parquet_find_files", parquet_find_files, METH_O,
     "parquet_find_files($module, folder, /)\n--\n\n"
     "Lists the Parquet files of a folder that are read, and those that are skipped."},
    {"parquet_open", parquet_open, METH_VARARGS,
     "parquet_open($module, path, column, bounds, hudi, /)\n--\n\n"
     "Opens a column of a Parquet file for the functions below: see lanebloom.parquet."},
    {"parquet_row_groups", parquet_row_groups, METH_VARARGS,
     "parquet_row_groups($module, file, keys, /)\n--\n\n"
     "Finds the row groups that may have any of the keys."},
    {"parquet_describe", parquet_describe, METH_O,
     "parquet_describe($module, file, /)\n--\n\n"
     "Returns the path of the column, the writer and the number of row groups."},
    {"parquet_chunk", parquet_chunk, METH_VARARGS,
     "parquet_chunk($module, file, row_group, /)\n--\n\n"
     "Returns whether a row group has bounds that are used, the number of its values according\n"
     "to its count of nulls, and its filter."},
    {"parquet_absent", parquet_absent, METH_VARARGS,
     "parquet_absent($module, file, row_group, keys, /)\n--\n\n"
     "Returns the indices of the keys that are reported as absent; no key may be null."},
    {0}};

static struct PyModuleDef module = {.m_base = PyModuleDef_HEAD_INIT,
                                    .m_name = "lanebloom._lanebloom",
                                    .m_size = -1,
                                    .m_methods = methods};

PyMODINIT_FUNC PyInit__lanebloom(void)
{
  PyObject *made = PyModule_Create(&module);
  if (!made)
    return NULL;
#ifdef Py_GIL_DISABLED
  PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
#endif
  error_type = PyErr_NewExceptionWithDoc(
      "lanebloom.Error", "Raised when an operation fails; the message is one sentence.",
      PyExc_ValueError, NULL);
  if (!error_type || PyModule_AddObjectRef(made, "Error", error_type) < 0 ||
      PyModule_AddStringConstant(made, "__version__", lanebloom_version()) < 0 ||
      filter_type_add(made) < 0 || builder_type_add(made) < 0 || database_type_add(made) < 0) {
    Py_DECREF(made);
    return NULL;
  }
  return made;
}
