/* Declares all that the libraries need of the operating system and that C11 does not have. CMake
 * chooses the files that define it. posix.c has what all Unix systems share, and linux.c what only
 * Linux has.
 *
 * Paths are in UTF-8 or, on Unix, any bytes. A function that returns bool returns false on an error
 * and sets errno; one that returns a pointer returns NULL, one that returns a descriptor or a
 * number of bytes returns -1. All functions may be called by several threads at once.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SYSTEM_H
#define LANEBLOOM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Errors, the environment, the CPU, the time ---- */

/* Returns the text of a value of errno. `text` has room for it. */
const char *lanebloom_system_error(int error, char *text, size_t size);

/* Returns the value of an environment variable, or NULL if there is none, or if the process has
 * more rights than the user who started it. */
const char *lanebloom_system_environment(const char *name);

/* Returns the bits that the system gives to describe the CPU: AT_HWCAP on Linux if `word` is 1,
 * AT_HWCAP2 if it is 2. Returns 0 if the system gives none. SYSTEM_ARM64_CRC32 is a bit of the
 * first word. */
enum { SYSTEM_ARM64_CRC32 = 1 << 7 }; /* HWCAP_CRC32 */
unsigned long lanebloom_system_cpu_bits(int word);

/* Returns the seconds since some time in the past. Nobody can set this clock. */
double lanebloom_system_seconds(void);

/* ---- Memory ---- */

/* Allocates memory at a multiple of `alignment`. nbytes must be a multiple of `alignment`, and
 * more than 0. */
void *lanebloom_system_allocate(size_t alignment, size_t nbytes);
void lanebloom_system_free(void *bytes);

/* Allocates zeroed pages at a multiple of `alignment`, on huge pages if the system has them.
 * `nbytes` must be a multiple of `alignment`, which must be a power of two. */
uint8_t *lanebloom_system_pages(size_t nbytes, size_t alignment);
void lanebloom_system_pages_free(uint8_t *pages, size_t nbytes);

/* Sorts like qsort(). `context` is the third argument of `compare`. */
void lanebloom_system_sort(void *elements, size_t n, size_t size,
                           int (*compare)(const void *, const void *, void *), void *context);

/* ---- Files ---- */

enum system_kind {
  SYSTEM_NONE, /* no file: the kind in zeroed information */
  SYSTEM_FILE, /* a regular file */
  SYSTEM_FOLDER,
  SYSTEM_PIPE,       /* or a socket */
  SYSTEM_CHARACTERS, /* a terminal, or a device such as /dev/null */
  SYSTEM_OTHER
};
struct system_info {
  enum system_kind kind;
  uint64_t nbytes;
  int64_t changed_seconds; /* when the content changed, as time() counts */
  uint64_t device, number; /* together they identify the file on this machine */
};

/* Describes a file. Of a symbolic link, its target is described. */
bool lanebloom_system_info(const char *path, struct system_info *info);
bool lanebloom_system_file_info(int file, struct system_info *info);

/* Checks whether there is a file, or anything else that can be described, at a path. */
bool lanebloom_system_exists(const char *path);

/* The same, but a symbolic link counts even if its target is missing. */
bool lanebloom_system_has_name(const char *path);

/* Opens a file for reading bytes. If `waits` is false, the call does not wait for the writer of a
 * pipe, and a terminal does not become the controlling terminal of the process. */
int lanebloom_system_open(const char *path, bool waits);

/* Returns another descriptor of the same open file. */
int lanebloom_system_duplicate(int file);

/* Closes a file. errno stays unchanged, because it may say why a read failed. */
void lanebloom_system_close(int file);

/* Stores the position in the file. The call fails for pipes. */
bool lanebloom_system_position(int file, uint64_t *position);

/* Reads at most `nbytes` bytes, and returns their number, which is 0 only at the end of the file.
 * read_at() reads from an offset, and the position of the file does not matter and does not
 * change. */
ssize_t lanebloom_system_read(int file, void *to, size_t nbytes);
ssize_t lanebloom_system_read_at(int file, void *to, size_t nbytes, uint64_t offset);

/* Maps the first `nbytes` bytes of a file for reading. The file may be closed afterwards. */
uint8_t *lanebloom_system_map(int file, size_t nbytes);
void lanebloom_system_unmap(uint8_t *bytes, size_t nbytes);

/* ---- Folders ---- */

/* Reads the names in a folder, in any order. next() returns NULL at the end, with errno 0, and on
 * an error, with another errno. The name is valid until the next call. Only one thread may use the
 * folder. */
struct system_folder *lanebloom_system_folder_open(const char *path);
const char *lanebloom_system_folder_next(struct system_folder *folder);
void lanebloom_system_folder_close(struct system_folder *folder);

/* Calls `visit` for each path that matches a pattern with * and ?, in any order, until a call does
 * not return 0. Returns the value of the last call, 0 if there was none, or -1 with errno if a
 * folder could not be read or memory ran out. */
int lanebloom_system_match(const char *pattern, int (*visit)(void *context, const char *path),
                           void *context);

#endif
