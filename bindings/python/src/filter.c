/* The Python types lanebloom.Filter and lanebloom.FilterInfo.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "module.h"

typedef struct {
  PyObject_HEAD lanebloom_filter *filter;
  PyObject *owner; /* owns the bytes that the filter borrows; NULL if the filter owns them */
} Filter;

static PyTypeObject *filter_type, *info_type;

static lanebloom_filter *get(PyObject *self)
{
  return ((Filter *)self)->filter;
}

bool is_filter(PyObject *object)
{
  return PyObject_TypeCheck(object, filter_type);
}

lanebloom_filter *filter_of(PyObject *object)
{
  if (is_filter(object))
    return get(object);
  PyErr_Format(PyExc_TypeError, "expected a lanebloom.Filter, found %R",
               (PyObject *)Py_TYPE(object));
  return NULL;
}

PyObject *filter_wrap(lanebloom_filter *filter, PyObject *owner)
{
  Filter *self = (Filter *)PyType_GenericAlloc(filter_type, 0);
  if (!self) {
    lanebloom_filter_close(filter);
    return NULL;
  }
  self->filter = filter;
  self->owner = Py_XNewRef(owner);
  return (PyObject *)self;
}

static void filter_dealloc(PyObject *self)
{
  PyTypeObject *type = Py_TYPE(self);
  lanebloom_filter_close(get(self));
  Py_XDECREF(((Filter *)self)->owner);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* ---- Building and loading ---- */

lanebloom_status build_filter(lanebloom_format format, double bits_per_key, uint64_t expected,
                              const lanebloom_key_form *form, const struct batch *batch,
                              lanebloom_filter **filter, char problem[PROBLEM_NBYTES])
{
  lanebloom_builder *builder = NULL;
  lanebloom_key_form own = {0};
  lanebloom_status status = LANEBLOOM_OK;
  *problem = 0;
  *filter = NULL;
  if (!form)
    status = lanebloom_arrow_key_form(batch->schema, &own, problem, PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_builder_create(format, bits_per_key, expected, &builder);
  if (!status)
    status = lanebloom_builder_set_key_form(builder, form ? *form : own);
  for (size_t i = 0; i < batch->narrays && !status; i++)
    status = lanebloom_builder_add_arrow(builder, batch->schema, batch->arrays[i], problem,
                                         PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_builder_finish(builder, filter);
  lanebloom_builder_destroy(builder);
  return status;
}

static PyObject *filter_build(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"keys", "bits_per_key", "rate", "format", "form", "expected", NULL};
  PyObject *keys, *bits_object = NULL, *rate = NULL, *expected_object = NULL;
  const char *format_name = "rocksdb-local", *form_name = NULL;
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  lanebloom_key_form form = {0};
  struct batch batch;
  uint64_t expected = 0;
  double bits;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|O$OszO", names, &keys, &bits_object, &rate,
                                   &format_name, &form_name, &expected_object) ||
      find_format(format_name, &format) < 0 || (form_name && find_form(form_name, &form) < 0) ||
      (expected_object && expected_object != Py_None &&
       count_of(expected_object, "expected", &expected) < 0) ||
      batch_begin(&batch, keys, form.encoding) < 0)
    return NULL;
  lanebloom_filter *filter = NULL;
  if (choose_bits(format, bits_object, rate, expected ? expected : batch.n, &bits) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status =
        build_filter(format, bits, expected, form_name ? &form : NULL, &batch, &filter, problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_keys(status, problem);
  }
  batch_end(&batch);
  return filter ? filter_wrap(filter, NULL) : NULL;
}

/* Facts about a filter that the caller gives, because the filter's bytes may not record them. */
struct statement {
  const char *form;
  PyObject *nkeys, *bits_per_key;
};

static int state(lanebloom_filter *filter, const struct statement *statement)
{
  lanebloom_key_form form;
  if (statement->form && (find_form(statement->form, &form) < 0 ||
                          lanebloom_filter_set_key_form(filter, form) != LANEBLOOM_OK))
    return -1;
  PyObject *const nkeys = statement->nkeys, *const bits = statement->bits_per_key;
  uint64_t n = LANEBLOOM_UNKNOWN;
  if (nkeys && nkeys != Py_None && count_of(nkeys, "nkeys", &n) < 0)
    return -1;
  const double value = bits && bits != Py_None ? PyFloat_AsDouble(bits) : NAN;
  if (value == -1 && PyErr_Occurred())
    return -1;
  if ((!nkeys && !bits) || lanebloom_filter_set_nkeys(filter, n, value) == LANEBLOOM_OK)
    return 0;
  PyErr_Format(PyExc_ValueError, "bits_per_key: expected 0 to 2147483647, found %R", bits);
  return -1;
}

/* Makes a Filter with the facts that the caller gives. On an error, closes the filter and
 * raises. */
static PyObject *wrap_as(lanebloom_filter *filter, PyObject *owner,
                         const struct statement *statement)
{
  if (state(filter, statement) == 0)
    return filter_wrap(filter, owner);
  lanebloom_filter_close(filter);
  return NULL;
}

typedef lanebloom_status load_function(const char *path, lanebloom_filter **filter, char *problem,
                                       size_t problem_size);

static PyObject *load(load_function *function, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "form", NULL};
  PyObject *object;
  struct statement statement = {0};
  char problem[PROBLEM_NBYTES];
  struct path path;
  lanebloom_filter *filter = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &statement.form))
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = function(path_name(&path), &filter, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path.text);
  }
  path_end(&path);
  return filter ? wrap_as(filter, NULL, &statement) : NULL;
}

