/* Defines system.h for Windows.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"
#include "win32.h"

/* ---- Errors ---- */

bool lanebloom_win32_fail(void)
{
  static const struct {
    DWORD code;
    int error;
  } known[] = {
      {ERROR_FILE_NOT_FOUND, ENOENT},
      {ERROR_PATH_NOT_FOUND, ENOENT},
      {ERROR_INVALID_NAME, ENOENT},
      {ERROR_BAD_PATHNAME, ENOENT},
      {ERROR_BAD_NETPATH, ENOENT},
      {ERROR_INVALID_DRIVE, ENOENT},
      {ERROR_DIRECTORY, ENOTDIR},
      {ERROR_ACCESS_DENIED, EACCES},
      {ERROR_SHARING_VIOLATION, EACCES},
      {ERROR_LOCK_VIOLATION, EACCES},
      {ERROR_UNABLE_TO_REMOVE_REPLACED, EACCES},
      {ERROR_UNABLE_TO_MOVE_REPLACEMENT, EACCES},
      {ERROR_UNABLE_TO_MOVE_REPLACEMENT_2, EACCES},
      {ERROR_WRITE_PROTECT, EROFS},
      {ERROR_PRIVILEGE_NOT_HELD, EPERM},
      {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
      {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
      {ERROR_OUTOFMEMORY, ENOMEM},
      {ERROR_COMMITMENT_LIMIT, ENOMEM},
      {ERROR_DISK_FULL, ENOSPC},
      {ERROR_HANDLE_DISK_FULL, ENOSPC},
      {ERROR_BROKEN_PIPE, EPIPE},
      {ERROR_NO_DATA, EPIPE},
      {ERROR_PIPE_NOT_CONNECTED, EPIPE},
      {ERROR_FILE_EXISTS, EEXIST},
      {ERROR_ALREADY_EXISTS, EEXIST},
      {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
      {ERROR_INVALID_HANDLE, EBADF},
      {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
      {ERROR_USER_MAPPED_FILE, EBUSY},
      {ERROR_INVALID_PARAMETER, EINVAL},
      {ERROR_NO_UNICODE_TRANSLATION, EILSEQ},
  };
  const DWORD code = GetLastError();
  errno = EIO;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].code == code)
      errno = known[i].error;
  return false;
}

const char *lanebloom_system_error(int error, char *text, size_t size)
{
  if (strerror_s(text, size, error) != 0)
    snprintf(text, size, "error %d", error);
  return text;
}

/* A process of Windows has no more rights than its environment's owner gave it. */
const char *lanebloom_system_environment(const char *name)
{
  return getenv(name);
}

unsigned long lanebloom_system_cpu_bits(int word)
{
  (void)word;
  return 0;
}

double lanebloom_system_seconds(void)
{
  LARGE_INTEGER now, per_second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&per_second);
  return (double)now.QuadPart / (double)per_second.QuadPart;
}

/* ---- Memory ---- */

void *lanebloom_system_allocate(size_t alignment, size_t nbytes)
{
  return _aligned_malloc(nbytes, alignment);
}

void lanebloom_system_free(void *bytes)
{
  _aligned_free(bytes);
}

/* Allocations begin at multiples of 64 KiB, so more addresses are reserved than pages are used.
 * Huge pages are not used, because only privileged users may lock them in memory. */
uint8_t *lanebloom_system_pages(size_t nbytes, size_t alignment)
{
  uint8_t *reserved = VirtualAlloc(NULL, nbytes + alignment, MEM_RESERVE, PAGE_NOACCESS);
  if (!reserved)
    return NULL;
  uint8_t *pages = reserved + (-(uintptr_t)reserved & (alignment - 1));
  if (VirtualAlloc(pages, nbytes, MEM_COMMIT, PAGE_READWRITE))
    return pages;
  VirtualFree(reserved, 0, MEM_RELEASE);
  return NULL;
}

void lanebloom_system_pages_free(uint8_t *pages, size_t nbytes)
{
  MEMORY_BASIC_INFORMATION found;
  (void)nbytes;
  if (VirtualQuery(pages, &found, sizeof found) > 0)
    VirtualFree(found.AllocationBase, 0, MEM_RELEASE);
}

struct sorting {
  int (*compare)(const void *, const void *, void *);
  void *context;
};

/* The function that qsort_s() calls takes its context first. */
static int compare_for(void *context, const void *a, const void *b)
{
  const struct sorting *sorting = context;
  return sorting->compare(a, b, sorting->context);
}

void lanebloom_system_sort(void *elements, size_t n, size_t size,
                           int (*compare)(const void *, const void *, void *), void *context)
{
  struct sorting sorting = {compare, context};
  if (n > 1)
    qsort_s(elements, n, size, compare_for, &sorting);
}

/* ---- Paths ---- */

wchar_t *lanebloom_win32_wide(const char *text)
{
  const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
  if (n <= 0)
    lanebloom_win32_fail();
  if (wide)
    MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
  return wide;
}

char *lanebloom_win32_utf8(const wchar_t *text)
{
  const int n = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, NULL, 0, NULL, NULL);
  char *bytes = n > 0 ? malloc((size_t)n) : NULL;
  if (n <= 0)
    lanebloom_win32_fail();
  if (bytes)
    WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, n, NULL, NULL);
  return bytes;
}

