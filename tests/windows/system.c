/* The calls of Windows that fail, and files that other programs have open.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>

#include "system/replace.h"
#include "system/system.h"
#include "system/win32.h"

#include "../../cli/system/files.h"

/* ---- Calls of Windows ---- */

/* The linker lets the library call Windows by the pointers __wrap___imp_NAME. */
extern typeof(&FindNextFileW) __real___imp_FindNextFileW;
extern typeof(&ReplaceFileW) __real___imp_ReplaceFileW;
extern typeof(&MoveFileExW) __real___imp_MoveFileExW;

/* The errors that the calls return; 0: none. */
static DWORD next_error, replace_error, move_error;
static bool replace_renames; /* does a failing ReplaceFileW() rename the target first? */

static BOOL WINAPI find_next(HANDLE search, WIN32_FIND_DATAW *found)
{
  if (!next_error)
    return __real___imp_FindNextFileW(search, found);
  SetLastError(next_error);
  return FALSE;
}

static BOOL WINAPI replace_file(const wchar_t *target, const wchar_t *by, const wchar_t *backup,
                                DWORD flags, void *exclude, void *reserved)
{
  if (!replace_error)
    return __real___imp_ReplaceFileW(target, by, backup, flags, exclude, reserved);
  if (replace_renames)
    __real___imp_MoveFileExW(target, L"renamed", 0);
  SetLastError(replace_error);
  return FALSE;
}

static BOOL WINAPI move_file(const wchar_t *from, const wchar_t *to, DWORD flags)
{
  if (!move_error)
    return __real___imp_MoveFileExW(from, to, flags);
  SetLastError(move_error);
  return FALSE;
}

typeof(&FindNextFileW) __wrap___imp_FindNextFileW = find_next;
typeof(&ReplaceFileW) __wrap___imp_ReplaceFileW = replace_file;
typeof(&MoveFileExW) __wrap___imp_MoveFileExW = move_file;

