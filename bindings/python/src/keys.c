/* Converts the keys that Python programs pass to arrays of the Arrow C data interface. Arrow's
 * capsules are used without a copy, and so are most buffers whose items are side by side. Other
 * sequences are copied.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "module.h"

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

/* ---- Arrays of our own ---- */

/* Releasing an array or a schema of our own frees nothing, because the batch owns the memory. */
static void release_array(struct ArrowArray *array)
{
  array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
  schema->release = NULL;
}

static void set_schema(struct batch *batch, const char *format)
{
  batch->own_schema = (struct ArrowSchema){.format = format, .name = "", .release = release_schema};
  batch->schema = &batch->own_schema;
}

/* Sets the metadata that mark values of 16 bytes as UUIDs. They are the number of pairs, which is
 * 1, and a pair of strings, each after its length. */
static void mark_uuid(struct batch *batch)
{
  static const char name[] = "ARROW:extension:name", value[] = "arrow.uuid";
  const int32_t one = 1, nname = sizeof name - 1, nvalue = sizeof value - 1;
  char *at = batch->metadata;
  memcpy(at, &one, 4);
  memcpy(at + 4, &nname, 4);
  memcpy(at + 8, name, sizeof name - 1);
  memcpy(at + 8 + nname, &nvalue, 4);
  memcpy(at + 12 + nname, value, sizeof value - 1);
  batch->own_schema.metadata = batch->metadata;
}

/* Sets the batch's only array, which has n rows. validity: a bitmap, or NULL if no row is null.
 * first and second: the other buffers of Arrow's type; second is NULL if the type has only one
 * other. */
static int set_array(struct batch *batch, size_t n, const void *validity, const void *first,
                     const void *second)
{
  struct own {
    struct ArrowArray array;
    struct ArrowArray *list[1];
    const void *buffers[3];
  } *own = PyMem_Calloc(1, sizeof *own);
  if (!own) {
    PyErr_NoMemory();
    return -1;
  }
  own->buffers[0] = validity;
  own->buffers[1] = first;
  own->buffers[2] = second;
  own->array = (struct ArrowArray){.length = (int64_t)n,
                                   .null_count = validity ? -1 : 0,
                                   .n_buffers = second ? 3 : 2,
                                   .buffers = own->buffers,
                                   .release = release_array};
  own->list[0] = &own->array;
  batch->own_arrays = &own->array;
  batch->arrays = own->list;
  batch->narrays = 1;
  batch->n = n;
  return 0;
}

/* Refuses more rows than memory can hold, because computed sizes would wrap. */
static int check_count(uint64_t n)
{
  if (n <= PTRDIFF_MAX / 64)
    return 0;
  PyErr_Format(PyExc_ValueError, "keys: expected at most %zd rows, found %llu",
               (Py_ssize_t)(PTRDIFF_MAX / 64), (unsigned long long)n);
  return -1;
}

/* ---- Capsules ---- */

static int begin_capsules(struct batch *batch, PyObject *keys)
{
  PyObject *pair = PyObject_CallMethod(keys, "__arrow_c_array__", NULL);
  if (!pair)
    return -1;
  batch->owner = pair;
  PyObject *schema =
      PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? PyTuple_GetItem(pair, 0) : NULL;
  if (!schema) {
    PyErr_SetString(PyExc_TypeError, "__arrow_c_array__: expected a pair of capsules");
    return -1;
  }
  struct ArrowArray **list = PyMem_Calloc(1, sizeof *list);
  if (!list) {
    PyErr_NoMemory();
    return -1;
  }
  batch->memory[0] = list;
  batch->arrays = list;
  batch->schema = PyCapsule_GetPointer(schema, "arrow_schema");
  list[0] = batch->schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
  if (!list[0])
    return -1;
  batch->narrays = 1;
  batch->n = list[0]->length > 0 ? (size_t)list[0]->length : 0;
  return check_count(batch->n);
}

static int raise_stream(struct ArrowArrayStream *stream, int error)
{
  const char *text = stream->get_last_error(stream);
  PyErr_Format(PyExc_ValueError, "Arrow stream: %s", text ? text : strerror(error));
  return -1;
}

/* Takes all arrays of a stream. Most streams do not copy: their arrays share the memory of the
 * object that made the stream. */
