/* What other programs and a moving frequency do to a measurement.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "noise.h"

static double clock_seconds(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The seconds that this process and its children had of a CPU. */
static double own_seconds(void)
{
  struct rusage children;
  getrusage(RUSAGE_CHILDREN, &children);
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + (double)children.ru_utime.tv_sec +
         (double)children.ru_stime.tv_sec +
         1e-6 * (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

/* The seconds that all CPUs were busy, or taken by the host. False: the system does not say. */
static bool busy_seconds(double *seconds)
{
  unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
  FILE *file = fopen("/proc/stat", "r");
  const bool found = file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user,
                                    &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8;
  if (file)
    fclose(file);
  if (found)
    *seconds =
        (double)(user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
  return found;
}

double noise_other_cpus(void)
{
  static double last_time = -1, last_other;
  double busy;
  if (!busy_seconds(&busy))
    return -1;
  const double time = clock_seconds(CLOCK_MONOTONIC), other = busy - own_seconds();
  const bool first = last_time < 0;
  const double cpus = (other - last_other) / (time - last_time);
  last_time = time;
  last_other = other;
  return first ? -1 : cpus < 0 ? 0 : cpus; /* the system's clock has steps of 10 ms */
}

/* Each addition waits for the one before, and takes a cycle. Their operand is in a register, since
 * some CPUs add constants for nothing. */
static double additions_per_ns(void)
{
  enum { NSTEPS = 2000, NADDITIONS = 16 };
  uint64_t sum = 1, operand = 3;
  const double begin = clock_seconds(CLOCK_MONOTONIC);
  for (int step = 0; step < NSTEPS; step++)
    for (int i = 0; i < NADDITIONS; i++) {
      sum += operand;
      __asm__ volatile("" : "+r"(sum), "+r"(operand));
    }
  return NSTEPS * NADDITIONS / (1e9 * (clock_seconds(CLOCK_MONOTONIC) - begin));
}

double noise_frequency(void)
{
  double best = 0;
  for (int round = 0; round < 3; round++) { /* an interrupt makes one slower */
    const double now = additions_per_ns();
    best = now > best ? now : best;
  }
  return best;
}
