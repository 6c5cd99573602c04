/* The Python type lanebloom.Database, which finds the keys that may be in a database of LevelDB,
 * goleveldb, RocksDB or Pebble.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

typedef struct {
  PyObject_HEAD lanebloom_table **tables; /* the last table has the keys of the logs */
  size_t ntables;
  char engine[16];
  PyObject *path;
} Database;

/* ---- Opening ---- */

/* Runs the handlers of signals, and returns whether one of them raised an exception. context: the
 * address of the thread state that was saved when the interpreter's lock was released. */
static bool is_interrupted(void *context)
{
  PyThreadState **released = context;
  PyEval_RestoreThread(*released);
  const bool is_raised = PyErr_CheckSignals() < 0;
  *released = PyEval_SaveThread();
  return is_raised;
}

/* Moves the open tables and the table of the logs to the object. If memory ran out, closes these
 * tables and returns false. */
static bool take_tables(Database *self, const lanebloom_database *database, lanebloom_table *logs)
{
  const size_t n = lanebloom_database_table_count(database);
  self->tables = malloc((n + 1) * sizeof *self->tables);
  for (size_t i = 0; i < n; i++) {
    lanebloom_table *table = lanebloom_database_table_at(database, i).opened;
    if (self->tables)
      self->tables[self->ntables++] = table;
    else
      lanebloom_table_free(table);
  }
  if (self->tables)
    self->tables[self->ntables++] = logs;
  else
    lanebloom_table_free(logs);
  return self->tables != NULL;
}

/* Opens the database, without the interpreter's lock. */
static lanebloom_status open_database(Database *self, const char *path, lanebloom_writer writer,
                                      char problem[PROBLEM_NBYTES], lanebloom_database **database)
{
  PyThreadState *released = PyEval_SaveThread();
  const lanebloom_table_visitor visitor = {.context = &released, .is_stopped = is_interrupted};
  lanebloom_table *logs = NULL;
  lanebloom_status status = lanebloom_database_open(path, NULL, database, problem, PROBLEM_NBYTES);
  if (!status)
    status = lanebloom_database_open_tables(*database, writer, &visitor, problem, PROBLEM_NBYTES);
  if (!status) {
    status = lanebloom_database_logs(*database, &logs, problem, PROBLEM_NBYTES);
    if (!take_tables(self, *database, logs) && !status) {
      snprintf(problem, PROBLEM_NBYTES, "out of memory");
      status = LANEBLOOM_ERR_MEMORY;
    }
  }
  PyEval_RestoreThread(released);
  return status;
}

static PyObject *database_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
  static char *names[] = {"path", "writer", NULL};
  PyObject *object, *damage = NULL;
  const char *writer_name = NULL;
  char problem[PROBLEM_NBYTES];
  struct path path;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$z", names, &object, &writer_name))
    return NULL;
  lanebloom_writer writer = LANEBLOOM_WRITER_UNKNOWN;
  if (writer_name && !lanebloom_writer_by_name(writer_name, &writer))
    return PyErr_Format(PyExc_ValueError,
                        "writer: expected \"leveldb\" or \"goleveldb\", found \"%s\"", writer_name);
  Database *self = (Database *)PyType_GenericAlloc(type, 0);
  if (!self || path_begin(&path, object) < 0) {
    Py_XDECREF((PyObject *)self);
    return NULL;
  }
  self->path = Py_NewRef(path.text);
  lanebloom_database *database = NULL;
  const lanebloom_status status = open_database(self, path.name, writer, problem, &database);
  if (!status) {
    lanebloom_database_info info;
    lanebloom_database_describe(database, &info, sizeof info);
    snprintf(self->engine, sizeof self->engine, "%s", lanebloom_engine_name(info.engine));
    const char *text = lanebloom_database_damage_at(database, 0);
    damage = text ? PyUnicode_DecodeFSDefault(text) : NULL;
  }
  lanebloom_database_free(database);
  if (status && !PyErr_Occurred())
    raise_status(status, problem, path.text);
  else if (damage)
    PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%S; keys may be missing", damage);
  Py_XDECREF(damage);
  path_end(&path);
  if (PyErr_Occurred()) {
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  return (PyObject *)self;
}