static PyObject *filter_load(PyObject *type, PyObject *args, PyObject *named)
{
  (void)type;
  return load(lanebloom_filter_load, args, named);
}

static PyObject *filter_map(PyObject *type, PyObject *args, PyObject *named)
{
  (void)type;
  return load(lanebloom_filter_map, args, named);
}

static PyObject *filter_load_raw(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "format", "form", "nkeys", "bits_per_key", NULL};
  PyObject *object;
  const char *format_name;
  struct statement statement = {0};
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  struct path path;
  lanebloom_filter *filter = NULL;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0)
    return NULL;
  if (path_begin(&path, object) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_filter_load_raw(format, path_name(&path), &filter, problem, sizeof problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, problem, path.text);
  }
  path_end(&path);
  return filter ? wrap_as(filter, NULL, &statement) : NULL;
}

/* Returns bytes that do not change: the object itself if it is a bytes object, otherwise a copy. */
static PyObject *constant_bytes(PyObject *object)
{
  return PyBytes_CheckExact(object) ? Py_NewRef(object) : PyBytes_FromObject(object);
}

static PyObject *filter_parse(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"data", "form", NULL};
  PyObject *object;
  struct statement statement = {0};
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &statement.form))
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status =
      lanebloom_filter_parse(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), &filter);
  PyObject *made =
      status ? raise_status(status, "not a container of lanebloom, or a damaged one", NULL)
             : wrap_as(filter, bytes, &statement);
  Py_DECREF(bytes);
  return made;
}

static PyObject *filter_parse_raw(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"data", "format", "form", "nkeys", "bits_per_key", NULL};
  PyObject *object;
  const char *format_name;
  struct statement statement = {0};
  lanebloom_format format;
  lanebloom_filter *filter;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "Os|$zOO", names, &object, &format_name,
                                   &statement.form, &statement.nkeys, &statement.bits_per_key) ||
      find_format(format_name, &format) < 0)
    return NULL;
  PyObject *bytes = constant_bytes(object);
  if (!bytes)
    return NULL;
  const lanebloom_status status = lanebloom_filter_parse_raw(format, PyBytes_AsString(bytes),
                                                             (size_t)PyBytes_Size(bytes), &filter);
  PyObject *made = status ? raise_status(status, NULL, NULL) : wrap_as(filter, bytes, &statement);
  Py_DECREF(bytes);
  return made;
}

typedef lanebloom_status save_function(const lanebloom_filter *filter, const char *path);