static int begin_stream(struct batch *batch, PyObject *keys)
{
  batch->owner = PyObject_CallMethod(keys, "__arrow_c_stream__", NULL);
  if (!batch->owner)
    return -1;
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(batch->owner, "arrow_array_stream");
  if (!stream)
    return -1;
  int error = stream->get_schema(stream, &batch->own_schema);
  if (error)
    return raise_stream(stream, error);
  batch->schema = &batch->own_schema;
  size_t room = 0;
  struct ArrowArray *arrays = NULL;
  for (;;) {
    if (batch->narrays == room) {
      room = room ? 2 * room : 16;
      arrays = PyMem_Realloc(batch->own_arrays, room * sizeof *arrays);
      if (!arrays) {
        PyErr_NoMemory();
        return -1;
      }
      batch->own_arrays = arrays;
    }
    struct ArrowArray *next = &batch->own_arrays[batch->narrays];
    memset(next, 0, sizeof *next);
    error = stream->get_next(stream, next);
    if (error)
      return raise_stream(stream, error);
    if (!next->release)
      break;
    batch->narrays++;
    batch->n += next->length > 0 ? (size_t)next->length : 0;
    if (check_count(batch->n) < 0 || PyErr_CheckSignals() < 0)
      return -1;
  }
  batch->arrays = PyMem_Calloc(batch->narrays + 1, sizeof *batch->arrays);
  batch->memory[0] = batch->arrays;
  if (!batch->arrays) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < batch->narrays; i++)
    batch->arrays[i] = &batch->own_arrays[i];
  return 0;
}

/* ---- Buffers ---- */

/* Returns Arrow's type for items of this format (of Python's buffers) and size, or NULL if there is
 * none. */
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

/* Returns true if the format is a count and this kind, which stands for bytes of a fixed width. The
 * kind is 's' for numpy's type S, whose items do not include trailing zeros, and 'x' for numpy's
 * type V. */
static bool is_bytes_format(const char *format, char kind)
{
  while (*format >= '0' && *format <= '9')
    format++;
  return *format == kind && !format[1];
}

/* Checks that the buffer of keys has one dimension, and that its items fit in memory. Returns -1
 * and raises if not. */
static int check_buffer(const Py_buffer *buffer)
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

/* Returns the items of the buffer side by side, as a copy if they are not side by side already. */
static const uint8_t *contiguous(struct batch *batch)
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

static int begin_buffer(struct batch *batch, PyObject *keys)
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

/* ---- Types that only numpy has ---- */

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

/* Makes those rows of the batch null that the mask of a numpy.ma.MaskedArray marks. */
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

/* ---- Sequences ---- */

enum item { NO_ITEM, TEXT, BYTES, INTEGER, UUID };

static bool is_instance_of(PyObject *object, const char *module, const char *type)
{
  PyObject *imported = PyImport_ImportModule(module);
  PyObject *class = imported ? PyObject_GetAttrString(imported, type) : NULL;
  const int is = class ? PyObject_IsInstance(object, class) : 0;
  Py_XDECREF(class);
  Py_XDECREF(imported);
  PyErr_Clear();
  return is > 0;
}

/* Returns true if the object stands for a missing value: None, NaN, or pandas' NA or NaT. */
static bool is_missing(PyObject *object)
{
  if (object == Py_None)
    return true;
  if (PyFloat_Check(object)) {
    const double value = PyFloat_AsDouble(object);
    return value != value;
  }
  const char *name = NULL;
  PyObject *text = PyType_GetName(Py_TYPE(object));
  if (text)
    name = PyUnicode_AsUTF8AndSize(text, NULL);
  const bool is = name && (strcmp(name, "NAType") == 0 || strcmp(name, "NaTType") == 0);
  Py_XDECREF(text);
  PyErr_Clear();
  return is;
}

static enum item item_of(PyObject *object)
{
  if (object == Py_None)
    return NO_ITEM;
  if (PyUnicode_CheckExact(object) || PyUnicode_Check(object))
    return TEXT;
  if (PyBytes_Check(object))
    return BYTES;
  if (PyBool_Check(object))
    return NO_ITEM;
  if (PyLong_Check(object) || PyIndex_Check(object))
    return INTEGER;
  return is_instance_of(object, "uuid", "UUID") ? UUID : NO_ITEM;
}