static const wchar_t verbatim[] = L"\\\\?\\", verbatim_share[] = L"\\\\?\\UNC\\";
enum { SHARE_NCHARS = 2 }; /* the backslashes before the name of a server */

/* Adds the prefix with which Windows takes a path as it is, and so of any length. */
static wchar_t *lengthen(const wchar_t *full, size_t n)
{
  const bool is_share = full[0] == L'\\' && full[1] == L'\\';
  const wchar_t *prefix = is_share ? verbatim_share : verbatim;
  const wchar_t *rest = is_share ? full + SHARE_NCHARS : full;
  wchar_t *path = malloc((wcslen(verbatim_share) + n + 1) * sizeof *path);
  if (path)
    wcscat(wcscpy(path, prefix), rest);
  return path;
}

/* Does the path name a descriptor, as bash makes of <(...)? Windows has no such paths, and under
 * Wine they would name descriptors of another process. */
static bool names_descriptor(const char *path)
{
  return strncmp(path, "/dev/fd/", strlen("/dev/fd/")) == 0 ||
         strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/")) == 0;
}

/* GetFullPathNameW() turns slashes into backslashes, and NUL into \\.\NUL. Only a path that is too
 * long for it gets the prefix, because Windows takes no names of devices with it. */
wchar_t *lanebloom_win32_path(const char *path)
{
  enum { SHORT_NCHARS = MAX_PATH - 13 }; /* a folder needs room for a name of 8.3 characters */
  if (!*path || names_descriptor(path)) {
    errno = ENOENT;
    return NULL;
  }
  wchar_t *wide = lanebloom_win32_wide(path);
  if (!wide)
    return NULL;
  const DWORD room = GetFullPathNameW(wide, 0, NULL, NULL);
  wchar_t *full = room > 0 ? malloc(room * sizeof *full) : NULL;
  if (room == 0)
    lanebloom_win32_fail();
  const DWORD n = full ? GetFullPathNameW(wide, room, full, NULL) : 0;
  free(wide);
  if (!full || n < SHORT_NCHARS || wcsncmp(full, L"\\\\?\\", 4) == 0 ||
      wcsncmp(full, L"\\\\.\\", 4) == 0)
    return full;
  wchar_t *longer = lengthen(full, n);
  free(full);
  return longer;
}

