/* Takes keys from Python's buffers, such as arrays of numbers of numpy.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "keys.h"

/* Returns Arrow's type for items of this size and format, or NULL if there is none. `format` is in
 * the notation of Python's buffers. */
static const char *arrow_of(const char *format, Py_ssize_t size)
{
  static const char *const SIGNED[] = {[1] = "c", [2] = "s", [4] = "i", [8] = "l"};
  static const char *const UNSIGNED[] = {[1] = "C", [2] = "S", [4] = "I", [8] = "L"};
  const int little = 1;
  const char *others = *(const char *)&little ? ">!" : "<"; /* "!" is big-endian */
  if (*format && strchr(others, *format) && size > 1)
    return NULL;
  if (*format && strchr("@=<>!", *format))
    format++;
  if (!*format || format[1] || size > 8)
    return NULL;
  if (strchr("bhilqn", *format))
    return SIGNED[size];
  if (strchr("BHILQN", *format))
    return UNSIGNED[size];
  return *format == 'f' && size == 4 ? "f" : *format == 'd' && size == 8 ? "g" : NULL;
}

/* Returns true if the format is a count and the letter `kind`, which stand for bytes of a fixed
 * width. The kind is 's' for numpy's type S, whose items do not include trailing zeros, and 'x' for
 * numpy's type V. */
static bool is_bytes_format(const char *format, char kind)
{
  while (*format >= '0' && *format <= '9')
    format++;
  return *format == kind && !format[1];
}

int check_buffer(const Py_buffer *buffer)
{
  if (buffer->ndim != 1) {
    PyErr_Format(PyExc_ValueError, "keys: expected one dimension, found %d", buffer->ndim);
    return -1;
  }
  size_t nbytes;
  if (__builtin_mul_overflow((size_t)buffer->shape[0], (size_t)buffer->itemsize, &nbytes) ||
      nbytes > PTRDIFF_MAX / 2) {
    PyErr_Format(PyExc_ValueError,
                 "keys: expected an array that fits in memory, found %zd items of %zd bytes",
                 buffer->shape[0], buffer->itemsize);
    return -1;
  }
  return check_count((uint64_t)buffer->shape[0]);
}

const uint8_t *contiguous(struct batch *batch)
{
  const Py_buffer *buffer = &batch->buffer;
  const size_t n = (size_t)buffer->shape[0], size = (size_t)buffer->itemsize;
  if (!buffer->strides || buffer->strides[0] == buffer->itemsize || n < 2)
    return buffer->buf;
  uint8_t *copy = PyMem_Malloc(n * size + 1);
  batch->memory[1] = copy;
  if (!copy) {
    PyErr_NoMemory();
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    memcpy(copy + i * size, (const char *)buffer->buf + (Py_ssize_t)i * buffer->strides[0], size);
  return copy;
}

/* Makes a batch of items without the zeros at their ends, because numpy does not return these zeros
 * either. */
static int begin_padded(struct batch *batch, const uint8_t *items, size_t n, size_t size)
{
  int64_t *offsets = PyMem_Malloc((n + 1) * sizeof *offsets);
  uint8_t *bytes = PyMem_Malloc(n * size + 1);
  batch->memory[0] = offsets;
  batch->memory[2] = bytes;
  if (!offsets || !bytes) {
    PyErr_NoMemory();
    return -1;
  }
  int64_t end = 0;
  for (size_t i = 0; i < n; i++) {
    size_t nbytes = size;
    while (nbytes > 0 && !items[i * size + nbytes - 1])
      nbytes--;
    offsets[i] = end;
    memcpy(bytes + end, items + i * size, nbytes);
    end += (int64_t)nbytes;
  }
  offsets[n] = end;
  set_schema(batch, "Z");
  return set_array(batch, n, NULL, offsets, bytes);
}

int begin_buffer(struct batch *batch, PyObject *keys)
{
  if (PyObject_GetBuffer(keys, &batch->buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
    return -1;
  const Py_buffer *buffer = &batch->buffer;
  if (check_buffer(buffer) < 0)
    return -1;
  const char *format = buffer->format ? buffer->format : "B";
  const char *type = arrow_of(format, buffer->itemsize);
  const bool is_padded = is_bytes_format(format, 's'), is_raw = is_bytes_format(format, 'x');
  if (!type && !is_padded && !is_raw) {
    PyErr_Format(PyExc_TypeError,
                 "keys: expected integers, floats or bytes in this machine's byte order, found "
                 "items of format \"%s\"",
                 format);
    return -1;
  }
  const uint8_t *items = contiguous(batch);
  if (!items)
    return -1;
  const size_t n = (size_t)buffer->shape[0];
  if (is_padded)
    return begin_padded(batch, items, n, (size_t)buffer->itemsize);
  if (is_raw) {
    snprintf(batch->format, sizeof batch->format, "w:%zd", buffer->itemsize);
    type = batch->format;
  }
  set_schema(batch, type);
  return set_array(batch, n, NULL, items, NULL);
}
