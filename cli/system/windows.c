/* Defines files.h and process.h for Windows.
 * SPDX-License-Identifier: MIT */
#define _CRT_RAND_S
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../src/system/win32.h"
#include <shellapi.h>

#include "files.h"
#include "process.h"

/* ---- Files ---- */

bool is_terminal(int fd)
{
  DWORD mode;
  return GetConsoleMode(lanebloom_win32_handle(fd), &mode);
}

char *resolve_path(const char *path)
{
  wchar_t *wide = lanebloom_win32_path(path);
  const int fd = wide ? lanebloom_win32_open(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                             FILE_FLAG_BACKUP_SEMANTICS)
                      : -1;
  char *resolved = fd >= 0 ? lanebloom_win32_final_path(lanebloom_win32_handle(fd)) : NULL;
  if (fd >= 0)
    _close(fd);
  free(wide);
  return resolved;
}

const char *last_component(const char *path)
{
  const char *name = path;
  for (; *path; path++)
    if (*path == '/' || *path == '\\' || *path == ':')
      name = path + 1;
  return name;
}

int open_to_lock(const char *path)
{
  wchar_t *wide = lanebloom_win32_path(path);
  int fd = wide ? lanebloom_win32_open(wide, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, 0) : -1;
  if (wide && fd < 0 && errno == EACCES)
    fd = lanebloom_win32_open(wide, GENERIC_READ, OPEN_EXISTING, 0);
  free(wide);
  return fd;
}

/* Windows forbids others to read what is locked, so a byte far behind the end of the file is
 * locked, which nobody reads. */
bool lock_open_file(int fd)
{
  OVERLAPPED at = {.OffsetHigh = 1 << 30};
  return LockFileEx(lanebloom_win32_handle(fd), LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at) ||
         lanebloom_win32_fail();
}

void set_file_position(int fd, uint64_t position)
{
  const LARGE_INTEGER at = {.QuadPart = (LONGLONG)position};
  SetFilePointerEx(lanebloom_win32_handle(fd), at, NULL, FILE_BEGIN);
}

void will_read_in_order(int fd)
{
  (void)fd;
}

/* ---- Streams ---- */

FILE *open_stream(const char *path)
{
  wchar_t *wide = lanebloom_win32_path(path);
  const int fd = wide ? lanebloom_win32_open(wide, GENERIC_READ, OPEN_EXISTING, 0) : -1;
  FILE *stream = fd >= 0 ? _fdopen(fd, "rb") : NULL;
  if (fd >= 0 && !stream)
    _close(fd);
  free(wide);
  return stream;
}

/* The streams that write into strings: files that Windows keeps in memory and deletes. */
struct string_stream {
  FILE *stream;
  char **string;
  size_t *nbytes;
  struct string_stream *next;
};
static struct string_stream *string_streams;
static SRWLOCK string_lock = SRWLOCK_INIT;

static FILE *open_temporary(void)
{
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH];
  if (GetTempPathW(MAX_PATH, folder) == 0 || GetTempFileNameW(folder, L"lbl", 0, name) == 0) {
    lanebloom_win32_fail();
    return NULL;
  }
  const int fd = lanebloom_win32_open(name, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_ALWAYS,
                                      FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
  FILE *stream = fd >= 0 ? _fdopen(fd, "w+b") : NULL;
  if (fd >= 0 && !stream)
    _close(fd);
  return stream;
}

FILE *open_string_stream(char **string, size_t *nbytes)
{
  struct string_stream *opened = malloc(sizeof *opened);
  FILE *stream = opened ? open_temporary() : NULL;
  if (!stream) {
    free(opened);
    return NULL;
  }
  *string = NULL;
  AcquireSRWLockExclusive(&string_lock);
  *opened = (struct string_stream){stream, string, nbytes, string_streams};
  string_streams = opened;
  ReleaseSRWLockExclusive(&string_lock);
  return stream;
}

static struct string_stream *take_string_stream(const FILE *stream)
{
  AcquireSRWLockExclusive(&string_lock);
  struct string_stream **link = &string_streams;
  while ((*link)->stream != stream)
    link = &(*link)->next;
  struct string_stream *taken = *link;
  *link = taken->next;
  ReleaseSRWLockExclusive(&string_lock);
  return taken;
}

bool close_string_stream(FILE *stream)
{
  struct string_stream *closed = take_string_stream(stream);
  const int64_t size = _ftelli64(stream);
  char *string = size >= 0 ? malloc((size_t)size + 1) : NULL;
  rewind(stream);
  const bool is_read = string && fread(string, 1, (size_t)size, stream) == (size_t)size;
  fclose(stream);
  if (is_read) {
    string[size] = 0;
    *closed->string = string;
    *closed->nbytes = (size_t)size;
  } else {
    free(string);
  }
  free(closed);
  return is_read;
}

/* Windows has no streams that are buffered by lines. This one is flushed after each message. */
void buffer_messages(FILE *stream)
{
  setvbuf(stream, NULL, _IOFBF, BUFSIZ);
}

size_t write_stream(const void *data, size_t nbytes, FILE *stream)
{
  return fwrite(data, 1, nbytes, stream);
}