static PyObject *save(PyObject *self, save_function *function, PyObject *object)
{
  struct path path;
  lanebloom_status status = LANEBLOOM_ERR_ARGUMENT;
  if (path_begin(&path, object) == 0) {
    Py_BEGIN_ALLOW_THREADS
    status = function(get(self), path_name(&path));
    Py_END_ALLOW_THREADS
    if (status)
      raise_status(status, NULL, path.text);
  }
  path_end(&path);
  return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *filter_save(PyObject *self, PyObject *path)
{
  return save(self, lanebloom_filter_save, path);
}

static PyObject *filter_save_raw(PyObject *self, PyObject *path)
{
  return save(self, lanebloom_filter_save_raw, path);
}

static PyObject *to_container(PyObject *self)
{
  const size_t size = lanebloom_filter_write(get(self), NULL, 0);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (bytes)
    lanebloom_filter_write(get(self), PyBytes_AsString(bytes), size);
  return bytes;
}

static PyObject *filter_to_bytes(PyObject *self, PyObject *none)
{
  (void)none;
  return to_container(self);
}

static PyObject *filter_reduce(PyObject *self, PyObject *none)
{
  (void)none;
  PyObject *parse = PyObject_GetAttrString((PyObject *)filter_type, "parse");
  PyObject *bytes = parse ? to_container(self) : NULL;
  PyObject *pair = bytes ? Py_BuildValue("O(O)", parse, bytes) : NULL;
  Py_XDECREF(bytes);
  Py_XDECREF(parse);
  return pair;
}

/* A filter never changes, so the copy of a Filter is the same object. */
static PyObject *filter_copy(PyObject *self, PyObject *memo)
{
  (void)memo;
  return Py_NewRef(self);
}

/* ---- Merging ---- */

static PyObject *merge(const lanebloom_filter *const *filters, size_t n)
{
  lanebloom_filter *merged;
  lanebloom_status status;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_filter_merge(filters, n, &merged);
  Py_END_ALLOW_THREADS
  return status ? raise_status(status, NULL, NULL) : filter_wrap(merged, NULL);
}

static PyObject *filter_or(PyObject *a, PyObject *b)
{
  if (!is_filter(a) || !is_filter(b))
    Py_RETURN_NOTIMPLEMENTED;
  const lanebloom_filter *filters[] = {get(a), get(b)};
  return merge(filters, 2);
}

static PyObject *filter_merge(PyObject *type, PyObject *iterable)
{
  (void)type;
  PyObject *list = PySequence_List(iterable), *merged = NULL;
  if (!list)
    return NULL;
  const size_t n = (size_t)PyList_Size(list);
  const lanebloom_filter **filters = PyMem_Malloc((n + 1) * sizeof *filters);
  size_t i = 0;
  for (; filters && i < n; i++)
    if (!(filters[i] = filter_of(PyList_GetItem(list, (Py_ssize_t)i))))
      break;
  if (!filters)
    PyErr_NoMemory();
  else if (n == 0)
    PyErr_SetString(PyExc_ValueError, "merge: expected at least one filter, found none");
  else if (i == n)
    merged = merge(filters, n);
  PyMem_Free(filters);
  Py_DECREF(list);
  return merged;
}

static PyObject *filter_compare(PyObject *a, PyObject *b, int operation)
{
  if (!is_filter(b) || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  lanebloom_filter_info left, right;
  size_t nleft, nright;
  const void *left_bytes = lanebloom_filter_bytes(get(a), &nleft);
  const void *right_bytes = lanebloom_filter_bytes(get(b), &nright);
  bool is_equal = nleft == nright && memcmp(left_bytes, right_bytes, nleft) == 0;
  if (is_equal) {
    lanebloom_filter_describe(get(a), &left, sizeof left);
    lanebloom_filter_describe(get(b), &right, sizeof right);
    is_equal = left.format == right.format && left.nkeys == right.nkeys &&
               left.key_form.encoding == right.key_form.encoding &&
               left.key_form.flags == right.key_form.flags;
  }
  return PyBool_FromLong(is_equal == (operation == Py_EQ));
}

/* ---- Screening ---- */

typedef PyObject *screen_function(const lanebloom_filter *filter, const struct batch *batch);

static PyObject *screen(PyObject *self, PyObject *keys, screen_function *function)
{
  struct batch batch;
  if (batch_begin(&batch, keys, lanebloom_filter_key_form(get(self)).encoding) < 0)
    return NULL;
  PyObject *result = function(get(self), &batch);
  batch_end(&batch);
  return result;
}

static PyObject *filter_screen(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_mask);
}

static PyObject *filter_bitmap(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_bitmap);
}

