/* Calls of the libraries while what they ask of the system is refused: every call in turn, each
 * once and from then on; reads and writes are also interrupted and cut short, and files end too
 * early. A call that fails says so, changes nothing, leaves neither memory nor descriptors nor
 * files behind, and works when it is made again. One that succeeds all the same gives the right
 * answer; of tables, at worst more keys than needed may be there.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FAULTS_H
#define LANEBLOOM_TESTS_FAULTS_H

#include <criterion/criterion.h>

#include <lanebloom_tables.h>

#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- The system, which fails where it is told to: system.c ---- */

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
  size_t nth; /* from 1 */
  size_t ncalls[NFUNCTIONS];
  bool struck;
  lanebloom_status noticed; /* by a call that was then made again */
} fault;

extern size_t nlive, nmapped; /* what the libraries hold: allocations, bytes of mappings */
extern bool no_nameless_files;

/* ---- Every call in turn: scenario.c ---- */

/* Calls of the libraries that belong together. It returns the first status that is not
 * LANEBLOOM_OK, having closed what it opened, and looks at answers itself. */
struct scenario {
  const char *name;
  void (*prepare)(void); /* what files there are; may be NULL */
  lanebloom_status (*run)(void);
  void (*check)(lanebloom_status status); /* what it left behind; may be NULL */
  unsigned tolerates;                     /* functions that may fail without an error: bits */
  bool of_pipe;                           /* that cannot be cut */
};

/* Runs it undisturbed, and then with each fault that applies to each call that it made. */
void survive(const struct scenario *scenario);

extern size_t ntolerated; /* faults that were no error */

/* The counts, and that they are not small. */
void report(size_t least);

/* A call that fails once works when it is made again, as if nothing had been. `output` is NULL
 * where it failed. */
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

extern struct guarded key_bytes; /* that cannot be written to */
extern lanebloom_format format;
extern lanebloom_filter *expected, *halves[2];
extern struct guarded engine_bytes;

lanebloom_keys keys_from(size_t first, size_t n);
void must(lanebloom_status status);
lanebloom_filter *build_sized(size_t first, size_t n, uint64_t expected_keys);
void make_filters(lanebloom_format of, size_t n, uint64_t expected_keys);
void free_filters(void);
void is_expected(const lanebloom_filter *filter);

void enter_folder(void);

/* Deletes the files here. Returns how many there were. */
size_t empty_folder(void);
void leave_folder(void);

#endif
