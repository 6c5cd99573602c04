/* Screens and hashes batches, and makes the results, which are mostly arrays of numpy.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "module.h"

PyObject *numpy_empty(size_t n, const char *type, Py_buffer *buffer)
{
  PyObject *numpy = PyImport_ImportModule("numpy");
  PyObject *array = numpy ? PyObject_CallMethod(numpy, "empty", "ns", (Py_ssize_t)n, type) : NULL;
  Py_XDECREF(numpy);
  if (array && PyObject_GetBuffer(array, buffer, PyBUF_WRITABLE) < 0)
    Py_CLEAR(array);
  return array;
}

/* Fills a mask of one byte per row: 1 if the row may be in the filter, otherwise 0. Releases the
 * interpreter's lock meanwhile. */
static lanebloom_status fill_mask(const lanebloom_filter *filter, const struct batch *batch,
                                  uint8_t *mask, size_t *count, char problem[PROBLEM_NBYTES])
{
  lanebloom_status status = LANEBLOOM_OK;
  size_t row = 0;
  *count = 0;
  Py_BEGIN_ALLOW_THREADS
  for (size_t i = 0; i < batch->narrays && !status; i++) {
    size_t more = 0;
    status = lanebloom_filter_mask_arrow(filter, batch->schema, batch->arrays[i], mask + row, &more,
                                         problem, PROBLEM_NBYTES);
    if (!status)
      row += (size_t)batch->arrays[i]->length;
    *count += more;
  }
  Py_END_ALLOW_THREADS
  return status;
}

PyObject *screen_to_mask(const lanebloom_filter *filter, const struct batch *batch)
{
  char problem[PROBLEM_NBYTES];
  Py_buffer buffer;
  size_t count;
  PyObject *array = numpy_empty(batch->n, "bool", &buffer);
  if (!array)
    return NULL;
  const lanebloom_status status = fill_mask(filter, batch, buffer.buf, &count, problem);
  PyBuffer_Release(&buffer);
  if (!status)
    return array;
  Py_DECREF(array);
  return raise_keys(status, problem);
}

PyObject *screen_to_count(const lanebloom_filter *filter, const struct batch *batch)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_status status = LANEBLOOM_OK;
  size_t count = 0;
  Py_BEGIN_ALLOW_THREADS
  for (size_t i = 0; i < batch->narrays && !status; i++) {
    size_t more = 0;
    status = lanebloom_filter_screen_arrow(filter, batch->schema, batch->arrays[i], NULL, &more,
                                           problem, sizeof problem);
    count += more;
  }
  Py_END_ALLOW_THREADS
  return status ? raise_keys(status, problem) : PyLong_FromSize_t(count);
}

/* Returns a mask, which the caller frees. Returns NULL and raises on an error. */
static uint8_t *mask_of(const lanebloom_filter *filter, const struct batch *batch, size_t *count)
{
  char problem[PROBLEM_NBYTES];
  uint8_t *mask = malloc(batch->n + 1);
  if (!mask) {
    PyErr_NoMemory();
    return NULL;
  }
  const lanebloom_status status = fill_mask(filter, batch, mask, count, problem);
  if (!status)
    return mask;
  raise_keys(status, problem);
  free(mask);
  return NULL;
}

PyObject *screen_to_bitmap(const lanebloom_filter *filter, const struct batch *batch)
{
  char problem[PROBLEM_NBYTES];
  Py_buffer buffer;
  size_t count;
  PyObject *array = numpy_empty((batch->n + 7) / 8, "uint8", &buffer);
  if (!array)
    return NULL;
  uint8_t *const bits = buffer.buf;
  bool is_done = true;
  if (batch->narrays == 1) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_filter_screen_arrow(filter, batch->schema, batch->arrays[0], bits, &count,
                                           problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status) {
      raise_keys(status, problem);
      is_done = false;
    }
  } else { /* a later array may begin in the middle of a byte */
    uint8_t *mask = mask_of(filter, batch, &count);
    is_done = mask;
    memset(bits, 0, (batch->n + 7) / 8);
    for (size_t i = 0; mask && i < batch->n; i++)
      bits[i / 8] |= (uint8_t)(mask[i] << i % 8);
    free(mask);
  }
  PyBuffer_Release(&buffer);
  if (!is_done)
    Py_CLEAR(array);
  return array;
}

PyObject *screen_to_rows(const lanebloom_filter *filter, const struct batch *batch)
{
  Py_buffer buffer;
  size_t count;
  uint8_t *mask = mask_of(filter, batch, &count);
  PyObject *array = mask ? numpy_empty(count, "int64", &buffer) : NULL;
  if (array) {
    int64_t *rows = buffer.buf;
    for (size_t i = 0, n = 0; n < count; i++)
      if (mask[i])
        rows[n++] = (int64_t)i;
    PyBuffer_Release(&buffer);
  }
  free(mask);
  return array;
}

PyObject *hash_batch(lanebloom_format format, const struct batch *batch)
{
  char problem[PROBLEM_NBYTES];
  Py_buffer buffer;
  const size_t size = lanebloom_format_hash_size(format);
  if (size == 0)
    return PyErr_Format(PyExc_ValueError, "format: %s has no hash of its own",
                        lanebloom_format_name(format));
  const size_t nnumbers = size > sizeof(uint64_t) ? size / sizeof(uint64_t) : 1;
  PyObject *array =
      numpy_empty(batch->n * nnumbers, size == sizeof(uint32_t) ? "uint32" : "uint64", &buffer);
  if (!array)
    return NULL;
  lanebloom_status status = LANEBLOOM_OK;
  size_t row = 0;
  Py_BEGIN_ALLOW_THREADS
  for (size_t i = 0; i < batch->narrays && !status; i++) {
    status = lanebloom_hash_arrow(format, batch->schema, batch->arrays[i],
                                  (uint8_t *)buffer.buf + row * size, problem, sizeof problem);
    row += (size_t)batch->arrays[i]->length;
  }
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&buffer);
  PyObject *hashes = NULL;
  if (status)
    raise_keys(status, problem);
  else if (nnumbers == 1)
    return array;
  else /* a row of two numbers for each key */
    hashes =
        PyObject_CallMethod(array, "reshape", "nn", (Py_ssize_t)batch->n, (Py_ssize_t)nnumbers);
  Py_DECREF(array);
  return hashes;
}