static int raise_item(PyObject *object, Py_ssize_t i)
{
  PyErr_Format(PyExc_TypeError, "key %zd: expected str, bytes, int, uuid.UUID or None, found %R", i,
               (PyObject *)Py_TYPE(object));
  return -1;
}

/* A growing array of bytes. */
struct pool {
  char *bytes;
  size_t nbytes, room;
};

static inline bool pool_add(struct pool *pool, const char *bytes, size_t nbytes)
{
  if (!pool->bytes || nbytes > pool->room - pool->nbytes) {
    const size_t room = 2 * (pool->nbytes + nbytes) + 64;
    char *larger = PyMem_Realloc(pool->bytes, room);
    if (!larger)
      return false;
    pool->bytes = larger;
    pool->room = room;
  }
  memcpy(pool->bytes + pool->nbytes, bytes, nbytes);
  pool->nbytes += nbytes;
  return true;
}

/* The state of copying a sequence. */
struct copier {
  PyObject *items; /* a tuple: Python code that runs for an item cannot change it */
  Py_ssize_t n;
  enum item kind;
  uint8_t *valid; /* a bitmap of rows, where the bits of nulls are 0 */
  Py_ssize_t nnull;
};

/* Checks that item i is null or of the same kind as the items before. Returns 0 for a null, which
 * is recorded, otherwise 1. Returns -1 and raises on an error. */
static int copier_check(struct copier *copier, PyObject *object, Py_ssize_t i)
{
  const enum item kind = item_of(object);
  if (kind == NO_ITEM) {
    if (!is_missing(object))
      return raise_item(object, i);
    copier->valid[i / 8] &= (uint8_t) ~(1 << i % 8);
    copier->nnull++;
    return 0;
  }
  if (!copier->kind)
    copier->kind = kind;
  if (kind != copier->kind) {
    static const char *const NAMES[] = {"", "str", "bytes", "int", "uuid.UUID"};
    PyErr_Format(PyExc_TypeError, "key %zd: expected %s like the keys before it, found %s", i,
                 NAMES[copier->kind], NAMES[kind]);
    return -1;
  }
  return 1;
}

static int copy_strings(struct batch *batch, struct copier *copier)
{
  struct pool pool = {0};
  int64_t *offsets = PyMem_Malloc(((size_t)copier->n + 1) * sizeof *offsets);
  batch->memory[1] = offsets;
  if (!offsets || !pool_add(&pool, "", 0)) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < copier->n; i++) {
    PyObject *object = PyTuple_GetItem(copier->items, i);
    const char *bytes = "";
    Py_ssize_t nbytes = 0;
    offsets[i] = (int64_t)pool.nbytes;
    if (!object)
      goto fail;
    const int found = copier_check(copier, object, i);
    if (found < 0)
      goto fail;
    if (found == 0)
      continue;
    if (copier->kind == TEXT)
      bytes = PyUnicode_AsUTF8AndSize(object, &nbytes);
    else if (PyBytes_AsStringAndSize(object, (char **)&bytes, &nbytes) < 0)
      bytes = NULL;
    if (!bytes)
      goto fail;
    if (!pool_add(&pool, bytes, (size_t)nbytes)) {
      PyErr_NoMemory();
      goto fail;
    }
  }
  offsets[copier->n] = (int64_t)pool.nbytes;
  batch->memory[2] = pool.bytes;
  set_schema(batch, copier->kind == BYTES ? "Z" : "U");
  return set_array(batch, (size_t)copier->n, copier->nnull ? copier->valid : NULL, offsets,
                   pool.bytes);
fail:
  PyMem_Free(pool.bytes);
  return -1;
}

static int copy_integer(PyObject *object, lanebloom_encoding wanted, uint8_t *to)
{
  const bool is_signed = wanted != LANEBLOOM_UINT32 && wanted != LANEBLOOM_UINT64;
  const bool is_short = wanted == LANEBLOOM_INT32 || wanted == LANEBLOOM_UINT32;
  PyObject *whole = PyNumber_Index(object);
  if (!whole)
    return -1;
  const int64_t value =
      is_signed ? PyLong_AsLongLong(whole) : (int64_t)PyLong_AsUnsignedLongLong(whole);
  Py_DECREF(whole);
  bool fits = !(value == -1 && PyErr_Occurred());
  if (fits && is_short)
    fits = is_signed ? value == (int32_t)value : (uint64_t)value <= UINT32_MAX;
  if (!fits) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "key: expected %s, found %R", lanebloom_encoding_name(wanted),
                 object);
    return -1;
  }
  const int32_t narrow = (int32_t)value;
  if (is_short)
    memcpy(to, &narrow, sizeof narrow);
  else
    memcpy(to, &value, sizeof value);
  return 0;
}