char *lanebloom_win32_final_path(HANDLE file)
{
  const DWORD room = GetFinalPathNameByHandleW(file, NULL, 0, 0);
  wchar_t *final = room > 0 ? malloc((room + 1) * sizeof *final) : NULL;
  if (room == 0)
    lanebloom_win32_fail();
  if (!final || GetFinalPathNameByHandleW(file, final, room + 1, 0) == 0) {
    free(final);
    return NULL;
  }
  wchar_t *shown = final; /* without the prefix, which people do not write */
  if (wcsncmp(final, verbatim_share, wcslen(verbatim_share)) == 0) {
    shown = final + wcslen(verbatim_share) - SHARE_NCHARS;
    shown[0] = L'\\';
  } else if (wcsncmp(final, verbatim, wcslen(verbatim)) == 0) {
    shown = final + wcslen(verbatim);
  }
  char *path = lanebloom_win32_utf8(shown);
  free(final);
  return path;
}

int lanebloom_win32_standard(const char *path)
{
  static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int file = 0; file < 3; file++)
    if (strcmp(path, names[file]) == 0)
      return file;
  return -1;
}

/* ---- Files ---- */

HANDLE lanebloom_win32_handle(int file)
{
  return file >= 0 ? (HANDLE)_get_osfhandle(file) : INVALID_HANDLE_VALUE;
}

static int descriptor_of(HANDLE handle, int flags)
{
  const int file = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
  if (file < 0)
    CloseHandle(handle);
  return file;
}

int lanebloom_win32_open(const wchar_t *path, DWORD access, DWORD disposition, DWORD flags)
{
  const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE handle = CreateFileW(path, access, share, NULL, disposition, flags, NULL);
  if (handle == INVALID_HANDLE_VALUE) {
    lanebloom_win32_fail();
    return -1;
  }
  return descriptor_of(handle, access & GENERIC_WRITE ? 0 : _O_RDONLY);
}

/* The content of a file changed when it was last written. Windows counts units of 100 ns from
 * 1601. */
static int64_t seconds_since_1970(FILETIME time)
{
  const uint64_t units = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
  return (int64_t)(units / 10000000) - INT64_C(11644473600);
}

/* Stores the numbers that identify a file. FAT and some servers of files do not know the longer
 * one, and some give 0 as the shorter one; then the path does. */
static void identify(HANDLE handle, const BY_HANDLE_FILE_INFORMATION *found,
                     struct system_info *info)
{
  FILE_ID_INFO id;
  info->device = found->dwVolumeSerialNumber;
  info->number = (uint64_t)found->nFileIndexHigh << 32 | found->nFileIndexLow;
  if (GetFileInformationByHandleEx(handle, FileIdInfo, &id, sizeof id)) {
    uint64_t parts[2];
    memcpy(parts, &id.FileId, sizeof parts);
    info->device = id.VolumeSerialNumber;
    info->number = parts[0] ^ parts[1];
  }
  char *path = info->number == 0 ? lanebloom_win32_final_path(handle) : NULL;
  for (const char *next = path; next && *next; next++)
    info->number = info->number * 31 + (uint8_t)*next;
  free(path);
}