static PyObject *filter_select(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_rows);
}

static PyObject *filter_count(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_count);
}

static PyObject *filter_hash(PyObject *self, PyObject *keys)
{
  lanebloom_filter_info info;
  struct batch batch;
  lanebloom_filter_describe(get(self), &info, sizeof info);
  if (batch_begin(&batch, keys, info.key_form.encoding) < 0)
    return NULL;
  PyObject *hashes = hash_batch(info.format, &batch);
  batch_end(&batch);
  return hashes;
}

/* Returns 1 if the key may be in the filter, 0 if not, and -1 and raises on an error. Text and
 * bytes are looked up directly in a filter of bytes, and an int in a filter of int64. Any other key
 * becomes a batch of one key, which is accepted or refused as other batches are. */
static int filter_contains(PyObject *self, PyObject *key)
{
  const lanebloom_filter *filter = get(self);
  const lanebloom_key_form form = lanebloom_filter_key_form(filter);
  Py_ssize_t size;
  if (form.encoding == LANEBLOOM_BYTES && form.flags == 0) {
    if (PyUnicode_Check(key)) {
      const char *text = PyUnicode_AsUTF8AndSize(key, &size);
      return text ? lanebloom_filter_may_contain(filter, text, (size_t)size) : -1;
    }
    if (PyBytes_Check(key))
      return lanebloom_filter_may_contain(filter, PyBytes_AsString(key), (size_t)PyBytes_Size(key));
  }
  const int one = 1;
  if (form.encoding == LANEBLOOM_INT64 && form.flags == 0 && PyLong_CheckExact(key) &&
      *(const char *)&one) {
    const long long value = PyLong_AsLongLong(key);
    if (value == -1 && PyErr_Occurred())
      return -1;
    return lanebloom_filter_may_contain(filter, &value, sizeof value);
  }
  PyObject *list = PyList_New(1);
  if (!list || PyList_SetItem(list, 0, Py_NewRef(key)) < 0)
    return -1;
  PyObject *count = screen(self, list, screen_to_count);
  const long found = count ? PyLong_AsLong(count) : -1;
  Py_XDECREF(count);
  Py_DECREF(list);
  return (int)found;
}

/* ---- Description ---- */

static PyObject *form_text(lanebloom_key_form form)
{
  return PyUnicode_FromFormat("%s%s%s%s", lanebloom_encoding_name(form.encoding),
                              form.flags & LANEBLOOM_KEY_TRIMMED ? ", trimmed" : "",
                              form.flags & LANEBLOOM_KEY_LOWERED ? ", lower-cased" : "",
                              form.flags & LANEBLOOM_KEY_JOINED ? ", fields joined by a tab" : "");
}

static PyObject *number_or_none(uint64_t number)
{
  return number == LANEBLOOM_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(number);
}

static PyObject *filter_info(PyObject *self, void *closure)
{
  (void)closure;
  lanebloom_filter_info info;
  size_t size;
  Py_BEGIN_ALLOW_THREADS
  lanebloom_filter_describe(get(self), &info, sizeof info);
  Py_END_ALLOW_THREADS
  lanebloom_filter_bytes(get(self), &size);
  PyObject *values[] = {
      PyUnicode_FromString(lanebloom_format_name(info.format)),
      form_text(info.key_form),
      number_or_none(info.nkeys),
      number_or_none(info.nkeys_estimate),
      isnan(info.bits_per_key) ? Py_NewRef(Py_None) : PyFloat_FromDouble(info.bits_per_key),
      PyLong_FromUnsignedLong(info.nprobes),
      PyLong_FromUnsignedLongLong(info.nbits),
      PyLong_FromUnsignedLongLong(info.nbits_set),
      PyFloat_FromDouble(info.model_rate),
      PyLong_FromSize_t(size),
  };
  PyObject *made = PyStructSequence_New(info_type);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (made && values[i])
      PyStructSequence_SetItem(made, (Py_ssize_t)i, values[i]);
    else
      Py_XDECREF(values[i]);
  if (PyErr_Occurred())
    Py_CLEAR(made);
  return made;
}