/* ---- A folder for each test ---- */

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "wb");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *content(const char *path)
{
  static char text[64];
  FILE *file = fopen(path, "rb");
  text[file ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
  if (file)
    fclose(file);
  return text;
}

/* Deletes what a test left, and returns how many names there were. */
static int clear(void)
{
  int n = 0;
  WIN32_FIND_DATAW found;
  const HANDLE search = FindFirstFileW(L"*", &found);
  do {
    if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
      continue;
    n++;
    SetFileAttributesW(found.cFileName, FILE_ATTRIBUTE_NORMAL);
    DeleteFileW(found.cFileName);
  } while (__real___imp_FindNextFileW(search, &found));
  FindClose(search);
  return n;
}

static void begin(void)
{
  static bool has_folder;
  wchar_t path[MAX_PATH + 32];
  next_error = replace_error = move_error = 0;
  replace_renames = false;
  if (!has_folder) {
    const DWORD n = GetTempPathW(MAX_PATH, path);
    swprintf(path + n, 32, L"lanebloom-%lu", GetCurrentProcessId());
    cr_assert(CreateDirectoryW(path, NULL) || GetLastError() == ERROR_ALREADY_EXISTS);
    cr_assert(SetCurrentDirectoryW(path));
    has_folder = true;
  }
  clear();
}

/* ---- Folders ---- */

Test(windows, a_folder_that_is_lost_does_not_end)
{
  begin();
  write_file("a", "");
  write_file("b", "");
  struct system_folder *folder = lanebloom_system_folder_open(".");
  cr_assert(folder);
  cr_assert(lanebloom_system_folder_next(folder));
  next_error = ERROR_BAD_NETPATH;
  cr_assert(lanebloom_system_folder_next(folder)); /* was read before */
  next_error = ERROR_GEN_FAILURE;
  cr_assert(!lanebloom_system_folder_next(folder) && errno == ENOENT, "errno is %d", errno);
  lanebloom_system_folder_close(folder);
}

Test(windows, a_folder_ends_without_an_error)
{
  begin();
  write_file("a", "");
  struct system_folder *folder = lanebloom_system_folder_open(".");
  int n = 0;
  while (lanebloom_system_folder_next(folder))
    n++;
  cr_assert(n == 3 && errno == 0, "%d names, errno is %d", n, errno); /* with . and .. */
  lanebloom_system_folder_close(folder);
}

Test(windows, a_name_that_is_no_unicode_is_an_error)
{
  errno = 0;
  cr_assert(!lanebloom_win32_utf8(L"a\xd800z") && errno == EILSEQ, "errno is %d", errno);
}

static int count(void *context, const char *path)
{
  (void)path;
  ++*(int *)context;
  return 0;
}

static int count_matches(const char *pattern)
{
  int n = 0;
  cr_assert(lanebloom_system_match(pattern, count, &n) == 0, "%s: errno is %d", pattern, errno);
  return n;
}

Test(windows, patterns_count_characters)
{
  begin();
  FILE *file = _wfopen(L"\x65e5\x672c.txt", L"wb");
  cr_assert(file && fclose(file) == 0);
  static const struct {
    const char *pattern;
    int n;
  } cases[] = {{"??.txt", 1}, {"???.txt", 0}, {"*??.txt", 1}, {"*???.txt", 0}, {"*?.TXT", 1},
               {"?.txt", 0},  {"*", 1},       {"*.tx", 0},    {"*?*?.t*", 1},  {"*?*?*?.txt", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert(count_matches(cases[i].pattern) == cases[i].n, "%s", cases[i].pattern);
}

/* ---- Open files ---- */

/* Opens a file and lets others do only what `share` says. */
static int open_shared(const wchar_t *path, DWORD access, DWORD share)
{
  const HANDLE file = CreateFileW(path, access, share, NULL, OPEN_EXISTING, 0, NULL);
  cr_assert(file != INVALID_HANDLE_VALUE);
  return _open_osfhandle((intptr_t)file, _O_RDONLY | _O_BINARY);
}

Test(windows, duplicates_have_positions_of_their_own)
{
  char byte;
  uint64_t at;
  begin();
  write_file("a", "0123456789");
  const int file = open_shared(L"a", GENERIC_READ, FILE_SHARE_READ);
  cr_assert(lanebloom_system_read(file, &byte, 1) == 1 && byte == '0');
  const int duplicate = lanebloom_system_duplicate(file);
  cr_assert(duplicate >= 0);
  cr_assert(lanebloom_system_position(duplicate, &at) && at == 1);
  cr_assert(lanebloom_system_read_at(duplicate, &byte, 1, 8) == 1 && byte == '8');
  cr_assert(lanebloom_system_read(duplicate, &byte, 1) == 1 && byte == '1');
  cr_assert(lanebloom_system_position(file, &at) && at == 1);
  _close(duplicate);
  _close(file);
}

Test(windows, a_file_that_others_cannot_read_is_read_in_order)
{
  char byte;
  uint64_t at;
  begin();
  write_file("a", "0123456789");
  const int file = open_shared(L"a", GENERIC_READ, 0);
  cr_assert(!lanebloom_system_position(file, &at) && errno == ESPIPE, "errno is %d", errno);
  const int duplicate = lanebloom_system_duplicate(file);
  cr_assert(lanebloom_system_read(duplicate, &byte, 1) == 1 && byte == '0');
  cr_assert(lanebloom_system_read(duplicate, &byte, 1) == 1 && byte == '1');
  _close(duplicate);
  _close(file);
}

Test(windows, a_mapped_file_is_not_shortened)
{
  begin();
  write_file("a", "0123456789");
  const int file = lanebloom_system_open("a", true);
  uint8_t *bytes = lanebloom_system_map(file, 10);
  cr_assert(bytes && memcmp(bytes, "0123456789", 10) == 0);
  lanebloom_system_close(file);
  const int writer = open_shared(L"a", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE);
  cr_assert(!SetEndOfFile(lanebloom_win32_handle(writer)));
  lanebloom_win32_fail();
  cr_assert(errno == EBUSY, "errno is %d", errno);
  _close(writer);
  lanebloom_system_unmap(bytes, 10);
}

Test(windows, files_differ)
{
  struct system_info a, b, again;
  begin();
  write_file("a", "same");
  write_file("b", "same");
  cr_assert(lanebloom_system_info("a", &a) && lanebloom_system_info("b", &b));
  cr_assert(lanebloom_system_info("./A", &again) || lanebloom_system_info("./a", &again));
  cr_assert(a.number != 0 && (a.device != b.device || a.number != b.number));
  cr_assert(a.device == again.device && a.number == again.number);
}

/* ---- Replacing ---- */

/* Replaces the content of `a' by `new'. */
static bool replace(void)
{
  struct replacement file;
  return lanebloom_replace_begin(&file, "a") &&
         lanebloom_replace_end(&file, lanebloom_replace_write(&file, "new", 3));
}

Test(windows, a_file_that_is_open_elsewhere_stays)
{
  begin();
  write_file("a", "old");
  const int file = open_shared(L"a", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE);
  cr_assert(!replace() && errno == EACCES, "errno is %d", errno);
  _close(file);
  cr_assert_str_eq(content("a"), "old");
  cr_assert(count_matches(".lanebloom-*") ==
            0); /* Wine's ReplaceFileW() leaves a file of its own */
}

Test(windows, a_file_that_is_read_only_stays)
{
  begin();
  write_file("a", "old");
  cr_assert(SetFileAttributesW(L"a", FILE_ATTRIBUTE_READONLY));
  cr_assert(!lanebloom_replace_check("a") && errno == EACCES, "errno is %d", errno);
  cr_assert(!replace() && errno == EACCES, "errno is %d", errno);
  cr_assert_str_eq(content("a"), "old");
  cr_assert(clear() == 1);
}

Test(windows, a_replacement_that_fails_leaves_the_old_file)
{
  static const DWORD errors[] = {ERROR_UNABLE_TO_REMOVE_REPLACED, ERROR_UNABLE_TO_MOVE_REPLACEMENT,
                                 ERROR_SHARING_VIOLATION};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    begin();
    write_file("a", "old");
    replace_error = errors[i];
    cr_assert(!replace() && errno == EACCES, "error %lu: errno is %d", errors[i], errno);
    cr_assert_str_eq(content("a"), "old");
    cr_assert(clear() == 1);
  }
}

Test(windows, a_target_that_was_renamed_is_replaced)
{
  static const DWORD errors[] = {ERROR_UNABLE_TO_MOVE_REPLACEMENT,
                                 ERROR_UNABLE_TO_MOVE_REPLACEMENT_2};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    begin();
    write_file("a", "old");
    replace_error = errors[i];
    replace_renames = true;
    cr_assert(replace());
    cr_assert_str_eq(content("a"), "new");
    cr_assert(clear() == 2); /* and `renamed' */
  }
}

Test(windows, if_the_target_was_renamed_the_new_file_stays)
{
  begin();
  write_file("a", "old");
  replace_error = ERROR_UNABLE_TO_MOVE_REPLACEMENT_2;
  replace_renames = true;
  move_error = ERROR_ACCESS_DENIED;
  cr_assert(!replace() && errno == EACCES, "errno is %d", errno);
  cr_assert_str_eq(content("renamed"), "old");
  cr_assert(clear() == 2); /* and the new file under its temporary name */
}

Test(windows, a_new_file_that_cannot_be_renamed_is_deleted)
{
  begin();
  move_error = ERROR_ACCESS_DENIED;
  cr_assert(!replace() && errno == EACCES, "errno is %d", errno);
  cr_assert(clear() == 0);
}

/* ---- The command's part ---- */

static const void *reported;

static void report(const void *address)
{
  reported = address;
}

static LONG CALLBACK go_on(EXCEPTION_POINTERS *exception)
{
  return exception->ExceptionRecord->ExceptionCode == EXCEPTION_IN_PAGE_ERROR
             ? EXCEPTION_CONTINUE_EXECUTION
             : EXCEPTION_CONTINUE_SEARCH;
}

Test(windows, a_lost_page_is_reported)
{
  const ULONG_PTR parameters[] = {0, (ULONG_PTR)&reported, 0};
  watch_maps(report);
  void *handler = AddVectoredExceptionHandler(0, go_on);
  RaiseException(EXCEPTION_IN_PAGE_ERROR, 0, 3, parameters);
  RemoveVectoredExceptionHandler(handler);
  cr_assert(reported == &reported);
}

Test(windows, strings_are_written_at_once)
{
  enum { N = 20 };
  FILE *streams[N];
  char *strings[N], expected[16];
  size_t nbytes[N];
  for (int i = 0; i < N; i++)
    cr_assert((streams[i] = open_string_stream(&strings[i], &nbytes[i])));
  for (int i = 0; i < N; i++)
    fprintf(streams[i], "text %d\n", i);
  for (int i = 0; i < N; i++) {
    cr_assert(close_string_stream(streams[i]));
    snprintf(expected, sizeof expected, "text %d\n", i);
    cr_assert_str_eq(strings[i], expected);
    cr_assert(nbytes[i] == strlen(expected));
    free(strings[i]);
  }
}