/* Returns the number of the volume of the current folder, or 0. */
static uint64_t current_device(void)
{
  FILE_ID_INFO id = {0};
  const HANDLE folder = CreateFileW(L".", FILE_READ_ATTRIBUTES,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (folder == INVALID_HANDLE_VALUE)
    return 0;
  GetFileInformationByHandleEx(folder, FileIdInfo, &id, sizeof id);
  CloseHandle(folder);
  return id.VolumeSerialNumber;
}

/* Describes a file of no volume: under Wine, a standard stream that a program of Unix opened. It
 * counts as a file of the current drive, so that an input that is also the output is found. */
static bool describe_without_volume(HANDLE handle, struct system_info *info)
{
  LARGE_INTEGER nbytes;
  if (!GetFileSizeEx(handle, &nbytes))
    return lanebloom_win32_fail();
  *info = (struct system_info){.kind = SYSTEM_FILE, .nbytes = (uint64_t)nbytes.QuadPart};
  identify(handle, &(BY_HANDLE_FILE_INFORMATION){0}, info);
  info->device = current_device();
  return true;
}

static bool describe(HANDLE handle, struct system_info *info)
{
  BY_HANDLE_FILE_INFORMATION found;
  *info = (struct system_info){0};
  switch (GetFileType(handle)) {
  case FILE_TYPE_PIPE:
    info->kind = SYSTEM_PIPE;
    return true;
  case FILE_TYPE_CHAR:
    info->kind = SYSTEM_CHARACTERS;
    return true;
  case FILE_TYPE_DISK:
    break;
  default:
    errno = EBADF;
    return false;
  }
  if (!GetFileInformationByHandle(handle, &found))
    return describe_without_volume(handle, info);
  *info = (struct system_info){
      .kind = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? SYSTEM_FOLDER : SYSTEM_FILE,
      .nbytes = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow,
      .changed_seconds = seconds_since_1970(found.ftLastWriteTime),
  };
  identify(handle, &found, info);
  return true;
}

bool lanebloom_system_info(const char *path, struct system_info *info)
{
  const int standard = lanebloom_win32_standard(path);
  if (standard >= 0)
    return lanebloom_system_file_info(standard, info);
  wchar_t *wide = lanebloom_win32_path(path);
  if (!wide)
    return false;
  const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, share, NULL, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS, NULL);
  free(wide);
  if (handle == INVALID_HANDLE_VALUE)
    return lanebloom_win32_fail();
  const bool is_described = describe(handle, info);
  CloseHandle(handle);
  return is_described;
}

bool lanebloom_system_file_info(int file, struct system_info *info)
{
  return describe(lanebloom_win32_handle(file), info);
}

bool lanebloom_system_exists(const char *path)
{
  struct system_info info;
  return lanebloom_system_info(path, &info);
}

bool lanebloom_system_has_name(const char *path)
{
  wchar_t *wide = lanebloom_win32_path(path);
  const bool has_one = wide && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES;
  if (wide && !has_one)
    lanebloom_win32_fail();
  free(wide);
  return has_one;
}

