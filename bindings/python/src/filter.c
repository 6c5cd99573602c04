/* The Python type lanebloom.Filter: its objects, how they are copied, compared and merged, and the
 * table of all its methods.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "filter.h"

static PyTypeObject *filter_type;

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
    lanebloom_filter_free(filter);
    return NULL;
  }
  self->filter = filter;
  self->owner = Py_XNewRef(owner);
  return (PyObject *)self;
}

static void filter_dealloc(PyObject *self)
{
  PyTypeObject *type = Py_TYPE(self);
  lanebloom_filter_free(get(self));
  Py_XDECREF(((Filter *)self)->owner);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* ---- Copying ---- */

static PyObject *filter_reduce(PyObject *self, PyObject *none)
{
  (void)none;
  PyObject *parse = PyObject_GetAttrString((PyObject *)filter_type, "parse");
  PyObject *bytes = parse ? filter_to_bytes(self, NULL) : NULL;
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

/* ---- Merging and comparing ---- */

static PyObject *merge(const lanebloom_filter *const *filters, size_t n)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_filter *merged;
  lanebloom_status status;
  size_t bad;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_filter_merge(filters, n, &merged, &bad, problem, sizeof problem);
  Py_END_ALLOW_THREADS
  if (status == LANEBLOOM_ERR_MISMATCH) {
    char which[PROBLEM_NBYTES + 32];
    snprintf(which, sizeof which, "filters[%zu]: %s", bad, problem);
    return raise_status(status, which, NULL);
  }
  return status ? raise_status(status, problem, NULL) : filter_wrap(merged, NULL);
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
  size_t nleft, nright;
  const void *left_bytes = lanebloom_filter_bytes(get(a), &nleft);
  const void *right_bytes = lanebloom_filter_bytes(get(b), &nright);
  bool is_equal = nleft == nright && memcmp(left_bytes, right_bytes, nleft) == 0;
  if (is_equal) {
    const lanebloom_key_form left = lanebloom_filter_key_form(get(a)),
                             right = lanebloom_filter_key_form(get(b));
    is_equal = lanebloom_filter_format(get(a)) == lanebloom_filter_format(get(b)) &&
               lanebloom_filter_nkeys(get(a)) == lanebloom_filter_nkeys(get(b)) &&
               left.encoding == right.encoding && left.flags == right.flags;
  }
  return PyBool_FromLong(is_equal == (operation == Py_EQ));
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
     "decoded from (\"hex\", ...). expected: the number of keys for which the filter gets its\n"
     "size, even if more or fewer keys are added.\n\n"
     "Raises TypeError if values of the column's type cannot be keys."},
    {"load", WITH_NAMES(filter_load), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "load(path, *, form=None)\n--\n\n"
     "Reads into memory a file that save() wrote, and verifies its checksum. form: the form of\n"
     "keys, which overrides the form in the file. Raises OSError, lanebloom.Error."},
    {"map", WITH_NAMES(filter_map), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "map(path, *, form=None)\n--\n\n"
     "Maps a file that save() wrote. This takes no time, however large the file is, and all\n"
     "processes share the memory. Only the header is verified. The file must not become shorter\n"
     "while the filter is used."},
    {"load_raw", WITH_NAMES(filter_load_raw), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "load_raw(path, format, *, form=None, nkeys=None, bits_per_key=None)\n--\n\n"
     "Reads a file of an engine's bare bytes. lanebloom.formats() names the formats. The other\n"
     "arguments are the same as for parse_raw()."},
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
     "save($self, path, /)\n--\n\nWrites the whole file for load(), map() and the command, or "
     "nothing."},
    {"save_raw", filter_save_raw, METH_O,
     "save_raw($self, path, /)\n--\n\nWrites the bare bytes, as the engine stores them."},
    {"to_bytes", filter_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nReturns the bytes that save() writes. parse() reads them."},
    {"screen", filter_screen, METH_O,
     "screen($self, keys, /)\n--\n\n"
     "Tells which keys may be in the filter: numpy bool, one per row; False where a row is null.\n"
     "If the filter has keys of another type than the column, raises TypeError, which names both\n"
     "types."},
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
     "hash($self, keys, /)\n--\n\nHashes keys as the filter's format does: numpy uint64 or "
     "uint32. Keys\nthat screen() refuses are refused."},
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

int filter_type_add(PyObject *module)
{
  filter_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!filter_type || PyModule_AddObjectRef(module, "Filter", (PyObject *)filter_type) < 0)
    return -1;
  return info_type_add(module);
}