static int copy_uuid(PyObject *object, uint8_t *to)
{
  PyObject *bytes = PyObject_GetAttrString(object, "bytes");
  if (!bytes)
    return -1;
  const bool is_right = PyBytes_Check(bytes) && PyBytes_Size(bytes) == 16;
  if (is_right)
    memcpy(to, PyBytes_AsString(bytes), 16);
  else if (PyBytes_Check(bytes))
    PyErr_Format(PyExc_ValueError, "key: expected a uuid.UUID of 16 bytes, found one of %zd",
                 PyBytes_Size(bytes));
  else
    PyErr_Format(PyExc_ValueError, "key: expected a uuid.UUID of 16 bytes, found one of %R",
                 (PyObject *)Py_TYPE(bytes));
  Py_DECREF(bytes);
  return is_right ? 0 : -1;
}

/* Makes a batch of a sequence of integers or UUIDs. */
static int copy_fixed(struct batch *batch, struct copier *copier, lanebloom_encoding wanted)
{
  const char *type = "l";
  size_t width = 8;
  if (copier->kind == UUID)
    type = "w:16", width = 16;
  else if (wanted == LANEBLOOM_INT32 || wanted == LANEBLOOM_UINT32)
    type = wanted == LANEBLOOM_INT32 ? "i" : "I", width = 4;
  else if (wanted == LANEBLOOM_UINT64)
    type = "L";
  else
    wanted = LANEBLOOM_INT64;
  uint8_t *values = PyMem_Calloc((size_t)copier->n + 1, width);
  batch->memory[1] = values;
  if (!values) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < copier->n; i++) {
    PyObject *object = PyTuple_GetItem(copier->items, i);
    const int found = object ? copier_check(copier, object, i) : -1;
    if (found < 0)
      return -1;
    uint8_t *to = values + (size_t)i * width;
    if (found &&
        (copier->kind == UUID ? copy_uuid(object, to) : copy_integer(object, wanted, to)) < 0)
      return -1;
  }
  set_schema(batch, type);
  if (copier->kind == UUID)
    mark_uuid(batch);
  return set_array(batch, (size_t)copier->n, copier->nnull ? copier->valid : NULL, values, NULL);
}

/* Makes a batch of n rows that are all null. Their type is one that has the wanted encoding. */
static int begin_nulls(struct batch *batch, size_t n, lanebloom_encoding wanted)
{
  static const char *const TYPES[] = {
      [LANEBLOOM_INT32] = "i",           [LANEBLOOM_INT64] = "l",
      [LANEBLOOM_UINT32] = "I",          [LANEBLOOM_UINT64] = "L",
      [LANEBLOOM_FLOAT32] = "f",         [LANEBLOOM_FLOAT64] = "g",
      [LANEBLOOM_DATE32] = "tdD",        [LANEBLOOM_TIMESTAMP_S] = "tss:",
      [LANEBLOOM_TIMESTAMP_MS] = "tsm:", [LANEBLOOM_TIMESTAMP_US] = "tsu:",
      [LANEBLOOM_TIMESTAMP_NS] = "tsn:", [LANEBLOOM_DECIMAL128] = "d:38,0",
      [LANEBLOOM_UUID] = NULL,
  };
  enum { MAX_NBYTES = 16 }; /* bytes of the widest value */
  uint8_t *valid = PyMem_Calloc(n / 8 + 1, 1), *values = PyMem_Calloc(n + 1, MAX_NBYTES);
  PyMem_Free(batch->memory[0]);
  batch->memory[0] = valid;
  batch->memory[1] = values;
  if (!valid || !values) {
    PyErr_NoMemory();
    return -1;
  }
  set_schema(batch, TYPES[wanted] ? TYPES[wanted] : "w:1"); /* bytes fit HEX, BASE64 and UUID */
  batch->is_untyped = true;
  return set_array(batch, n, valid, values, NULL);
}