int flush_stream(FILE *stream)
{
  return fflush(stream);
}

/* The C library gives EINVAL for errors of pipes that it does not know: of Windows, and of Wine. */
bool is_pipe_closed(void)
{
  const bool is_of_pipes = _doserrno == ERROR_NO_DATA || _doserrno == ERROR_PIPE_NOT_CONNECTED;
  return errno == EPIPE || (errno == EINVAL && is_of_pipes);
}

/* Tries once more to write what the stream holds, and then forgets it. */
void discard_stream(FILE *stream)
{
  setvbuf(stream, NULL, _IONBF, 0);
}

/* ---- Maps ---- */

static void (*report_page)(const void *address);

/* The second parameter of this exception is the address. */
static LONG CALLBACK on_lost_page(EXCEPTION_POINTERS *exception)
{
  const EXCEPTION_RECORD *record = exception->ExceptionRecord;
  if (record->ExceptionCode == EXCEPTION_IN_PAGE_ERROR && record->NumberParameters >= 2)
    report_page((const void *)record->ExceptionInformation[1]);
  return EXCEPTION_CONTINUE_SEARCH;
}

/* Windows lets nobody shorten a mapped file of a local disk, but a disk may fail, and the machine
 * that has the file may be lost. */
void watch_maps(void (*report)(const void *address))
{
  report_page = report;
  AddVectoredExceptionHandler(1, on_lost_page);
}

/* ---- The process ---- */

static void occupy_standard_descriptors(void)
{
  for (int fd = STANDARD_INPUT; fd <= STANDARD_ERROR; fd++)
    if (GetFileType(lanebloom_win32_handle(fd)) == FILE_TYPE_UNKNOWN) {
      const int unused = lanebloom_win32_open(L"NUL", FILE_READ_ATTRIBUTES, OPEN_EXISTING, 0);
      if (unused >= 0 && unused != fd) {
        _dup2(unused, fd);
        _close(unused);
      }
    }
}

static char **convert_arguments(int *argc)
{
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), argc);
  char **words = wide ? calloc((size_t)*argc + 1, sizeof *words) : NULL;
  for (int i = 0; words && i < *argc; i++)
    if (!(words[i] = lanebloom_win32_utf8(wide[i])))
      return NULL;
  LocalFree(wide);
  return words;
}

static UINT console_encoding;

static void restore_console(void)
{
  SetConsoleOutputCP(console_encoding);
}

/* Messages and results are UTF-8, so a console must show them as such. */
static void prepare_console(void)
{
  console_encoding = GetConsoleOutputCP();
  if ((is_terminal(STANDARD_OUTPUT) || is_terminal(STANDARD_ERROR)) &&
      console_encoding != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
    atexit(restore_console);
}

void begin_process(int *argc, char ***argv)
{
  occupy_standard_descriptors();
  for (int fd = STANDARD_INPUT; fd <= STANDARD_ERROR; fd++)
    _setmode(fd, _O_BINARY);
  prepare_console();
  char **words = convert_arguments(argc);
  if (!words)
    end_at_once("lanebloom: the arguments cannot be converted to UTF-8\n", 2);
  *argv = words;
}

void end_at_once(const char *message, int status)
{
  DWORD n;
  WriteFile(lanebloom_win32_handle(STANDARD_ERROR), message, (DWORD)strlen(message), &n, NULL);
  _exit(status);
}

void wait_for_end(void)
{
  for (;;)
    Sleep(INFINITE);
}

/* Windows knows the kinds of characters of 16 bits. Of the others, those are printable that are not
 * for private use and no tags. */
bool is_printable(uint32_t character)
{
  const wchar_t wide = (wchar_t)character;
  WORD kind = 0;
  if (character > UINT16_MAX)
    return character < 0xe0000;
  return GetStringTypeW(CT_CTYPE1, &wide, 1, &kind) && kind & C1_DEFINED && !(kind & C1_CNTRL);
}

bool fill_randomly(void *to, size_t nbytes)
{
  for (size_t done = 0; done < nbytes; done += sizeof(unsigned)) {
    unsigned random;
    const size_t nleft = nbytes - done;
    if (rand_s(&random) != 0) {
      errno = EIO;
      return false;
    }
    memcpy((uint8_t *)to + done, &random, nleft < sizeof random ? nleft : sizeof random);
  }
  return true;
}

/* A process begins in one group of at most 64 CPUs. */
long count_cpus(void)
{
  DWORD_PTR own = 0, all = 0;
  GetProcessAffinityMask(GetCurrentProcess(), &own, &all);
  return own ? __builtin_popcountll(own) : (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

void name_cpu(char *name, size_t size)
{
  DWORD nbytes = (DWORD)size;
  if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                   "ProcessorNameString", RRF_RT_REG_SZ, NULL, name, &nbytes) != ERROR_SUCCESS)
    snprintf(name, size, "x86_64");
  for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--)
    name[n - 1] = 0;
}

void sleep_for(double nseconds)
{
  Sleep((DWORD)(nseconds * 1000));
}
