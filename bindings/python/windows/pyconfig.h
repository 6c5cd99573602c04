/* SPDX-License-Identifier: MIT */
/* What Python's headers for the limited API must know about 64-bit Windows. scripts/wheels.sh uses
 * this file with the headers of a Python for Linux. */
#define MS_WIN32 1
#define MS_WIN64 1
#define MS_WINDOWS 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_WCHAR_H 1
#define Py_ENABLE_SHARED 1
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_PID_T 4
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
