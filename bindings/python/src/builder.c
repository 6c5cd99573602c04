/* The Python type lanebloom.Builder, which builds a filter of keys that come in many batches.
 * SPDX-License-Identifier: MIT */

#include "module.h"

typedef struct {
  PyObject_HEAD lanebloom_builder *builder;
  PyThread_type_lock lock; /* held while `builder` is used: a builder is for one thread at a time */
  int has_form;            /* false until the caller or the first batch of keys sets the key form */
} Builder;

static PyTypeObject *builder_type;

static int parse_arguments(PyObject *args, PyObject *named, lanebloom_format *format,
                           struct size_choice *size, uint64_t *expected, lanebloom_key_form *form,
                           int *has_form)
{
  static char *names[] = {"expected", "bits_per_key", "rate", "format", "form", NULL};
  PyObject *expected_object = NULL, *bits_object = NULL, *rate = NULL;
  const char *format_name = "rocksdb-local", *form_name = NULL;
  *expected = 0;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|OO$Osz", names, &expected_object, &bits_object,
                                   &rate, &format_name, &form_name) ||
      find_format(format_name, format) < 0 || (form_name && find_form(form_name, form) < 0) ||
      (expected_object && expected_object != Py_None &&
       count_of(expected_object, "expected", expected) < 0))
    return -1;
  if (rate && rate != Py_None && *expected == 0) {
    PyErr_SetString(PyExc_TypeError,
                    "rate: expected `expected` as well: the bits depend on the number of keys");
    return -1;
  }
  *has_form = form_name != NULL;
  return choose_size(*format, bits_object, rate, *expected, size);
}

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
  lanebloom_format format;
  lanebloom_key_form form = {0};
  lanebloom_builder *builder;
  uint64_t expected;
  struct size_choice size;
  int has_form;
  if (parse_arguments(args, named, &format, &size, &expected, &form, &has_form) < 0)
    return NULL;
  const lanebloom_status status = create_builder(format, &size, expected, &builder);
  if (status)
    return raise_status(status, NULL, NULL);
  Builder *self = (Builder *)PyType_GenericAlloc(type, 0);
  PyThread_type_lock lock = self ? PyThread_allocate_lock() : NULL;
  if (!lock || lanebloom_builder_set_key_form(builder, form) != LANEBLOOM_OK) {
    lanebloom_builder_free(builder);
    Py_XDECREF((PyObject *)self);
    return PyErr_NoMemory();
  }
  self->builder = builder;
  self->lock = lock;
  self->has_form = has_form;
  return (PyObject *)self;
}

