/* Defines files.h and process.h for all Unix systems: Linux, macOS, FreeBSD.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wctype.h>
#if __has_include(<stdio_ext.h>)
#include <stdio_ext.h>
#endif

#include "files.h"
#include "process.h"

/* ---- Files ---- */

bool is_terminal(int fd)
{
  return isatty(fd);
}

char *resolve_path(const char *path)
{
  return realpath(path, NULL);
}

const char *last_component(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int open_to_lock(const char *path)
{
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  return fd < 0 && errno == EACCES ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : fd;
}

bool lock_open_file(int fd)
{
  while (flock(fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return false;
  return true;
}

void set_file_position(int fd, uint64_t position)
{
  lseek(fd, (off_t)position, SEEK_SET);
}

void will_read_in_order(int fd)
{
#if defined(POSIX_FADV_SEQUENTIAL) /* macOS lacks it */
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)fd;
#endif
}

/* ---- Streams ---- */

FILE *open_stream(const char *path)
{
  return fopen(path, "re");
}

FILE *open_string_stream(char **string, size_t *nbytes)
{
  return open_memstream(string, nbytes);
}

#if defined(__APPLE__) /* it lacks these functions */
#define fwrite_unlocked fwrite
#define fflush_unlocked fflush
#endif

bool close_string_stream(FILE *stream)
{
  return fclose(stream) == 0;
}

void buffer_messages(FILE *stream)
{
  setvbuf(stream, NULL, _IOLBF, BUFSIZ);
}

size_t write_stream(const void *data, size_t nbytes, FILE *stream)
{
  return fwrite_unlocked(data, 1, nbytes, stream);
}

int flush_stream(FILE *stream)
{
  return fflush_unlocked(stream);
}

bool is_pipe_closed(void)
{
  return errno == EPIPE;
}

void discard_stream(FILE *stream)
{
#if __has_include(<stdio_ext.h>) /* glibc, musl */
  __fpurge(stream);
#else
  fpurge(stream);
#endif
}

/* ---- Maps ---- */

static void (*report_page)(const void *address);

/* Handles SIGBUS, which reading a missing page of a mapping raises. If report_page() returns, the
 * address is in no mapping: the signal is raised again and ends the process. */
static void on_lost_page(int signal_number, siginfo_t *info, void *context)
{
  (void)context;
  report_page(info->si_addr);
  signal(signal_number, SIG_DFL);
}

void watch_maps(void (*report)(const void *address))
{
  report_page = report;
  sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO},
            NULL);
}

/* ---- The process ---- */

#if !defined(O_PATH) /* Linux has it */
#define O_PATH O_RDONLY
#endif

static void occupy_standard_descriptors(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      open("/", O_PATH | O_DIRECTORY);
}

/* Sets the locale of characters, so that messages show file names alike in every environment. macOS
 * calls it by another name. */
void begin_process(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  occupy_standard_descriptors();
  if (!setlocale(LC_CTYPE, "C.UTF-8"))
    setlocale(LC_CTYPE, "UTF-8");
  signal(SIGXFSZ, SIG_IGN);
}

void end_at_once(const char *message, int status)
{
  const ssize_t nwritten = write(STDERR_FILENO, message, strlen(message));
  (void)nwritten;
  _exit(status);
}

void wait_for_end(void)
{
  for (;;)
    pause();
}

bool is_printable(uint32_t character)
{
  return iswprint((wint_t)character);
}

bool fill_randomly(void *to, size_t nbytes)
{
  enum { MOST_NBYTES = 256 }; /* of getentropy() */
  for (size_t done = 0, n; done < nbytes; done += n) {
    n = nbytes - done < MOST_NBYTES ? nbytes - done : MOST_NBYTES;
    if (getentropy((uint8_t *)to + done, n) != 0)
      return false;
  }
  return true;
}

long count_cpus(void)
{
#if defined(CPU_COUNT) /* macOS lacks it */
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
    return CPU_COUNT(&cpus);
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
}

/* Reads the name from the first line "model name : NAME" of /proc/cpuinfo. Returns false if there
 * is no such line, as on some architectures. */
static bool read_model_name(char *name, size_t size)
{
  FILE *file = fopen("/proc/cpuinfo", "re");
  char line[512];
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    const char *value = strchr(line, ':');
    found = value && strncmp(line, "model name", strlen("model name")) == 0;
    if (found) {
      value += 1 + strspn(value + 1, " \t");
      snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
    }
  }
  if (file)
    fclose(file);
  return found;
}

void name_cpu(char *name, size_t size)
{
  struct utsname machine;
  if (!read_model_name(name, size))
    snprintf(name, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
}

void sleep_for(double nseconds)
{
  const time_t whole = (time_t)nseconds;
  nanosleep(&(struct timespec){whole, (long)((nseconds - (double)whole) * 1e9)}, NULL);
}