static PyObject *filter_form(PyObject *self, void *closure)
{
  (void)closure;
  return form_text(lanebloom_filter_key_form(get(self)));
}

static PyObject *filter_format(PyObject *self, void *closure)
{
  (void)closure;
  lanebloom_filter_info info;
  lanebloom_filter_describe(get(self), &info, sizeof info);
  return PyUnicode_FromString(lanebloom_format_name(info.format));
}

static PyObject *filter_bytes(PyObject *self, void *closure)
{
  (void)closure;
  return PyMemoryView_FromObject(self);
}

static int filter_buffer(PyObject *self, Py_buffer *view, int flags)
{
  size_t size;
  const void *bytes = lanebloom_filter_bytes(get(self), &size);
  return PyBuffer_FillInfo(view, self, (void *)bytes, (Py_ssize_t)size, 1, flags);
}

static PyObject *filter_repr(PyObject *self)
{
  lanebloom_filter_info info;
  size_t size;
  char keys[64] = "unknown number of keys", bits[48] = "";
  lanebloom_filter_describe(get(self), &info, sizeof info);
  lanebloom_filter_bytes(get(self), &size);
  if (info.nkeys != LANEBLOOM_UNKNOWN)
    snprintf(keys, sizeof keys, "%llu keys", (unsigned long long)info.nkeys);
  if (!isnan(info.bits_per_key))
    snprintf(bits, sizeof bits, ", %g bits per key", info.bits_per_key);
  PyObject *form = form_text(info.key_form);
  PyObject *text =
      form ? PyUnicode_FromFormat("<lanebloom.Filter %s: %s (%U)%s, %zu bytes>",
                                  lanebloom_format_name(info.format), keys, form, bits, size)
           : NULL;
  Py_XDECREF(form);
  return text;
}

/* ---- The type ---- */

#define WITH_NAMES(function) (PyCFunction)(void (*)(void)) function

