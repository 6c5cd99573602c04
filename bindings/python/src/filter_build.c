/* Filter.build(), which builds a filter of one batch of keys.
 * SPDX-License-Identifier: MIT */
#include "filter.h"

/* Builds a filter of a batch. form: the key form, or NULL for the form of the batch's type. */
static lanebloom_status build_filter(lanebloom_format format, const struct size_choice *size,
                                     uint64_t expected, const lanebloom_key_form *form,
                                     const struct batch *batch, lanebloom_filter **filter,
                                     char problem[PROBLEM_NBYTES])
{
  lanebloom_builder *builder = NULL;
  lanebloom_key_form own = {0};
  lanebloom_status status = LANEBLOOM_OK;
  *problem = 0;
  *filter = NULL;
  if (!form)
    status = lanebloom_arrow_key_form(batch->schema, &own, problem, PROBLEM_NBYTES);
  if (!status)
    status = create_builder(format, size, expected, &builder);
  if (!status)
    status = lanebloom_builder_set_key_form(builder, form ? *form : own);
  for (size_t i = 0; i < batch->narrays && !status; i++)
    status = lanebloom_builder_add_arrow(builder, batch->schema, batch->arrays[i], problem,
                                         PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_builder_finish(builder, filter);
  lanebloom_builder_free(builder);
  return status;
}

PyObject *filter_build(PyObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"keys", "bits_per_key", "rate", "format", "form", "expected", NULL};
  PyObject *keys, *bits_object = NULL, *rate = NULL, *expected_object = NULL;
  const char *format_name = "rocksdb-local", *form_name = NULL;
  char problem[PROBLEM_NBYTES];
  lanebloom_format format;
  lanebloom_key_form form = {0};
  struct batch batch;
  uint64_t expected = 0;
  struct size_choice size;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|O$OszO", names, &keys, &bits_object, &rate,
                                   &format_name, &form_name, &expected_object) ||
      find_format(format_name, &format) < 0 || (form_name && find_form(form_name, &form) < 0) ||
      (expected_object && expected_object != Py_None &&
       count_of(expected_object, "expected", &expected) < 0) ||
      batch_begin(&batch, keys, form.encoding) < 0)
    return NULL;
  lanebloom_filter *filter = NULL;
  if (choose_size(format, bits_object, rate, expected ? expected : batch.n, &size) == 0) {
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status =
        build_filter(format, &size, expected, form_name ? &form : NULL, &batch, &filter, problem);
    Py_END_ALLOW_THREADS
    if (status)
      raise_keys(status, problem);
  }
  batch_end(&batch);
  return filter ? filter_wrap(filter, NULL) : NULL;
}