static void database_dealloc(PyObject *object)
{
  Database *self = (Database *)object;
  PyTypeObject *type = Py_TYPE(object);
  for (size_t i = 0; i < self->ntables; i++)
    lanebloom_table_free(self->tables[i]);
  free(self->tables);
  Py_XDECREF(self->path);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- Screening ---- */

/* Checks that the keys are bytes, because databases have no other keys. If the keys are not bytes,
 * returns -1 and raises. */
static int check_bytes(const struct batch *batch)
{
  lanebloom_encoding encoding;
  if (batch_encoding(batch, &encoding) < 0)
    return -1;
  if (encoding == LANEBLOOM_BYTES || encoding == LANEBLOOM_UUID)
    return 0;
  PyErr_Format(PyExc_TypeError, "keys of the database: bytes; the array has %s",
               lanebloom_encoding_name(encoding));
  return -1;
}

/* The number of keys that are screened at a time. The number is small to keep the bitmaps of
 * lanebloom_tables_screen() small. */
enum { PART_NKEYS = 4096 };

static void screen_slices(const Database *self, const lanebloom_slice *slices, size_t n,
                          uint8_t *mask)
{
  for (size_t first = 0; first < n; first += PART_NKEYS) {
    uint8_t hits[PART_NKEYS / 8];
    const size_t npart = n - first < PART_NKEYS ? n - first : PART_NKEYS;
    const lanebloom_keys keys = lanebloom_keys_slices(slices + first, npart);
    lanebloom_tables_screen((const lanebloom_table *const *)self->tables, self->ntables, &keys,
                            hits, NULL, NULL);
    for (size_t i = 0; i < npart; i++)
      mask[first + i] = slices[first + i].data && (hits[i / 8] >> i % 8 & 1);
  }
}

static PyObject *database_screen(PyObject *object, PyObject *keys)
{
  Database *self = (Database *)object;
  struct batch batch;
  Py_buffer buffer;
  void *numbers = NULL;
  if (batch_begin(&batch, keys, LANEBLOOM_BYTES) < 0)
    return NULL;
  lanebloom_slice *slices = check_bytes(&batch) < 0 ? NULL : batch_slices(&batch, &numbers);
  PyObject *mask = slices ? numpy_empty(batch.n, "bool", &buffer) : NULL;
  if (mask) {
    Py_BEGIN_ALLOW_THREADS
    screen_slices(self, slices, batch.n, buffer.buf);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&buffer);
  }
  PyMem_Free(slices);
  PyMem_Free(numbers);
  batch_end(&batch);
  return mask;
}

static PyObject *database_repr(PyObject *object)
{
  const Database *self = (Database *)object;
  return PyUnicode_FromFormat("<lanebloom.Database %R: %s, %zu tables>", self->path, self->engine,
                              self->ntables - 1);
}

static PyMethodDef methods[] = {
    {"screen", database_screen, METH_O,
     "screen($self, keys, /)\n--\n\n"
     "Tells which keys may be in the database, including its logs: numpy bool, one per row. Keys\n"
     "are str or bytes. A key that is reported as absent has no value in the version that was\n"
     "opened."},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void
          *)"Database(path, *, writer=None)\n--\n\n"
            "Opens the current version of a database of LevelDB, goleveldb, RocksDB or Pebble in\n"
            "a folder. Other processes may use the database; nothing is written. writer:\n"
            "\"leveldb\" or \"goleveldb\", if you know which of them wrote tables with old\n"
            "filters.\n\n"
            "Raises OSError, lanebloom.Error. If a log is damaged, its readable part is used, and\n"
            "a RuntimeWarning names the log."},
    {Py_tp_new, database_new},
    {Py_tp_methods, methods},
    {Py_tp_repr, database_repr},
    {Py_tp_dealloc, database_dealloc},
    {0, NULL}};

static PyType_Spec spec = {.name = "lanebloom.Database",
                           .basicsize = sizeof(Database),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

int database_type_add(PyObject *module)
{
  PyObject *type = PyType_FromSpec(&spec);
  return type ? PyModule_AddObjectRef(module, "Database", type) : -1;
}
