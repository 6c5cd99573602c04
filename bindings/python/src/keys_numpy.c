/* Takes keys from arrays of numpy, including arrays of types that only numpy has.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

static bool is_true(PyObject *object, const char *name)
{
  PyObject *value = PyObject_GetAttrString(object, name);
  const bool is = value == Py_True;
  Py_XDECREF(value);
  PyErr_Clear();
  return is;
}

/* Makes a batch of an array of datetime64 (kind 'M') or timedelta64 (kind 'm'). NaT becomes a
 * null. */
static int begin_times(struct batch *batch, PyObject *keys, PyObject *dtype, char kind)
{
  static const char *const TIMES[] = {"s", "ms", "us", "ns"};
  static const char *const TYPES[2][4] = {{"tss:", "tsm:", "tsu:", "tsn:"},
                                          {"tDs", "tDm", "tDu", "tDn"}};
  int result = -1;
  if (!is_true(dtype, "isnative")) {
    PyErr_Format(PyExc_TypeError, "keys: expected this machine's byte order, found %S", dtype);
    return -1;
  }
  PyObject *numpy = PyImport_ImportModule("numpy");
  PyObject *data = numpy ? PyObject_CallMethod(numpy, "datetime_data", "O", dtype) : NULL;
  PyObject *view = data ? PyObject_CallMethod(keys, "view", "s", "int64") : NULL;
  const char *unit;
  int count;
  if (!view || !PyArg_ParseTuple(data, "si", &unit, &count) ||
      PyObject_GetBuffer(view, &batch->buffer, PyBUF_STRIDES) < 0 ||
      check_buffer(&batch->buffer) < 0)
    goto end;
  if (batch->buffer.itemsize != sizeof(int64_t)) {
    PyErr_Format(PyExc_TypeError, "keys: expected times of 8 bytes, found %zd bytes",
                 batch->buffer.itemsize);
    goto end;
  }
  const char *type = kind == 'M' && count == 1 && strcmp(unit, "D") == 0 ? "tdD" : NULL;
  for (size_t i = 0; i < 4; i++)
    if (count == 1 && strcmp(unit, TIMES[i]) == 0)
      type = TYPES[kind == 'm'][i];
  if (!type) {
    PyErr_Format(PyExc_TypeError,
                 "keys: expected days, seconds, or milli-, micro- or nanoseconds, found %S", dtype);
    goto end;
  }
  const size_t n = (size_t)batch->buffer.shape[0];
  const uint8_t *items = contiguous(batch);
  uint8_t *valid = PyMem_Calloc(n / 8 + 1, 1);
  int32_t *days = *type == 't' && type[1] == 'd' ? PyMem_Malloc(n * sizeof *days + 1) : NULL;
  batch->memory[0] = valid;
  batch->memory[2] = days;
  if (!items)
    goto end;
  if (!valid || (type[1] == 'd' && !days)) {
    PyErr_NoMemory();
    goto end;
  }
  for (size_t i = 0; i < n; i++) {
    int64_t value;
    memcpy(&value, items + i * sizeof value, sizeof value);
    if (value != INT64_MIN)
      valid[i / 8] |= (uint8_t)(1 << i % 8);
    if (days && value != INT64_MIN && (value < INT32_MIN || value > INT32_MAX)) {
      PyErr_Format(PyExc_OverflowError, "keys: expected days of 32 bits, found day %lld",
                   (long long)value);
      goto end;
    }
    if (days)
      days[i] = (int32_t)value;
  }
  set_schema(batch, type);
  result = set_array(batch, n, valid, days ? (const void *)days : items, NULL);
end:
  Py_XDECREF(view);
  Py_XDECREF(data);
  Py_XDECREF(numpy);
  return result;
}