/* Also opens folders, as Unix does; reading from one fails. Opening a pipe never waits. */
int lanebloom_system_open(const char *path, bool waits)
{
  (void)waits;
  const int standard = lanebloom_win32_standard(path);
  if (standard >= 0)
    return lanebloom_system_duplicate(standard);
  wchar_t *wide = lanebloom_win32_path(path);
  if (!wide)
    return -1;
  const int file =
      lanebloom_win32_open(wide, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
  free(wide);
  return file;
}

static uint64_t position_of(HANDLE handle)
{
  LARGE_INTEGER at = {.QuadPart = 0};
  return SetFilePointerEx(handle, at, &at, FILE_CURRENT) ? (uint64_t)at.QuadPart : 0;
}

/* Opens a file on disk once more. That fails if the program that opened it lets nobody else read
 * it, and under Wine if a program of Unix did. */
static HANDLE reopen(HANDLE handle)
{
  return ReOpenFile(handle, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    0);
}

/* Reading at an offset moves the position of the file, so the duplicate of a file on disk has a
 * position of its own, which begins where the position of the file is. Only the duplicate of a file
 * that lanebloom_system_position() refuses shares the position. */
int lanebloom_system_duplicate(int file)
{
  const HANDLE handle = lanebloom_win32_handle(file);
  uint64_t position;
  if (!lanebloom_system_position(file, &position))
    return _dup(file);
  const HANDLE again = reopen(handle);
  if (again == INVALID_HANDLE_VALUE) {
    lanebloom_win32_fail();
    return -1;
  }
  const LARGE_INTEGER at = {.QuadPart = (LONGLONG)position};
  SetFilePointerEx(again, at, NULL, FILE_BEGIN);
  return descriptor_of(again, _O_RDONLY);
}

void lanebloom_system_close(int file)
{
  const int error = errno;
  if (file >= 0)
    _close(file);
  errno = error;
}

/* Only a file that can be opened once more has a position on which its readers can rely. */
bool lanebloom_system_position(int file, uint64_t *position)
{
  const HANDLE handle = lanebloom_win32_handle(file);
  const HANDLE again =
      GetFileType(handle) == FILE_TYPE_DISK ? reopen(handle) : INVALID_HANDLE_VALUE;
  const bool has_one = again != INVALID_HANDLE_VALUE;
  *position = has_one ? position_of(handle) : 0;
  if (has_one)
    CloseHandle(again);
  else
    errno = ESPIPE;
  return has_one;
}

/* Reads once. An end of the file or of a pipe is no error. */
static ssize_t read_from(HANDLE handle, void *to, size_t nbytes, OVERLAPPED *at)
{
  DWORD n = 0;
  if (ReadFile(handle, to, nbytes < INT_MAX ? (DWORD)nbytes : INT_MAX, &n, at))
    return (ssize_t)n;
  const DWORD code = GetLastError();
  if (code == ERROR_HANDLE_EOF || code == ERROR_BROKEN_PIPE)
    return 0;
  struct system_info info;
  lanebloom_win32_fail();
  const int error = errno;
  errno = describe(handle, &info) && info.kind == SYSTEM_FOLDER ? EISDIR : error;
  return -1;
}

ssize_t lanebloom_system_read(int file, void *to, size_t nbytes)
{
  return read_from(lanebloom_win32_handle(file), to, nbytes, NULL);
}

/* Windows moves the position of the file, so it is moved back. If several threads read one file,
 * its position is lost, but then none of them may need it. */
ssize_t lanebloom_system_read_at(int file, void *to, size_t nbytes, uint64_t offset)
{
  const HANDLE handle = lanebloom_win32_handle(file);
  const LARGE_INTEGER before = {.QuadPart = (LONGLONG)position_of(handle)};
  OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
  const ssize_t n = read_from(handle, to, nbytes, &at);
  SetFilePointerEx(handle, before, NULL, FILE_BEGIN);
  return n;
}

/* Windows lets nobody shorten a mapped file of a local disk. If the file is on another machine that
 * is lost, reading the map raises EXCEPTION_IN_PAGE_ERROR. */
uint8_t *lanebloom_system_map(int file, size_t nbytes)
{
  const HANDLE mapping =
      CreateFileMappingW(lanebloom_win32_handle(file), NULL, PAGE_READONLY, 0, 0, NULL);
  uint8_t *bytes = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, nbytes) : NULL;
  if (!bytes)
    lanebloom_win32_fail();
  if (mapping)
    CloseHandle(mapping); /* the view keeps it */
  return bytes;
}

void lanebloom_system_unmap(uint8_t *bytes, size_t nbytes)
{
  (void)nbytes;
  UnmapViewOfFile(bytes);
}

/* ---- Folders ---- */

struct system_folder {
  HANDLE search;
  WIN32_FIND_DATAW entry; /* the entry that comes next, if has_next */
  bool has_next;
  int error; /* why the names after the entry could not be read, or 0 */
  char name[4 * MAX_PATH];
};

struct system_folder *lanebloom_system_folder_open(const char *path)
{
  struct system_folder *folder = malloc(sizeof *folder);
  wchar_t *wide = folder ? lanebloom_win32_path(path) : NULL;
  wchar_t *pattern = wide ? malloc((wcslen(wide) + sizeof "\\*") * sizeof *pattern) : NULL;
  if (!pattern) {
    free(wide);
    free(folder);
    return NULL;
  }
  wcscat(wcscpy(pattern, wide), L"\\*");
  free(wide);
  folder->search = FindFirstFileW(pattern, &folder->entry);
  free(pattern);
  folder->has_next = folder->search != INVALID_HANDLE_VALUE;
  folder->error = 0;
  if (!folder->has_next && GetLastError() != ERROR_FILE_NOT_FOUND) {
    lanebloom_win32_fail();
    free(folder);
    return NULL;
  }
  return folder;
}

