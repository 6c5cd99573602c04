/* Describes the machine and the build (see machine.h).
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <lanebloom.h>

#include "commit.h" /* made by every build */
#include "machine.h"
#include "shim.h"

/* Finds the first line of a file that begins with `start`. Copies to `value` the text after the
 * line's colon, or the whole line if `start` is empty. Returns false if there is no such line. */
static bool find(const char *path, const char *start, char *value, size_t value_size)
{
  char line[512];
  bool found = false;
  FILE *file = fopen(path, "r");
  while (file && !found && fgets(line, sizeof line, file))
    found = strncmp(line, start, strlen(start)) == 0;
  if (file)
    fclose(file);
  if (!found)
    return false;
  const char *colon = *start ? strchr(line, ':') : NULL;
  const char *begin = colon ? colon + 1 : line;
  begin += strspn(begin, " \t");
  snprintf(value, value_size, "%.*s", (int)strcspn(begin, "\n"), begin);
  return true;
}

static void describe_by_file(const char *name, const char *path, const char *start)
{
  char value[512] = "unknown";
  find(path, start, value, sizeof value);
  bench_context(name, value);
}

/* Names of ARM's CPUs, for which Linux gives only numbers. The names are the same as in util-linux,
 * sys-utils/lscpu-arm.c. */
static const struct {
  const char *implementer, *part, *name;
} arm_cpus[] = {
    {"0x41", "0xd08", "ARM Cortex-A72"},  {"0x41", "0xd0b", "ARM Cortex-A76"},
    {"0x41", "0xd0c", "ARM Neoverse-N1"}, {"0x41", "0xd40", "ARM Neoverse-V1"},
    {"0x41", "0xd49", "ARM Neoverse-N2"}, {"0x41", "0xd4f", "ARM Neoverse-V2"},
    {"0xc0", "0xac3", "Ampere-1"},        {"0xc0", "0xac4", "Ampere-1a"},
};

void bench_cpu_name(char *name, size_t name_size)
{
  char implementer[32], part[32];
  snprintf(name, name_size, "unknown CPU");
  if (find("/proc/cpuinfo", "model name", name, name_size) ||
      !find("/proc/cpuinfo", "CPU implementer", implementer, sizeof implementer) ||
      !find("/proc/cpuinfo", "CPU part", part, sizeof part))
    return;
  snprintf(name, name_size, "implementer %s, part %s", implementer, part);
  for (size_t i = 0; i < sizeof arm_cpus / sizeof *arm_cpus; i++)
    if (strcmp(arm_cpus[i].implementer, implementer) == 0 && strcmp(arm_cpus[i].part, part) == 0)
      snprintf(name, name_size, "%s", arm_cpus[i].name);
}

/* Tells apart CPUs that have one name: bench/report/cpu_names.py knows their microarchitectures. */
static void describe_model(void)
{
  static const struct {
    const char *name, *start;
  } numbers[] = {
      {"cpu_family", "cpu family\t"}, {"cpu_model", "model\t"}, {"cpu_stepping", "stepping\t"}};
  char number[32];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (find("/proc/cpuinfo", numbers[i].start, number, sizeof number))
      bench_context(numbers[i].name, number);
}

static void describe_kernels(void)
{
  char names[512] = "";
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const size_t end = strlen(names);
    snprintf(names + end, sizeof names - end, "%s%s", i > 0 ? " " : "", lanebloom_kernel_at(i));
  }
  bench_context("kernels", names); /* the best kernel first */
  bench_context("kernel_active", lanebloom_kernel_active() ? lanebloom_kernel_active() : "none");
}

static void describe_memory(void)
{
  char nbytes[32];
  snprintf(nbytes, sizeof nbytes, "%ld", sysconf(_SC_PAGESIZE));
  bench_context("page_size_bytes", nbytes);
  snprintf(nbytes, sizeof nbytes, "%llu",
           (unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned long long)sysconf(_SC_PAGESIZE));
  bench_context("memory_bytes", nbytes);
  char caches[128];
  snprintf(caches, sizeof caches, "%ld %ld %ld", sysconf(_SC_LEVEL1_DCACHE_SIZE),
           sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
  bench_context("cache_bytes", caches); /* google/benchmark's "caches" says more, but needs /sys */
  describe_by_file("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", "");
}

void bench_describe(void)
{
  struct utsname system;
  uname(&system);
  bench_context("machine", system.machine);
  bench_context("os_release", system.release);
  char name[512];
  bench_cpu_name(name, sizeof name);
  bench_context("cpu", name);
  describe_model();
  describe_by_file("microcode", "/proc/cpuinfo", "microcode");
  describe_by_file("gather_data_sampling",
                   "/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", "");
  describe_memory();
  describe_kernels();
  bench_context("version", lanebloom_version());
  bench_context("compiler", LANEBLOOM_BENCH_COMPILER);
  bench_context("flags", LANEBLOOM_BENCH_FLAGS);
  bench_context("commit", LANEBLOOM_COMMIT);
  bench_context("library_tree", LANEBLOOM_LIBRARY_TREE);
  bench_context("peers_missing", LANEBLOOM_BENCH_MISSING);
  const char *tunables = getenv("GLIBC_TUNABLES"); /* main() sets it */
  bench_context("glibc_tunables", tunables ? tunables : "");
}