/* If the mask of a numpy.ma.MaskedArray marks a row, makes this row of the batch null. */
static int hide_masked(struct batch *batch, PyObject *keys)
{
  Py_buffer mask;
  PyObject *ma = PyImport_ImportModule("numpy.ma");
  PyObject *array = ma ? PyObject_CallMethod(ma, "getmaskarray", "O", keys) : NULL;
  int result = array ? PyObject_GetBuffer(array, &mask, PyBUF_STRIDES) : -1;
  if (result == 0 && (mask.ndim != 1 || mask.itemsize != 1 || (size_t)mask.shape[0] != batch->n)) {
    PyErr_Format(PyExc_ValueError, "keys: expected a mask of %zu booleans, found a different one",
                 batch->n);
    PyBuffer_Release(&mask);
    result = -1;
  }
  if (result == 0) {
    struct ArrowArray *made = batch->arrays[0];
    const uint8_t *before = made->buffers[0];
    uint8_t *valid = PyMem_Calloc(batch->n / 8 + 1, 1);
    batch->memory[3] = valid;
    for (size_t i = 0; valid && i < batch->n; i++) {
      const bool was = !before || (before[i / 8] >> i % 8 & 1);
      if (was && !((const char *)mask.buf)[(Py_ssize_t)i * mask.strides[0]])
        valid[i / 8] |= (uint8_t)(1 << i % 8);
    }
    if (valid) {
      made->buffers[0] = valid;
      made->null_count = -1;
    } else {
      PyErr_NoMemory();
      result = -1;
    }
    PyBuffer_Release(&mask);
  }
  Py_XDECREF(array);
  Py_XDECREF(ma);
  return result;
}

/* Returns the letter of the kind of a numpy type ('i', 'S', 'M', 'O', ...), or 0 if the object is
 * no numpy type. */
static char numpy_kind(PyObject *dtype)
{
  PyObject *kind = PyObject_GetAttrString(dtype, "kind");
  const char *text = kind && PyUnicode_Check(kind) ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
  const char letter = text && text[0] && !text[1] ? text[0] : 0;
  Py_XDECREF(kind);
  PyErr_Clear();
  return letter;
}

int begin_numpy(struct batch *batch, PyObject *keys, lanebloom_encoding wanted)
{
  PyObject *dtype = PyObject_GetAttrString(keys, "dtype");
  if (!dtype)
    return -1;
  const char kind = numpy_kind(dtype);
  int result = -1;
  if (kind == 'M' || kind == 'm') {
    result = begin_times(batch, keys, dtype, kind);
  } else if (kind == 'U' || kind == 'O' || kind == 'T') {
    PyObject *list = PyObject_CallMethod(keys, "tolist", NULL);
    if (list && PyList_Check(list))
      result = begin_sequence(batch, list, wanted);
    else if (list)
      PyErr_SetString(PyExc_ValueError, "keys: expected one dimension, found 0");
    Py_XDECREF(list);
  } else {
    result = begin_buffer(batch, keys);
  }
  if (result == 0 && batch->narrays == 1 && is_instance_of(keys, "numpy.ma", "MaskedArray"))
    result = hide_masked(batch, keys);
  Py_XDECREF(dtype);
  return result;
}

int check_array(PyObject *keys, PyObject *array)
{
  if (!has(array, "__array_interface__")) {
    PyErr_Format(PyExc_TypeError, "__array__: expected an array of numpy, found %R",
                 (PyObject *)Py_TYPE(array));
    return -1;
  }
  PyObject *of_keys = PyObject_GetAttrString(keys, "dtype");
  PyErr_Clear();
  PyObject *of_array = PyObject_GetAttrString(array, "dtype");
  const char kind = of_array ? numpy_kind(of_array) : 0;
  const bool is_lost =
      of_keys && !is_instance_of(of_keys, "numpy", "dtype") && kind && strchr("iufb", kind);
  if (is_lost)
    PyErr_Format(PyExc_TypeError,
                 "keys: expected a type of numpy, found %S: pass a pandas.Series, with pyarrow "
                 "installed",
                 of_keys);
  Py_XDECREF(of_array);
  Py_XDECREF(of_keys);
  return is_lost || !of_array ? -1 : 0;
}