const char *lanebloom_system_folder_next(struct system_folder *folder)
{
  errno = folder->error;
  if (!folder->has_next)
    return NULL;
  const bool is_text = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, folder->entry.cFileName,
                                           -1, folder->name, sizeof folder->name, NULL, NULL) > 0;
  if (!is_text) {
    lanebloom_win32_fail();
    return NULL;
  }
  folder->has_next = FindNextFileW(folder->search, &folder->entry);
  if (!folder->has_next && GetLastError() != ERROR_NO_MORE_FILES) {
    lanebloom_win32_fail();
    folder->error = errno;
  }
  return folder->name;
}

void lanebloom_system_folder_close(struct system_folder *folder)
{
  if (folder->search != INVALID_HANDLE_VALUE)
    FindClose(folder->search);
  free(folder);
}

/* ---- Patterns ---- */

static bool is_separator(char byte)
{
  return byte == '/' || byte == '\\';
}

static char small(char byte)
{
  return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* Returns the next character of a name, of which `name` may be the last byte. */
static const char *next_character(const char *name)
{
  do
    name++;
  while (((uint8_t)*name & 0xc0) == 0x80);
  return name;
}

/* Does the name match the first n bytes of a pattern? Windows tells no capital letters from small
 * ones; here that is so for those of ASCII. */
static bool matches(const char *pattern, size_t n, const char *name)
{
  const char *end = pattern + n, *star = NULL, *after_star = NULL;
  while (*name) {
    if (pattern < end && *pattern == '*') {
      star = ++pattern;
      after_star = name;
    } else if (pattern < end && *pattern == '?') {
      pattern++;
      name = next_character(name);
    } else if (pattern < end && small(*pattern) == small(*name)) {
      pattern++;
      name++;
    } else if (star) { /* the last star takes one character more */
      pattern = star;
      name = after_star = next_character(after_star);
    } else {
      return false;
    }
  }
  while (pattern < end && *pattern == '*')
    pattern++;
  return pattern == end;
}

struct match {
  int (*visit)(void *context, const char *path);
  void *context;
};

static char *append(const char *begin, size_t nbegin, const char *text, size_t n)
{
  char *joined = malloc(nbegin + n + 1);
  if (!joined)
    return NULL;
  memcpy(joined, begin, nbegin);
  memcpy(joined + nbegin, text, n);
  joined[nbegin + n] = 0;
  return joined;
}

/* Visits the paths that begin with `begin` and go on with what the pattern matches. */
/* NOLINTNEXTLINE(misc-no-recursion): the recursion is as deep as the pattern has components */
static int match_rest(const struct match *match, const char *begin, const char *pattern)
{
  const size_t nbegin = strlen(begin), nplain = strcspn(pattern, "*?");
  size_t ncomponent = nplain; /* the plain components before the first one with * or ? */
  if (pattern[nplain] == 0) {
    char *path = append(begin, nbegin, pattern, nplain);
    const int result = !path                             ? -1
                       : lanebloom_system_has_name(path) ? match->visit(match->context, path)
                                                         : 0;
    free(path);
    return result;
  }
  while (ncomponent > 0 && !is_separator(pattern[ncomponent - 1]))
    ncomponent--;
  char *folder = append(begin, nbegin, pattern, ncomponent);
  const char *component = pattern + ncomponent;
  const size_t n = strcspn(component, "/\\");
  struct system_folder *list = folder ? lanebloom_system_folder_open(*folder ? folder : ".") : NULL;
  int result = folder && (list || errno == ENOENT || errno == ENOTDIR) ? 0 : -1;
  const char *name = NULL;
  while (list && !result && (name = lanebloom_system_folder_next(list))) {
    if ((*name == '.' && *component != '.') || !matches(component, n, name))
      continue;
    char *path = append(folder, strlen(folder), name, strlen(name));
    result = !path               ? -1
             : component[n] == 0 ? match->visit(match->context, path)
                                 : match_rest(match, path, component + n);
    free(path);
  }
  if (list && !result && !name && errno)
    result = -1;
  if (list)
    lanebloom_system_folder_close(list);
  free(folder);
  return result;
}

int lanebloom_system_match(const char *pattern, int (*visit)(void *context, const char *path),
                           void *context)
{
  return match_rest(&(struct match){visit, context}, "", pattern);
}
