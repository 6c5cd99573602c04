/* Takes keys from Arrow's capsules of arrays and streams.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

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

int begin_capsules(struct batch *batch, PyObject *keys)
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
int begin_stream(struct batch *batch, PyObject *keys)
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
