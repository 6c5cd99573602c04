/* Makes the calls of a scenario fail, one after another.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

const char *const function_names[NFUNCTIONS] = {[ALLOCATE] = "allocation",
                                                [TRIM] = "realloc to less",
                                                [MAP] = "mmap",
                                                [OPEN] = "open",
                                                [STAT] = "stat",
                                                [READ] = "read",
                                                [WRITE] = "write",
                                                [FSYNC] = "fsync",
                                                [LINK] = "linkat",
                                                [RENAME] = "renameat",
                                                [DUPLICATE] = "fcntl",
                                                [CHMOD] = "fchmod",
                                                [ACL] = "getxattr or fremovexattr",
                                                [RANDOM] = "getentropy",
                                                [CLOSE] = "close"};

static const char *const way_names[NWAYS] = {[FAIL] = "fails",
                                             [FAIL_ON] = "fails from then on",
                                             [INTERRUPT] = "is interrupted",
                                             [SHORT] = "is cut short",
                                             [SHORT_ON] = "is cut short from then on",
                                             [SHRINK] = "finds the file cut there"};

static size_t ninjected[NFUNCTIONS][NWAYS];
size_t ntolerated;

static bool way_applies(const struct scenario *scenario, enum function function, enum way way)
{
  switch (way) {
  case FAIL:
  case FAIL_ON:
    return true;
  case INTERRUPT:
    return function == READ || function == WRITE || function == OPEN || function == FSYNC;
  case SHORT:
  case SHORT_ON:
    return function == READ || function == WRITE;
  default:
    return function == READ && !scenario->of_pipe;
  }
}

/* Returns whether a fault had the right effect. Reads and writes that are interrupted or cut short
 * go on. A file that ends early is damaged. Any other failure is an error of its kind, unless the
 * scenario tolerates it. */
static bool is_right(const struct scenario *scenario, enum function function, enum way way,
                     lanebloom_status status)
{
  const bool goes_on =
      (function == READ || function == WRITE) && way != FAIL && way != FAIL_ON && way != SHRINK;
  if (goes_on)
    return status == LANEBLOOM_OK;
  if (status == LANEBLOOM_OK)
    return way == SHRINK || scenario->tolerates >> function & 1;
  if (way == SHRINK)
    return status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_FORMAT;
  if (function <= TRIM || (function == MAP && status == LANEBLOOM_ERR_MEMORY))
    return status == LANEBLOOM_ERR_MEMORY;
  return status == LANEBLOOM_ERR_IO;
}

static int lowest_descriptor(void)
{
  const int fd = dup(STDERR_FILENO);
  close(fd);
  return fd;
}

static lanebloom_status run(const struct scenario *scenario)
{
  if (scenario->prepare)
    scenario->prepare();
  memset(fault.ncalls, 0, sizeof fault.ncalls);
  fault.struck = false;
  fault.noticed = LANEBLOOM_OK;
  const int descriptor = lowest_descriptor();
  fault.armed = true;
  lanebloom_status status = scenario->run();
  fault.armed = false;
  if (nlive > 0 || nmapped > 0)
    test_fatal("%zu allocations and %zu mapped bytes are left", nlive, nmapped);
  if (lowest_descriptor() != descriptor)
    test_fatal("a descriptor is left open");
  if (scenario->check)
    scenario->check(status);
  return status ? status : fault.noticed;
}

void survive(const struct scenario *scenario)
{
  test_context("%s: undisturbed", scenario->name);
  fault.nth = 0;
  fault.function = NFUNCTIONS;
  const lanebloom_status clean = run(scenario);
  cr_assert(clean == LANEBLOOM_OK, "%s: %s", scenario->name, lanebloom_status_text(clean));
  size_t ncalls[NFUNCTIONS];
  memcpy(ncalls, fault.ncalls, sizeof ncalls);

  for (enum function function = 0; function < NFUNCTIONS; function++)
    for (enum way way = 0; way < NWAYS; way++)
      for (size_t nth = 1; ncalls[function] > 0 && way_applies(scenario, function, way); nth++) {
        test_context("%s: %s number %zu %s", scenario->name, function_names[function], nth,
                     way_names[way]);
        fault.function = function;
        fault.way = way;
        fault.nth = nth;
        const lanebloom_status status = run(scenario);
        if (!fault.struck) {
          cr_assert(status == LANEBLOOM_OK && nth > ncalls[function],
                    "%s: %s after %zu calls of %s", scenario->name, lanebloom_status_text(status),
                    nth, function_names[function]);
          break;
        }
        if (!is_right(scenario, function, way, status))
          test_fatal("%s", lanebloom_status_text(status));
        ninjected[function][way]++;
        ntolerated += status == LANEBLOOM_OK && (way == FAIL || way == FAIL_ON);
      }
}

void report(size_t least)
{
  size_t total = 0;
  for (enum function function = 0; function < NFUNCTIONS; function++)
    for (enum way way = 0; way < NWAYS; way++)
      if (ninjected[function][way] > 0) {
        fprintf(stderr, "# %s %s: %zu times\n", function_names[function], way_names[way],
                ninjected[function][way]);
        total += ninjected[function][way];
      }
  fprintf(stderr, "# %zu faults in all; %zu were no error, as answers could do without\n", total,
          ntolerated);
  cr_assert(total >= least, "only %zu faults", total);
}

bool again(lanebloom_status status, const void *output)
{
  if (status == LANEBLOOM_OK)
    return false;
  if (output)
    test_fatal("an error, and an output that is not NULL");
  if (fault.noticed)
    test_fatal("%s, once more", lanebloom_status_text(status));
  if (fault.way != FAIL && fault.way != INTERRUPT)
    return false;
  fault.noticed = status;
  return true;
}
