/* Measures what disturbs a benchmark (see noise.h).
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "noise.h"
#include "shared.h"

static double clock_seconds(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the CPU seconds that this process and its children have used. */
static double own_seconds(void)
{
  struct rusage children;
  getrusage(RUSAGE_CHILDREN, &children);
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + (double)children.ru_utime.tv_sec +
         (double)children.ru_stime.tv_sec +
         1e-6 * (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

/* Sets *seconds to the time that all CPUs together were busy, or were taken by the host of a
 * virtual machine. Returns false if the system does not report these times. */
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
  return first ? -1 : cpus < 0 ? 0 : cpus; /* times in steps of 10 ms may make it negative */
}

enum { NSTEPS = 2000, NADDITIONS = 16, NCHAINS = 8 }; /* a step has NADDITIONS per chain */

/* Measures the frequency: each addition waits for the previous one, and takes one cycle. The
 * operand is in a register, because some CPUs add constants in less than a cycle. */
static double dependent_additions_per_ns(void)
{
  uint64_t sum = 1, operand = 3;
  const double begin = clock_seconds(CLOCK_MONOTONIC);
  for (int step = 0; step < NSTEPS; step++)
    for (int i = 0; i < NADDITIONS; i++) {
      sum += operand;
      __asm__ volatile("" : "+r"(sum), "+r"(operand));
    }
  return NSTEPS * NADDITIONS / (1e9 * (clock_seconds(CLOCK_MONOTONIC) - begin));
}

/* Measures how many additions the core can do at once. There are NCHAINS independent chains of
 * additions, at least as many as a core can compute at once. */
static double independent_additions_per_ns(void)
{
  uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, operand = 3;
  const double begin = clock_seconds(CLOCK_MONOTONIC);
  for (int step = 0; step < NSTEPS; step++)
    for (int i = 0; i < NADDITIONS; i++) {
      a += operand, b += operand, c += operand, d += operand;
      e += operand, f += operand, g += operand, h += operand;
      __asm__ volatile(""
                       : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h),
                         "+r"(operand));
    }
  return NCHAINS * NSTEPS * NADDITIONS / (1e9 * (clock_seconds(CLOCK_MONOTONIC) - begin));
}

/* Returns the best of three measurements, because an interrupt may slow one of them down. */
static double best_of_3(double (*measure)(void))
{
  double best = 0;
  for (int round = 0; round < 3; round++) {
    const double now = measure();
    best = now > best ? now : best;
  }
  return best;
}

double noise_frequency(void)
{
  return best_of_3(dependent_additions_per_ns);
}

double noise_additions_per_cycle(void)
{
  return best_of_3(independent_additions_per_ns) / noise_frequency();
}

struct line {
  struct line *next;
  char rest[64 - sizeof(struct line *)];
};

/* Makes cache lines, and links all of them in one circle, in random order (S. Sattolo, An algorithm
 * to generate a random cyclic permutation, Information Processing Letters 22, 1986). */
static struct line *make_circle(size_t nlines)
{
  const struct bench_made made = bench_make_array(nlines * sizeof(struct line));
  struct line *lines = (struct line *)bench_array(&made);
  for (size_t i = 0; i < nlines; i++)
    lines[i].next = &lines[i];
  uint64_t random = 1;
  for (size_t i = nlines - 1; i > 0; i--) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const size_t j = (size_t)((random >> 32) * i >> 32);
    struct line *next = lines[i].next;
    lines[i].next = lines[j].next;
    lines[j].next = next;
  }
  return lines;
}

double noise_level2_ns(void)
{
  static struct line *line; /* never freed */
  static size_t nlines;
  if (!line) {
    const long level2_nbytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    nlines = (size_t)(level2_nbytes > 0 ? level2_nbytes : 256 << 10) / 2 / sizeof *line;
    line = make_circle(nlines);
  }
  double best = 1e9;
  for (int round = 0; round < 4; round++) { /* the first round only loads the cache */
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < nlines; i++)
      line = line->next;
    __asm__ volatile("" : "+r"(line));
    const double now = 1e9 * (clock_seconds(CLOCK_MONOTONIC) - begin) / (double)nlines;
    best = now < best ? now : best;
  }
  return best;
}
