/* lanebloom.Database: finds the keys that may be in a database of LevelDB, goleveldb, RocksDB or
 * Pebble.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

typedef struct {
  PyObject_HEAD lanebloom_table **tables; /* the last one has the keys of the logs */
  size_t ntables;
  char engine[16];
  PyObject *path;
} Database;

/* ---- Opening ---- */

/* Tables that are open, ascending by number. */
struct open_tables {
  lanebloom_table **tables;
  uint64_t *numbers;
  char **paths;
  size_t n, next; /* next: the first that may be taken */
};

/* Takes a table out of the list. Calls must be in ascending order, too. */
static lanebloom_table *take(struct open_tables *open, const lanebloom_database_table *live)
{
  while (open->next < open->n && open->numbers[open->next] < live->number)
    open->next++;
  const size_t i = open->next;
  if (i == open->n || open->numbers[i] != live->number || strcmp(open->paths[i], live->path) != 0)
    return NULL;
  lanebloom_table *table = open->tables[i];
  open->tables[i] = NULL;
  return table;
}

static void free_names(struct open_tables *open)
{
  for (size_t i = 0; i < open->n; i++)
    free(open->paths[i]);
  free(open->paths);
  free(open->numbers);
}

static void close_tables(struct open_tables *open)
{
  for (size_t i = 0; i < open->n; i++)
    lanebloom_table_close(open->tables[i]);
  free(open->tables);
  free_names(open);
  *open = (struct open_tables){0};
}

static lanebloom_status raise_no_memory(char problem[PROBLEM_NBYTES])
{
  snprintf(problem, PROBLEM_NBYTES, "out of memory");
  return LANEBLOOM_ERR_MEMORY;
}

/* Opens all live tables, and takes those that `before` has. *failed: a table could not be opened.
 * Signals may raise exceptions. */
static lanebloom_status open_live(const lanebloom_database *database, lanebloom_writer writer,
                                  struct open_tables *before, struct open_tables *open,
                                  bool *failed, char problem[PROBLEM_NBYTES])
{
  const size_t n = lanebloom_database_table_count(database);
  *failed = false;
  *open = (struct open_tables){.tables = calloc(n + 1, sizeof *open->tables),
                               .numbers = calloc(n + 1, sizeof *open->numbers),
                               .paths = calloc(n + 1, sizeof *open->paths)};
  if (!open->tables || !open->numbers || !open->paths)
    return raise_no_memory(problem);
  for (; open->n < n; open->n++) {
    const lanebloom_database_table live = lanebloom_database_table_at(database, open->n);
    char text[PROBLEM_NBYTES / 2];
    if (PyErr_CheckSignals() < 0)
      return LANEBLOOM_ERR_ARGUMENT; /* an exception has been raised */
    open->paths[open->n] = strdup(live.path);
    if (!open->paths[open->n])
      return raise_no_memory(problem);
    open->numbers[open->n] = live.number;
    open->tables[open->n] = take(before, &live);
    if (open->tables[open->n])
      continue;
    lanebloom_status status;
    Py_BEGIN_ALLOW_THREADS
    status = lanebloom_table_open(live.path, writer, &open->tables[open->n], text, sizeof text);
    Py_END_ALLOW_THREADS
    if (status) {
      snprintf(problem, PROBLEM_NBYTES, "%s: %s", live.path, text);
      free(open->paths[open->n]);
      *failed = true;
      return status;
    }
  }
  return LANEBLOOM_OK;
}

/* Opens the tables that are not open yet. *changed: a table could not be opened, and an engine has
 * replaced tables meanwhile. */
static lanebloom_status open_version(lanebloom_database *database, lanebloom_writer writer,
                                     struct open_tables *open, bool *changed,
                                     char problem[PROBLEM_NBYTES])
{
  struct open_tables before = *open;
  char text[PROBLEM_NBYTES];
  bool failed;
  *changed = false;
  const lanebloom_status status = open_live(database, writer, &before, open, &failed, problem);
  close_tables(&before);
  if (!failed)
    return status;
  lanebloom_status updated;
  Py_BEGIN_ALLOW_THREADS
  updated = lanebloom_database_update(database, changed, text, sizeof text);
  Py_END_ALLOW_THREADS
  if (!updated)
    return status;
  memcpy(problem, text, sizeof text);
  *changed = false;
  return updated;
}