static void builder_dealloc(PyObject *object)
{
  Builder *self = (Builder *)object;
  PyTypeObject *type = Py_TYPE(object);
  lanebloom_builder_free(self->builder);
  if (self->lock)
    PyThread_free_lock(self->lock);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* Adds a batch. The caller holds the builder's lock, but not the interpreter's, so that other
 * threads run. */
static lanebloom_status add(Builder *self, const struct batch *batch, char problem[PROBLEM_NBYTES])
{
  lanebloom_status status = LANEBLOOM_OK;
  *problem = 0;
  if (batch->is_untyped)
    return LANEBLOOM_OK;
  if (!self->has_form) {
    lanebloom_key_form form;
    status = lanebloom_arrow_key_form(batch->schema, &form, problem, PROBLEM_NBYTES);
    if (!status)
      status = lanebloom_builder_set_key_form(self->builder, form);
    self->has_form = !status;
  }
  for (size_t i = 0; i < batch->narrays && !status; i++)
    status = lanebloom_builder_add_arrow(self->builder, batch->schema, batch->arrays[i], problem,
                                         PROBLEM_NBYTES);
  return status;
}

static PyObject *builder_add(PyObject *object, PyObject *keys)
{
  Builder *self = (Builder *)object;
  char problem[PROBLEM_NBYTES];
  struct batch batch;
  lanebloom_key_form form;
  Py_BEGIN_ALLOW_THREADS
  PyThread_acquire_lock(self->lock, WAIT_LOCK);
  form = lanebloom_builder_key_form(self->builder);
  PyThread_release_lock(self->lock);
  Py_END_ALLOW_THREADS
  if (batch_begin(&batch, keys, form.encoding) < 0)
    return NULL;
  lanebloom_status status;
  Py_BEGIN_ALLOW_THREADS
  PyThread_acquire_lock(self->lock, WAIT_LOCK);
  status = add(self, &batch, problem);
  PyThread_release_lock(self->lock);
  Py_END_ALLOW_THREADS
  batch_end(&batch);
  if (status)
    return raise_keys(status, problem);
  Py_RETURN_NONE;
}

static PyObject *builder_merge(PyObject *object, PyObject *other)
{
  Builder *self = (Builder *)object, *from = (Builder *)other;
  if (!PyObject_TypeCheck(other, builder_type))
    return PyErr_Format(PyExc_TypeError, "merge: expected a lanebloom.Builder, found %R",
                        (PyObject *)Py_TYPE(other));
  if (self == from) {
    PyErr_SetString(PyExc_ValueError, "merge: expected another builder, found the same");
    return NULL;
  }
  Builder *first = self < from ? self : from, *second = self < from ? from : self;
  lanebloom_status status = LANEBLOOM_OK;
  char problem[PROBLEM_NBYTES] = "";
  Py_BEGIN_ALLOW_THREADS
  PyThread_acquire_lock(first->lock, WAIT_LOCK);
  PyThread_acquire_lock(second->lock, WAIT_LOCK);
  if (from->has_form) { /* without a form, no key was added */
    const lanebloom_key_form before = lanebloom_builder_key_form(self->builder);
    if (!self->has_form)
      status =
          lanebloom_builder_set_key_form(self->builder, lanebloom_builder_key_form(from->builder));
    if (!status)
      status = lanebloom_builder_merge(self->builder, from->builder, problem, sizeof problem);
    if (!status)
      self->has_form = 1;
    else if (lanebloom_builder_set_key_form(self->builder, before)) /* as if nothing had happened */
      status = LANEBLOOM_ERR_ARGUMENT;
  }
  PyThread_release_lock(second->lock);
  PyThread_release_lock(first->lock);
  Py_END_ALLOW_THREADS
  if (status)
    return raise_status(status, problem, NULL);
  Py_RETURN_NONE;
}

static PyObject *builder_finish(PyObject *object, PyObject *none)
{
  Builder *self = (Builder *)object;
  lanebloom_filter *filter;
  lanebloom_status status;
  (void)none;
  Py_BEGIN_ALLOW_THREADS
  PyThread_acquire_lock(self->lock, WAIT_LOCK);
  status = lanebloom_builder_finish(self->builder, &filter);
  PyThread_release_lock(self->lock);
  Py_END_ALLOW_THREADS
  return status ? raise_status(status, NULL, NULL) : filter_wrap(filter, NULL);
}

static PyMethodDef methods[] = {
    {"add", builder_add, METH_O,
     "add($self, keys, /)\n--\n\n"
     "Adds a batch of keys, which may be of any kind that Filter.build() takes. All batches must\n"
     "have one type. If a batch has another type, raises TypeError, which names both types; some\n"
     "chunks of a stream may then have been added."},
    {"merge", builder_merge, METH_O,
     "merge($self, other, /)\n--\n\nAdds the keys of another builder, which does not change."},
    {"finish", builder_finish, METH_NOARGS,
     "finish($self, /)\n--\n\nMakes the filter and empties the builder, which may then be used "
     "again."},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)"Builder(expected=None, bits_per_key=10, *, rate=None, format='rocksdb-local', "
             "form=None)\n--\n\n"
             "Builds a filter from keys that come in many batches.\n\n"
             "expected: the number of keys that will be added. If it is given, the builder takes\n"
             "no more memory than the filter; if not, it takes 4 or 8 bytes per key. rate: the\n"
             "false-positive rate, instead of bits per key."},
    {Py_tp_new, builder_new},
    {Py_tp_methods, methods},
    {Py_tp_dealloc, builder_dealloc},
    {0, NULL}};

static PyType_Spec spec = {.name = "lanebloom.Builder",
                           .basicsize = sizeof(Builder),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

int builder_type_add(PyObject *module)
{
  builder_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return builder_type ? PyModule_AddObjectRef(module, "Builder", (PyObject *)builder_type) : -1;
}
