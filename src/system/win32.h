/* What the files for Windows share (see system.h, replace.h). Windows takes paths as UTF-16; here
 * they are UTF-8.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_WIN32_H
#define LANEBLOOM_WIN32_H

#include <stdbool.h>
#include <stdint.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Converts between UTF-8 and UTF-16. The caller frees the result. On an error returns NULL and sets
 * errno. */
wchar_t *lanebloom_win32_wide(const char *text);
char *lanebloom_win32_utf8(const wchar_t *text);

/* Converts a path to a full path for calls of Windows, which may be longer than MAX_PATH and still
 * names devices such as NUL. The caller frees it. On an error returns NULL and sets errno. */
wchar_t *lanebloom_win32_path(const char *path);

/* Sets errno to what GetLastError() means. Returns false. */
bool lanebloom_win32_fail(void);

/* Opens a file, and lets other processes read, write, rename and delete it. Returns a descriptor,
 * or -1 with errno. */
int lanebloom_win32_open(const wchar_t *path, DWORD access, DWORD disposition, DWORD flags);

HANDLE lanebloom_win32_handle(int file);

/* Returns the descriptor that /dev/stdin, /dev/stdout or /dev/stderr names, or -1. Windows has no
 * such paths, but the command and the functions that load and save filters take them. */
int lanebloom_win32_standard(const char *path);

/* Returns the path that Windows gives an open file, without links, or NULL with errno. The caller
 * frees it. */
char *lanebloom_win32_final_path(HANDLE file);

#endif