/* The most times that an engine may replace tables while they are opened. */
enum { MAX_VERSIONS = 100 };

static lanebloom_status open_all(lanebloom_database *database, lanebloom_writer writer,
                                 struct open_tables *open, char problem[PROBLEM_NBYTES])
{
  lanebloom_status status = LANEBLOOM_OK;
  bool changed = true;
  for (int i = 0; changed && i < MAX_VERSIONS; i++)
    status = open_version(database, writer, open, &changed, problem);
  if (!changed)
    return status;
  snprintf(problem, PROBLEM_NBYTES,
           "being written: expected tables that stay, found that they changed %d times: try again, "
           "or open a copy",
           MAX_VERSIONS);
  return LANEBLOOM_ERR_LIMIT;
}

static lanebloom_status open_database(Database *self, const char *path, lanebloom_writer writer,
                                      char problem[PROBLEM_NBYTES], PyObject **damage)
{
  lanebloom_database *database;
  struct open_tables open = {0};
  lanebloom_table *logs = NULL;
  lanebloom_status status;
  Py_BEGIN_ALLOW_THREADS
  status = lanebloom_database_open(path, NULL, &database, problem, PROBLEM_NBYTES);
  Py_END_ALLOW_THREADS
  if (status)
    return status;
  status = open_all(database, writer, &open, problem);
  Py_BEGIN_ALLOW_THREADS
  if (!status)
    status = lanebloom_database_logs(database, &logs, problem, PROBLEM_NBYTES);
  Py_END_ALLOW_THREADS
  if (!status) {
    lanebloom_database_info info;
    lanebloom_database_describe(database, &info, sizeof info);
    snprintf(self->engine, sizeof self->engine, "%s", lanebloom_engine_name(info.engine));
    open.tables[open.n] = logs; /* there is room for one more */
    self->tables = open.tables;
    self->ntables = open.n + 1;
    free_names(&open);
    const char *text = lanebloom_database_damage(database, 0);
    *damage = text ? PyUnicode_DecodeFSDefault(text) : NULL;
  } else {
    close_tables(&open);
  }
  lanebloom_database_close(database);
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
  const lanebloom_writer writer =
      writer_name ? lanebloom_writer_by_name(writer_name) : LANEBLOOM_WRITER_UNKNOWN;
  if (writer_name && !writer)
    return PyErr_Format(PyExc_ValueError,
                        "writer: expected \"leveldb\" or \"goleveldb\", found \"%s\"", writer_name);
  Database *self = (Database *)PyType_GenericAlloc(type, 0);
  if (!self || path_begin(&path, object) < 0) {
    Py_XDECREF((PyObject *)self);
    return NULL;
  }
  self->path = Py_NewRef(path.text);
  const lanebloom_status status = open_database(self, path_name(&path), writer, problem, &damage);
  if (status && !PyErr_Occurred())
    raise_status(status, problem, path.text);
  else if (damage)
    PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%S: %S; keys may be missing", path.text, damage);
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
    lanebloom_table_close(self->tables[i]);
  free(self->tables);
  Py_XDECREF(self->path);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- Screening ---- */

/* Checks that keys are bytes, as in databases. */
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

/* Parts whose bitmaps are small (lanebloom_tables.h). */
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
     "Which keys may be in the database, its logs included: numpy bool, one per row. Keys are str\n"
     "or bytes. A key that is reported as absent has no value in the version that was opened."},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void
          *)"Database(path, *, writer=None)\n--\n\n"
            "The database of LevelDB, goleveldb, RocksDB or Pebble in a folder, as it is now. It\n"
            "may be open elsewhere; nothing is written. writer: \"leveldb\" or \"goleveldb\", if "
            "it\n"
            "is known who wrote tables with old filters.\n\n"
            "Raises OSError, lanebloom.Error. A damaged log is a RuntimeWarning: what can be read\n"
            "of it is read."},
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
