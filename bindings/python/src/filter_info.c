/* Describes a filter: the Python type lanebloom.FilterInfo, and the properties of Filter.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "filter.h"

static PyTypeObject *info_type;

static PyObject *form_text(lanebloom_key_form form)
{
  char text[LANEBLOOM_KEY_FORM_NBYTES];
  return PyUnicode_FromString(lanebloom_key_form_text(form, text, sizeof text));
}

static PyObject *number_or_none(uint64_t number)
{
  return number == LANEBLOOM_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(number);
}

PyObject *filter_info(PyObject *self, void *closure)
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

PyObject *filter_form(PyObject *self, void *closure)
{
  (void)closure;
  return form_text(lanebloom_filter_key_form(get(self)));
}

PyObject *filter_format(PyObject *self, void *closure)
{
  (void)closure;
  return PyUnicode_FromString(lanebloom_format_name(lanebloom_filter_format(get(self))));
}

PyObject *filter_repr(PyObject *self)
{
  const lanebloom_filter *filter = get(self);
  const uint64_t nkeys = lanebloom_filter_nkeys(filter);
  const double bits_per_key = lanebloom_filter_bits_per_key(filter);
  size_t size;
  char keys[64] = "unknown number of keys", bits[48] = "", form[LANEBLOOM_KEY_FORM_NBYTES];
  lanebloom_filter_bytes(filter, &size);
  if (nkeys != LANEBLOOM_UNKNOWN)
    snprintf(keys, sizeof keys, "%llu keys", (unsigned long long)nkeys);
  if (!isnan(bits_per_key))
    snprintf(bits, sizeof bits, ", %g bits per key", bits_per_key);
  return PyUnicode_FromFormat(
      "<lanebloom.Filter %s: %s (%s)%s, %zu bytes>",
      lanebloom_format_name(lanebloom_filter_format(filter)), keys,
      lanebloom_key_form_text(lanebloom_filter_key_form(filter), form, sizeof form), bits, size);
}

/* ---- The type lanebloom.FilterInfo ---- */

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

int info_type_add(PyObject *module)
{
  info_type = PyStructSequence_NewType(&info_desc);
  return info_type ? PyModule_AddObjectRef(module, "FilterInfo", (PyObject *)info_type) : -1;
}