static PyMethodDef methods[] = {
    {"build", WITH_NAMES(filter_build), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "build(keys, bits_per_key=10, *, rate=None, format='rocksdb-local', form=None, "
     "expected=None)\n--\n\n"
     "Builds a filter from a batch of keys: a column of numpy, Arrow, polars or pandas, or any\n"
     "iterable of str, bytes, int or uuid.UUID. Nulls are not added.\n\n"
     "rate: the false-positive rate, instead of bits per key. form: the type that Python's\n"
     "integers become (\"int64\", \"uint64\", \"int32\", \"uint32\"), or the text that bytes were\n"
     "decoded from (\"hex\", ...). expected: the number of keys that decides the filter's size,\n"
     "however many are added.\n\n"
     "Raises TypeError for a type that has no keys."},
    {"load", WITH_NAMES(filter_load), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "load(path, *, form=None)\n--\n\n"
     "Reads into memory a file that save() wrote, and verifies its checksum. form: the form of\n"
     "keys, which overrides that of the file. Raises OSError, lanebloom.Error."},
    {"map", WITH_NAMES(filter_map), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "map(path, *, form=None)\n--\n\n"
     "Maps a file that save() wrote. This takes no time, however large the file is, and all\n"
     "processes share the memory. Only the header is verified. The file must not become shorter\n"
     "while the filter is used."},
    {"load_raw", WITH_NAMES(filter_load_raw), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "load_raw(path, format, *, form=None, nkeys=None, bits_per_key=None)\n--\n\n"
     "Reads a file of an engine's bare bytes. lanebloom.formats() names the formats; the other\n"
     "arguments are those of parse_raw()."},
    {"parse", WITH_NAMES(filter_parse), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "parse(data, *, form=None)\n--\n\nMakes a filter from the bytes of a file that save() wrote."},
    {"parse_raw", WITH_NAMES(filter_parse_raw), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "parse_raw(data, format, *, form=None, nkeys=None, bits_per_key=None)\n--\n\n"
     "Makes a filter from an engine's bare bytes. format: \"rocksdb\", \"leveldb\", \"parquet\", "
     "...\n"
     "Bare bytes do not record the form of the keys (form), their number (nkeys) or the bits per\n"
     "key that the filter was built with (bits_per_key)."},
    {"merge", filter_merge, METH_O | METH_STATIC,
     "merge(filters, /)\n--\n\nMakes the union of filters of one format, size and form. For two "
     "filters, f | g does the same."},
    {"save", filter_save, METH_O,
     "save($self, path, /)\n--\n\nWrites a file for load(), map() and the command: all of it, or "
     "nothing."},
    {"save_raw", filter_save_raw, METH_O,
     "save_raw($self, path, /)\n--\n\nWrites the bare bytes, as the engine stores them."},
    {"to_bytes", filter_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nThe bytes that save() writes, for parse()."},
    {"screen", filter_screen, METH_O,
     "screen($self, keys, /)\n--\n\n"
     "Tells which keys may be in the filter: numpy bool, one per row; False where a row is null.\n"
     "Raises TypeError, which names both types, if the column's type is not that of the filter's\n"
     "keys."},
    {"bitmap", filter_bitmap, METH_O,
     "bitmap($self, keys, /)\n--\n\n"
     "Does what screen() does, but returns bits, the least significant first, as in an Arrow\n"
     "boolean array: numpy uint8, (rows + 7) // 8 of them."},
    {"select", filter_select, METH_O,
     "select($self, keys, /)\n--\n\nFinds the rows whose keys may be in the filter, in ascending "
     "order: numpy int64."},
    {"count", filter_count, METH_O,
     "count($self, keys, /)\n--\n\nCounts the keys that may be in the filter."},
    {"hash", filter_hash, METH_O,
     "hash($self, keys, /)\n--\n\nComputes the keys' hashes of the filter's format: numpy uint64 "
     "or "
     "uint32."},
    {"__reduce__", filter_reduce, METH_NOARGS, NULL},
    {"__copy__", filter_copy, METH_NOARGS, NULL},
    {"__deepcopy__", filter_copy, METH_O, NULL},
    {0}};

static PyGetSetDef properties[] = {
    {"bytes", filter_bytes, NULL, "The engine's bytes: a memoryview, not copied.", NULL},
    {"form", filter_form, NULL, "The form of the keys: \"bytes\", \"int64\", \"uuid\", ...", NULL},
    {"format", filter_format, NULL, "The name of the format: \"rocksdb-local\", ...", NULL},
    {"info", filter_info, NULL, "The filter's properties: a lanebloom.FilterInfo.", NULL},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)"A Bloom filter. It never changes, so any number of threads may use it.\n\n"
                        "`key in f` tells whether a str, bytes, int or uuid.UUID may be in f.\n"
                        "`f | g` is the union of both. Screening releases the interpreter's "
                        "lock."},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_repr, filter_repr},
    {Py_tp_richcompare, filter_compare},
    {Py_tp_dealloc, filter_dealloc},
    {Py_sq_contains, filter_contains},
    {Py_nb_or, filter_or},
    {Py_bf_getbuffer, filter_buffer},
    {0, NULL}};

static PyType_Spec spec = {.name = "lanebloom.Filter",
                           .basicsize = sizeof(Filter),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                    Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

static PyStructSequence_Field fields[] = {
    {"format", "the name of the format"},
    {"form", "the form of the keys"},
    {"nkeys", "the number of keys that were added; None: unknown"},
    {"nkeys_estimate", "distinct keys, estimated from the bits that are set; None: unknown"},
    {"bits_per_key", "the bits per key that the filter was built with; None: unknown"},
    {"nprobes", "probes per key"},
    {"nbits", "bits that probes can reach"},
    {"nbits_set", "the number of these bits that are set"},
    {"rate", "the false-positive rate, by the model"},
    {"size", "the filter's size in bytes"},
    {0}};

static PyStructSequence_Desc info_desc = {.name = "lanebloom.FilterInfo",
                                          .doc = "The properties of a filter.",
                                          .fields = fields,
                                          .n_in_sequence = 10};

int filter_type_add(PyObject *module)
{
  filter_type = (PyTypeObject *)PyType_FromSpec(&spec);
  info_type = PyStructSequence_NewType(&info_desc);
  if (!filter_type || !info_type ||
      PyModule_AddObjectRef(module, "Filter", (PyObject *)filter_type) < 0)
    return -1;
  return PyModule_AddObjectRef(module, "FilterInfo", (PyObject *)info_type);
}
