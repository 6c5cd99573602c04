/* Converts the keys that Python programs pass to arrays of the Arrow C data interface. Arrow's
 * capsules are used without a copy, and so are most buffers whose items are side by side. Other
 * sequences are copied.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

static int begin_any(struct batch *batch, PyObject *keys, lanebloom_encoding wanted)
{
  if (PyUnicode_Check(keys) || PyBytes_Check(keys) || PyByteArray_Check(keys)) {
    PyErr_Format(PyExc_TypeError, "keys: expected a batch of keys, found one %S: put it in a list",
                 (PyObject *)Py_TYPE(keys));
    return -1;
  }
  if (has((PyObject *)Py_TYPE(keys), "columns")) {
    PyObject *name = PyType_GetName(Py_TYPE(keys));
    if (name)
      PyErr_Format(PyExc_TypeError,
                   "keys: expected one column, found a whole %S: pass df[\"column\"]", name);
    Py_XDECREF(name);
    return -1;
  }
  if (is_filter(keys)) {
    PyErr_SetString(PyExc_TypeError, "keys: expected a batch of keys, found a filter");
    return -1;
  }
  if (PyList_Check(keys) || PyTuple_Check(keys))
    return begin_sequence(batch, keys, wanted);
  if (has(keys, "__arrow_c_array__"))
    return begin_capsules(batch, keys);
  if (has(keys, "__arrow_c_stream__")) {
    if (begin_stream(batch, keys) == 0)
      return 0;
    if (!PyErr_ExceptionMatches(PyExc_ImportError) || !has(keys, "__array__"))
      return -1;
    PyErr_Clear(); /* this is pandas without pyarrow: use __array__ instead */
    Py_CLEAR(batch->owner);
  }
  if (has(keys, "__array_interface__"))
    return begin_numpy(batch, keys, wanted);
  if (PyObject_CheckBuffer(keys))
    return begin_buffer(batch, keys);
  if (has(keys, "__array__")) {
    if (Py_EnterRecursiveCall(" in __array__"))
      return -1;
    PyObject *array = PyObject_CallMethod(keys, "__array__", NULL);
    const int result =
        array && check_array(keys, array) == 0 ? begin_any(batch, array, wanted) : -1;
    Py_XDECREF(array); /* if the batch borrows the array, a buffer of the batch holds a reference to
                        * it */
    Py_LeaveRecursiveCall();
    return result;
  }
  return begin_sequence(batch, keys, wanted);
}

int batch_begin(struct batch *batch, PyObject *keys, lanebloom_encoding wanted)
{
  *batch = (struct batch){0};
  int result = begin_any(batch, keys, wanted);
  if (result == 0 && batch->schema->format && strcmp(batch->schema->format, "n") == 0) {
    const size_t n = batch->n;
    batch_end(batch);
    result = begin_nulls(batch, n, wanted);
  }
  if (result < 0)
    batch_end(batch);
  return result;
}
