/* Copies keys from lists and other sequences of Python objects.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

enum item { NO_ITEM, TEXT, BYTES, INTEGER, UUID };

/* Is there an interpreter's lock, so that other threads cannot change a list meanwhile? */
#ifdef Py_GIL_DISABLED
enum { HAS_LOCK = false };
#else
enum { HAS_LOCK = true };
#endif

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

/* Returns the kind of an item whose type is exactly str, bytes or int. Otherwise returns NO_ITEM:
 * finding out the kind, or reading the item, may run code that is written in Python. */
static inline enum item plain_item_of(PyObject *object)
{
  if (PyUnicode_CheckExact(object))
    return TEXT;
  if (PyBytes_CheckExact(object))
    return BYTES;
  return PyLong_CheckExact(object) ? INTEGER : NO_ITEM;
}

static enum item item_of(PyObject *object)
{
  if (object == Py_None)
    return NO_ITEM;
  if (PyUnicode_Check(object))
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

/* Copies bytes as memcpy() does. For short keys, two copies of a fixed size take less time than a
 * call. */
static inline void copy_bytes(char *to, const char *from, size_t nbytes)
{
  char head[8], tail[8];
  if (nbytes < sizeof head || nbytes > 2 * sizeof head) {
    memcpy(to, from, nbytes);
    return;
  }
  memcpy(head, from, sizeof head);
  memcpy(tail, from + nbytes - sizeof tail, sizeof tail);
  memcpy(to, head, sizeof head);
  memcpy(to + nbytes - sizeof tail, tail, sizeof tail);
}

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
  copy_bytes(pool->bytes + pool->nbytes, bytes, nbytes);
  pool->nbytes += nbytes;
  return true;
}

/* How many items are taken from the sequence together. */
enum { NTAKEN = 32 };

/* The state of copying a sequence. */
struct copier {
  PyObject *items; /* a list or a tuple */
  PyObject *(*get)(PyObject *items, Py_ssize_t i);
  Py_ssize_t n;
  PyObject *taken[NTAKEN]; /* borrowed from `items` */
  enum item kind;
  uint8_t *valid; /* a bitmap of rows, where the bits of nulls are 0 */
  bool has_null;
};

/* Starts to copy a sequence. A list is read in place, until copier_freeze() is called. */
static int copier_begin(struct copier *copier, PyObject *keys)
{
  const bool is_list = PyList_CheckExact(keys) && HAS_LOCK;
  copier->items = is_list ? Py_NewRef(keys) : PySequence_Tuple(keys);
  if (!copier->items)
    return -1;
  copier->get = is_list ? PyList_GetItem : PyTuple_GetItem;
  copier->n = PyObject_Size(copier->items);
  return 0;
}

/* Makes a tuple of a list, because code written in Python runs next, which could change the list.
 * The items that were taken from the list stay valid. */
static int copier_freeze(struct copier *copier)
{
  if (copier->get == PyTuple_GetItem)
    return 0;
  PyObject *tuple = PyList_AsTuple(copier->items);
  if (!tuple)
    return -1;
  Py_DECREF(copier->items);
  copier->items = tuple;
  copier->get = PyTuple_GetItem;
  return 0;
}

/* Returns item i as a borrowed reference. The caller takes all items in order. Objects can be
 * anywhere in memory, so several of them are prefetched together. */
static inline PyObject *copier_take(struct copier *copier, Py_ssize_t i)
{
  enum { TEXT_OFFSET = 48 }; /* where the text of most strings begins */
  if (i % NTAKEN == 0)
    for (Py_ssize_t j = 0; j < NTAKEN && i + j < copier->n; j++) {
      PyObject *object = copier->get(copier->items, i + j);
      __builtin_prefetch(object);
      __builtin_prefetch((const char *)object + TEXT_OFFSET);
      copier->taken[j] = object;
    }
  return copier->taken[i % NTAKEN];
}

/* Checks that item i is null or of the same kind as the items before. If it is null, records that
 * and returns 0; otherwise returns 1. On an error, returns -1 and raises. */
static inline int copier_check(struct copier *copier, PyObject *object, Py_ssize_t i)
{
  enum item kind = plain_item_of(object);
  if (kind && kind == copier->kind)
    return 1;
  if (!kind && object != Py_None) {
    if (copier_freeze(copier) < 0)
      return -1;
    kind = item_of(object);
  }
  if (kind == NO_ITEM) {
    if (!is_missing(object))
      return raise_item(object, i);
    copier->valid[i / 8] &= (uint8_t) ~(1 << i % 8);
    copier->has_null = true;
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
    PyObject *object = copier_take(copier, i);
    const char *bytes = "";
    Py_ssize_t nbytes = 0;
    offsets[i] = (int64_t)pool.nbytes;
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
  return set_array(batch, (size_t)copier->n, copier->has_null ? copier->valid : NULL, offsets,
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
  bool fits = !(value == -1 && PyErr_Occurred());
  if (fits && is_short)
    fits = is_signed ? value == (int32_t)value : (uint64_t)value <= UINT32_MAX;
  if (!fits) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "key: expected %s, found %R", lanebloom_encoding_name(wanted),
                 whole);
  }
  Py_DECREF(whole);
  if (!fits)
    return -1;
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
    PyObject *object = copier_take(copier, i);
    const int found = copier_check(copier, object, i);
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
  return set_array(batch, (size_t)copier->n, copier->has_null ? copier->valid : NULL, values, NULL);
}

int begin_nulls(struct batch *batch, size_t n, lanebloom_encoding wanted)
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

static int copy(struct batch *batch, struct copier *copier, lanebloom_encoding wanted)
{
  copier->valid = PyMem_Malloc((size_t)copier->n / 8 + 1);
  batch->memory[0] = copier->valid;
  if (!copier->valid) {
    PyErr_NoMemory();
    return -1;
  }
  memset(copier->valid, 0xff, (size_t)copier->n / 8 + 1);
  int found = 0; /* the first item that is not null decides the kind */
  for (Py_ssize_t i = 0; i < copier->n && found == 0; i++)
    found = copier_check(copier, copier_take(copier, i), i);
  if (found < 0)
    return -1;
  if (found == 0)
    return begin_nulls(batch, (size_t)copier->n, wanted);
  if (copier->kind == INTEGER || copier->kind == UUID)
    return copy_fixed(batch, copier, wanted);
  return copy_strings(batch, copier);
}

int begin_sequence(struct batch *batch, PyObject *keys, lanebloom_encoding wanted)
{
  struct copier copier = {0};
  const int result = copier_begin(&copier, keys) == 0 ? copy(batch, &copier, wanted) : -1;
  batch->owner = copier.items;
  return result;
}
