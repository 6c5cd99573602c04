/* Finds out which keys may be in a filter, and hashes keys as the filter does.
 * SPDX-License-Identifier: MIT */
#include "filter.h"

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

PyObject *filter_screen(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_mask);
}

PyObject *filter_bitmap(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_bitmap);
}

PyObject *filter_select(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_rows);
}

PyObject *filter_count(PyObject *self, PyObject *keys)
{
  return screen(self, keys, screen_to_count);
}

/* Screens no rows, which raises if keys of this type do not fit the key form of the filter. */
static int check_form(const lanebloom_filter *filter, const struct batch *batch)
{
  if (batch->narrays == 0)
    return 0;
  struct ArrowArray none = *batch->arrays[0], *arrays[] = {&none};
  struct batch no_rows = {.schema = batch->schema, .arrays = arrays, .narrays = 1};
  none.length = none.null_count = 0;
  PyObject *count = screen_to_count(filter, &no_rows);
  Py_XDECREF(count);
  return count ? 0 : -1;
}

PyObject *filter_hash(PyObject *self, PyObject *keys)
{
  struct batch batch;
  PyObject *hashes = NULL;
  if (batch_begin(&batch, keys, lanebloom_filter_key_form(get(self)).encoding) < 0)
    return NULL;
  if (check_form(get(self), &batch) == 0)
    hashes = hash_batch(lanebloom_filter_format(get(self)), &batch);
  batch_end(&batch);
  return hashes;
}

/* Returns 1 if the key may be in the filter, and 0 if not. On an error, returns -1 and raises. Text
 * and bytes are looked up directly in a filter of bytes, and an int in a filter of int64. Any other
 * key becomes a batch of one key, which is accepted or refused as other batches are. */
int filter_contains(PyObject *self, PyObject *key)
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
