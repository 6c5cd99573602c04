/* Defines replace.h for Windows. The new file is written beside the target, flushed, and put in its
 * place. Until it is complete, it is marked as a file to delete, so nothing is left of it if the
 * process is ended, by Ctrl-C for example.
 * SPDX-License-Identifier: MIT */
#define _CRT_RAND_S
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "replace.h"
#include "system.h"
#include "win32.h"

/* The full paths of the target and of the new file. */
struct replacement_paths {
  wchar_t *target, *temporary;
};

/* ---- Targets ---- */

static bool is_link(const wchar_t *path)
{
  WIN32_FIND_DATAW found;
  const HANDLE search = FindFirstFileW(path, &found);
  if (search == INVALID_HANDLE_VALUE)
    return false;
  FindClose(search);
  return found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT &&
         found.dwReserved0 == IO_REPARSE_TAG_SYMLINK;
}

/* Returns the path of the file to which a link leads. */
static char *follow_link(const wchar_t *link)
{
  const HANDLE file = CreateFileW(link, FILE_READ_ATTRIBUTES,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (file == INVALID_HANDLE_VALUE) {
    lanebloom_win32_fail();
    return NULL;
  }
  char *path = lanebloom_win32_final_path(file);
  CloseHandle(file);
  return path;
}

int lanebloom_follow(const char *path, char target[FOLLOW_NBYTES])
{
  const int standard = lanebloom_win32_standard(path);
  if (standard >= 0)
    return standard;
  wchar_t *wide = lanebloom_win32_path(path);
  if (!wide)
    return FOLLOW_FAILED;
  const bool follows = is_link(wide);
  char *followed = follows ? follow_link(wide) : NULL;
  const bool has_failed = follows && !followed;
  const char *found = followed ? followed : path;
  const bool is_short = strlen(found) < FOLLOW_NBYTES;
  if (is_short)
    strcpy(target, found);
  free(followed);
  free(wide);
  if (!has_failed && !is_short)
    errno = ENAMETOOLONG;
  return !has_failed && is_short ? FOLLOW_PATH : FOLLOW_FAILED;
}

/* Returns the folder of a full path, with the separator at its end. */
static wchar_t *folder_of(const wchar_t *path)
{
  const wchar_t *slash = wcsrchr(path, L'\\');
  const size_t n = slash ? (size_t)(slash + 1 - path) : 0;
  wchar_t *folder = malloc((n + 1) * sizeof *folder);
  if (folder) {
    wmemcpy(folder, path, n);
    folder[n] = 0;
  }
  return folder;
}

/* Checks whether files may be added to the folder of a full path. */
static bool may_add(const wchar_t *path)
{
  wchar_t *folder = folder_of(path);
  if (!folder)
    return false;
  const HANDLE handle =
      CreateFileW(folder, FILE_ADD_FILE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                  NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  free(folder);
  if (handle == INVALID_HANDLE_VALUE)
    return lanebloom_win32_fail();
  CloseHandle(handle);
  return true;
}

/* Checks whether a file can be written at this path: what is there may be replaced, and if it is a
 * regular file or nothing, its folder takes a new file. */
static bool may_replace(const char *path, const wchar_t *wide)
{
  struct system_info old;
  const bool exists = lanebloom_system_info(path, &old);
  if (!exists && errno != ENOENT)
    return false;
  if (wide[wcslen(wide) - 1] == L'\\') {
    errno = exists ? EISDIR : ENOENT;
    return false;
  }
  if (exists && old.kind == SYSTEM_FOLDER) {
    errno = EISDIR;
    return false;
  }
  if (exists && old.kind != SYSTEM_FILE)
    return true;
  if (exists && GetFileAttributesW(wide) & FILE_ATTRIBUTE_READONLY) {
    errno = EACCES;
    return false;
  }
  return may_add(wide);
}

/* Checks whether the descriptor is open for writing: a file on disk accepts to be written no
 * bytes. */
static bool is_writable(int descriptor)
{
  const HANDLE handle = lanebloom_win32_handle(descriptor);
  const DWORD type = GetFileType(handle);
  DWORD n;
  if (type != FILE_TYPE_UNKNOWN && (type != FILE_TYPE_DISK || WriteFile(handle, "", 0, &n, NULL)))
    return true;
  errno = EBADF;
  return false;
}

bool lanebloom_replace_check(const char *path)
{
  char target[FOLLOW_NBYTES];
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return false;
  if (descriptor >= 0)
    return is_writable(descriptor);
  wchar_t *wide = lanebloom_win32_path(target);
  const bool may = wide && may_replace(target, wide);
  free(wide);
  return may;
}

/* ---- Writing ---- */

bool lanebloom_write_all(int fd, const void *bytes, size_t nbytes)
{
  enum { MOST_NBYTES = 1 << 30 };
  const char *next = bytes;
  for (DWORD n = 0; nbytes > 0; next += n, nbytes -= n) {
    if (!WriteFile(lanebloom_win32_handle(fd), next,
                   nbytes < MOST_NBYTES ? (DWORD)nbytes : MOST_NBYTES, &n, NULL))
      return lanebloom_win32_fail();
    if (n == 0) {
      errno = ENOSPC; /* an error, because repeating the call might never write anything */
      return false;
    }
  }
  return true;
}

bool lanebloom_replace_write(struct replacement *file, const void *bytes, size_t nbytes)
{
  return lanebloom_write_all(file->fd, bytes, nbytes);
}

/* Marks the file as one to delete when it is closed, or takes the mark away. A marked file cannot
 * be renamed, so a process that is ended after the mark was taken away may leave its new file. */
static bool mark_to_delete(int fd, bool is_marked)
{
  FILE_DISPOSITION_INFO disposition = {.DeleteFile = is_marked};
  return SetFileInformationByHandle(lanebloom_win32_handle(fd), FileDispositionInfo, &disposition,
                                    sizeof disposition) ||
         lanebloom_win32_fail();
}

/* Returns the path of a file with a random name in the folder of a full path. */
static wchar_t *choose_temporary(const wchar_t *target)
{
  wchar_t name[32];
  unsigned random[2];
  if (rand_s(&random[0]) != 0 || rand_s(&random[1]) != 0) {
    errno = EIO;
    return NULL;
  }
  swprintf(name, sizeof name / sizeof *name, L".lanebloom-%08x%08x", random[0], random[1]);
  wchar_t *folder = folder_of(target);
  wchar_t *path =
      folder ? realloc(folder, (wcslen(folder) + wcslen(name) + 1) * sizeof *path) : NULL;
  if (!path)
    free(folder);
  return path ? wcscat(path, name) : NULL;
}

static void free_paths(struct replacement *file)
{
  if (file->paths) {
    free(file->paths->target);
    free(file->paths->temporary);
  }
  free(file->paths);
  file->paths = NULL;
}

static bool begin_beside(struct replacement *file, const char *path, bool is_new)
{
  file->is_new = is_new;
  file->paths = calloc(1, sizeof *file->paths);
  if (!file->paths)
    return false;
  file->paths->target = lanebloom_win32_path(path);
  file->paths->temporary = file->paths->target ? choose_temporary(file->paths->target) : NULL;
  if (file->paths->temporary)
    file->fd = lanebloom_win32_open(file->paths->temporary, GENERIC_WRITE | DELETE, CREATE_NEW,
                                    FILE_ATTRIBUTE_NORMAL);
  if (file->fd < 0) {
    free_paths(file);
    return false;
  }
  /* Some file systems of other machines do not know the mark; then a process that is ended leaves
   * its new file. */
  file->nameless = mark_to_delete(file->fd, true);
  return true;
}

bool lanebloom_replace_begin(struct replacement *file, const char *path)
{
  *file = (struct replacement){.fd = -1, .folder = -1};
  char target[FOLLOW_NBYTES];
  struct system_info old;
  const int descriptor = lanebloom_follow(path, target);
  if (descriptor == FOLLOW_FAILED)
    return false;
  if (descriptor >= 0) {
    file->fd = _dup(descriptor);
    return file->fd >= 0;
  }
  const bool exists = lanebloom_system_info(target, &old);
  if (!exists && errno != ENOENT)
    return false;
  wchar_t *wide = lanebloom_win32_path(target);
  const bool may = wide && may_replace(target, wide);
  if (may && exists && old.kind != SYSTEM_FILE)
    file->fd = lanebloom_win32_open(wide, GENERIC_WRITE, OPEN_EXISTING, 0);
  free(wide);
  if (!may || (exists && old.kind != SYSTEM_FILE))
    return may && file->fd >= 0;
  return begin_beside(file, target, !exists);
}

/* Gives the new file the name of the target. ReplaceFileW() gives it what the target has besides
 * its content. It works in several steps, and may fail after it has renamed the target; then the
 * name is free, and the new file gets it directly. */
static bool put_in_place(const struct replacement *file)
{
  const struct replacement_paths *paths = file->paths;
  if (file->is_new)
    return MoveFileExW(paths->temporary, paths->target,
                       MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ||
           lanebloom_win32_fail();
  if (ReplaceFileW(paths->target, paths->temporary, NULL, 0, NULL, NULL))
    return true;
  const DWORD code = GetLastError();
  if (MoveFileExW(paths->temporary, paths->target, MOVEFILE_WRITE_THROUGH))
    return true;
  SetLastError(code);
  return lanebloom_win32_fail();
}

/* Has the target lost its name, so that the new file is all that is left beside it? */
static bool is_target_gone(const struct replacement *file)
{
  return !file->is_new && GetFileAttributesW(file->paths->target) == INVALID_FILE_ATTRIBUTES;
}

bool lanebloom_replace_end(struct replacement *file, bool written)
{
  const bool beside = file->paths;
  bool done = written;
  if (done && beside)
    done = (FlushFileBuffers(lanebloom_win32_handle(file->fd)) || lanebloom_win32_fail()) &&
           (!file->nameless || mark_to_delete(file->fd, false));
  int error = errno;
  if (file->fd >= 0 && _close(file->fd) != 0 && done) {
    done = false;
    error = errno;
  }
  bool is_needed = false;
  if (beside && done && !put_in_place(file)) {
    done = false;
    error = errno;
    is_needed = is_target_gone(file);
  }
  if (beside && !done && !is_needed)
    DeleteFileW(file->paths->temporary); /* may fail, because the file may be gone already */
  free_paths(file);
  errno = error;
  return done;
}

bool lanebloom_replace_is_same(const struct replacement *a, const struct replacement *b)
{
  if (a->paths && b->paths)
    return CompareStringOrdinal(a->paths->target, -1, b->paths->target, -1, TRUE) == CSTR_EQUAL;
  struct system_info info_a, info_b;
  return !a->paths && !b->paths && lanebloom_system_file_info(a->fd, &info_a) &&
         lanebloom_system_file_info(b->fd, &info_b) && info_a.kind == info_b.kind &&
         info_a.kind != SYSTEM_CHARACTERS && info_a.device == info_b.device &&
         info_a.number == info_b.number;
}