/* Makes a batch of any iterable. */
static int begin_sequence(struct batch *batch, PyObject *keys, lanebloom_encoding wanted)
{
  batch->owner = PySequence_Tuple(keys);
  if (!batch->owner)
    return -1;
  struct copier copier = {.items = batch->owner, .n = PyTuple_Size(batch->owner)};
  copier.valid = PyMem_Malloc((size_t)copier.n / 8 + 1);
  batch->memory[0] = copier.valid;
  if (!copier.valid) {
    PyErr_NoMemory();
    return -1;
  }
  memset(copier.valid, 0xff, (size_t)copier.n / 8 + 1);
  enum item first = NO_ITEM; /* the kind of the first item that is not null */
  for (Py_ssize_t i = 0; i < copier.n && first == NO_ITEM; i++) {
    PyObject *object = PyTuple_GetItem(copier.items, i);
    first = object ? item_of(object) : NO_ITEM;
    if (first == NO_ITEM && object && !is_missing(object))
      return raise_item(object, i);
  }
  if (first == NO_ITEM)
    return begin_nulls(batch, (size_t)copier.n, wanted);
  copier.kind = first;
  if (first == INTEGER || first == UUID)
    return copy_fixed(batch, &copier, wanted);
  return copy_strings(batch, &copier);
}

/* ---- Any kind of keys ---- */

static int has(PyObject *object, const char *name)
{
  return PyObject_HasAttrString(object, name);
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

/* Checks that the array that __array__ returned still has the type of the keys. If a column has
 * nulls, pandas converts its own types of numbers to floats, and such keys are refused. Returns -1
 * and raises on an error. */
static int check_array(PyObject *keys, PyObject *array)
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
  if (has(keys, "__array_interface__")) {
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
  if (PyObject_CheckBuffer(keys))
    return begin_buffer(batch, keys);
  if (has(keys, "__array__")) {
    if (Py_EnterRecursiveCall(" in __array__"))
      return -1;
    PyObject *array = PyObject_CallMethod(keys, "__array__", NULL);
    const int result =
        array && check_array(keys, array) == 0 ? begin_any(batch, array, wanted) : -1;
    Py_XDECREF(array); /* if the batch borrows the array, its buffer holds a reference */
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

void batch_end(struct batch *batch)
{
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const bool is_ours = batch->own_schema.release == release_schema;
  if (batch->own_arrays && !is_ours)
    for (size_t i = 0; i < batch->narrays; i++)
      if (batch->own_arrays[i].release)
        batch->own_arrays[i].release(&batch->own_arrays[i]);
  if (batch->own_schema.release)
    batch->own_schema.release(&batch->own_schema);
  PyMem_Free(batch->own_arrays);
  for (size_t i = 0; i < sizeof batch->memory / sizeof *batch->memory; i++)
    PyMem_Free(batch->memory[i]);
  if (batch->buffer.obj)
    PyBuffer_Release(&batch->buffer);
  Py_XDECREF(batch->owner);
  *batch = (struct batch){0};
  PyErr_Restore(type, value, traceback);
}

int batch_encoding(const struct batch *batch, lanebloom_encoding *encoding)
{
  lanebloom_key_form form;
  char problem[PROBLEM_NBYTES];
  const lanebloom_status status =
      lanebloom_arrow_key_form(batch->schema, &form, problem, sizeof problem);
  if (status) {
    raise_keys(status, problem);
    return -1;
  }
  *encoding = form.encoding;
  return 0;
}

lanebloom_slice *batch_slices(const struct batch *batch, void **numbers)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_slice *slices = PyMem_Malloc((batch->n + 1) * sizeof *slices);
  *numbers = PyMem_Malloc((batch->n + 1) * 16);
  lanebloom_status status = LANEBLOOM_OK;
  if (!slices || !*numbers)
    PyErr_NoMemory();
  size_t row = 0;
  for (size_t i = 0; slices && *numbers && !status && i < batch->narrays; i++) {
    status = lanebloom_arrow_slices(batch->schema, batch->arrays[i], slices + row,
                                    (char *)*numbers + 16 * row, problem, sizeof problem);
    row += (size_t)batch->arrays[i]->length;
  }
  if (slices && *numbers && !status)
    return slices;
  if (status)
    raise_keys(status, problem);
  PyMem_Free(slices);
  PyMem_Free(*numbers);
  return NULL;
}
