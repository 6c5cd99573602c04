/* Sets and frees the arrays of a batch, and finds the encoding and the bytes of its keys.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

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

void set_schema(struct batch *batch, const char *format)
{
  batch->own_schema = (struct ArrowSchema){.format = format, .name = "", .release = release_schema};
  batch->schema = &batch->own_schema;
}

/* Sets the metadata that mark values of 16 bytes as UUIDs. The metadata consist of the number of
 * pairs, which is 1, and of one pair of strings. A length comes before each string. */
void mark_uuid(struct batch *batch)
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

int set_array(struct batch *batch, size_t n, const void *validity, const void *first,
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

int check_count(uint64_t n)
{
  if (n <= PTRDIFF_MAX / 64)
    return 0;
  PyErr_Format(PyExc_ValueError, "keys: expected at most %zd rows, found %llu",
               (Py_ssize_t)(PTRDIFF_MAX / 64), (unsigned long long)n);
  return -1;
}

/* ---- Batches ---- */

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
