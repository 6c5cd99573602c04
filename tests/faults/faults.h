/* Tests calls of the libraries while allocations and system calls fail. Each allocation and system
 * call fails in turn, either once or together with all later ones. Reads and writes are also
 * interrupted and cut short, and files end too early. A call that fails reports it, changes
 * nothing, and leaves no memory, descriptors or files behind. When it is made again, it works. A
 * call that succeeds in spite of a fault gives the right answer; with tables, it may report more
 * keys as present.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FAULTS_H
#define LANEBLOOM_TESTS_FAULTS_H

#include <criterion/criterion.h>

#include <lanebloom_tables.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- The functions that fail on request: system.c ---- */

enum function {
  ALLOCATE,
  TRIM,
  MAP,
  OPEN,
  STAT,
  READ,
  WRITE,
  FSYNC,
  LINK,
  RENAME,
  DUPLICATE,
  CHMOD,
  ACL,
  RANDOM,
  CLOSE,
  NFUNCTIONS
};

extern const char *const function_names[NFUNCTIONS];

enum way { FAIL, FAIL_ON, INTERRUPT, SHORT, SHORT_ON, SHRINK, NWAYS };

extern struct fault {
  bool armed;
  enum function function;
  enum way way;
  size_t nth; /* the call that fails, from 1 */
  size_t ncalls[NFUNCTIONS];
  bool struck;
  lanebloom_status noticed; /* the status of a call that was then made again */
} fault;

extern size_t nlive, nmapped; /* held by the libraries: allocations, and bytes of mappings */
extern bool no_nameless_files;

/* ---- Each call in turn: scenario.c ---- */

/* A sequence of library calls. `run` closes whatever it opens and checks the answers itself. It
 * returns the first status that is not LANEBLOOM_OK. */
struct scenario {
  const char *name;
  void (*prepare)(void); /* makes the files; may be NULL */
  lanebloom_status (*run)(void);
  void (*check)(lanebloom_status status); /* checks what is left behind; may be NULL */
  unsigned tolerates;                     /* bits: functions that may fail without an error */
  bool of_pipe;                           /* it reads a pipe, which cannot be cut */
};

/* Runs the scenario without a fault, and then with each applicable fault at each call of a
 * function. */
void survive(const struct scenario *scenario);

extern size_t ntolerated; /* the number of faults that caused no error */

/* Prints the counts. Fails if there were fewer than `least` faults. */
void report(size_t least);

/* Returns whether to make a failed call again, which must then work as if the failure had never
 * been. Fails if `output` is not NULL after a failure. */
bool again(lanebloom_status status, const void *output);

#define INSIST(status, call)                                                                       \
  do {                                                                                             \
    (status) = (call);                                                                             \
  } while (again(status, NULL))

#define INSIST_ON(output, status, call)                                                            \
  do {                                                                                             \
    (output) = (void *)&fault;                                                                     \
    (status) = (call);                                                                             \
  } while (again(status, output))

/* ---- Keys, filters of them, and a folder: inputs.c ---- */

enum { WIDTH = 8, NKEYS = 40000, NFEW = 1000 };

extern struct guarded key_bytes; /* read-only */
extern lanebloom_format format;
extern lanebloom_filter *expected, *halves[2];
extern struct guarded engine_bytes;

lanebloom_keys keys_from(size_t first, size_t n);
void must(lanebloom_status status);
lanebloom_filter *build_sized(size_t first, size_t n, uint64_t expected_keys);
void make_filters(lanebloom_format of, size_t n, uint64_t expected_keys);
void free_filters(void);
void is_expected(const lanebloom_filter *filter);

/* Finishes a filter, which must be `expected`, of nkeys keys. */
lanebloom_status finish_expected(lanebloom_builder *builder, size_t nkeys);

void enter_folder(void);

/* Deletes the files of the folder. Returns how many there were. */
size_t empty_folder(void);
void leave_folder(void);

#endif
