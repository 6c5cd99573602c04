/* Finds out properties of Python objects, without raising exceptions.
 * SPDX-License-Identifier: MIT */
#include "keys.h"

int has(PyObject *object, const char *name)
{
  return PyObject_HasAttrString(object, name);
}

bool is_instance_of(PyObject *object, const char *module, const char *type)
{
  PyObject *imported = PyImport_ImportModule(module);
  PyObject *class = imported ? PyObject_GetAttrString(imported, type) : NULL;
  const int is = class ? PyObject_IsInstance(object, class) : 0;
  Py_XDECREF(class);
  Py_XDECREF(imported);
  PyErr_Clear();
  return is > 0;
}
