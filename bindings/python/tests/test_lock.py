# SPDX-License-Identifier: MIT
"""Code that runs without the interpreter's lock must not use the interpreter. The tests search the
C sources for calls; they do not follow calls through pointers."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).parent.parent / "src"
FUNCTION = re.compile(r"^\w[^;{}]*?\b(\w+)\([^;{}]*\)\n{\n(.*?)^}", re.M | re.S)
UNLOCKED = re.compile(
    r"\bPy_BEGIN_ALLOW_THREADS\b(.*?)\bPy_END_ALLOW_THREADS\b"
    r"|\bPyEval_SaveThread\(\)(.*?)\bPyEval_RestoreThread\(",
    re.S,
)


def find_calls(code):
    return set(re.findall(r"\b(\w+)\(", code))


def is_python(name):
    return re.match(r"_?Py(?!Thread_)", name)


def find_unlocked(sources):
    """Returns the number of parts without the lock, and the calls in them that need the lock."""
    calls, unlocked = {}, []
    for file, text in sources.items():
        for name, body in FUNCTION.findall(text):
            calls[file, name] = find_calls(body)
            unlocked += [(file, name, "".join(part)) for part in UNLOCKED.findall(body)]
    users = set()  # functions that use the interpreter, directly or through other functions

    def is_user(file, called):
        if (file, called) in calls:
            return (file, called) in users
        return is_python(called) or any(called == name for _, name in users)

    while more := {
        (file, name) for (file, name), called in calls.items()
        if (file, name) not in users and any(is_user(file, one) for one in called)
    }:  # fmt: skip
        users |= more
    return len(unlocked), [
        f"{file}: {name}() calls {called}() without the lock"
        for file, name, part in unlocked
        for called in sorted(find_calls(part))
        if is_user(file, called)
    ]


def test_code_without_the_lock_does_not_use_the_interpreter():
    planted = """
static int b(void)
{
  return Py_IsNone(0);
}

int a(void)
{
  Py_BEGIN_ALLOW_THREADS
  c(b());
  PyThread_acquire_lock(0, 0);
  Py_END_ALLOW_THREADS
  PyErr_NoMemory();
}

void d(struct x *x,
       int i)
{
  PyThreadState *released = PyEval_SaveThread();
  PyErr_Clear();
  PyEval_RestoreThread(released);
}
"""
    other = "int b(void)\n{\n}\n\nvoid c(int i)\n{\n  PyList_New(i);\n}\n"
    n, found = find_unlocked({"x.c": planted, "y.c": other})
    assert n == 2 and found == [
        "x.c: a() calls b() without the lock",
        "x.c: a() calls c() without the lock",
        "x.c: d() calls PyErr_Clear() without the lock",
    ]
    n, found = find_unlocked({path.name: path.read_text() for path in SOURCES.glob("*.[ch]")})
    assert n >= sum(path.read_text().count("BEGIN_ALLOW") for path in SOURCES.glob("*.c")) > 10
    assert not found
