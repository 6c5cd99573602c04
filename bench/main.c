/* lanebloom-bench: every kernel, every peer and the hardware's floor in one run.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rows.h"
#include "shared.h"
#include "shim.h"

/* ---- The description of machine and build ---- */

/* Takes the first line of a file that begins with `start`: what is behind the colon, or all of it
 * for an empty start. False: there is none. */
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

static void describe_cpu(void)
{
  char name[512] = "unknown", maker[32], part[32];
  if (!find("/proc/cpuinfo", "model name", name, sizeof name) && /* ARM's CPUs have numbers only */
      find("/proc/cpuinfo", "CPU implementer", maker, sizeof maker) &&
      find("/proc/cpuinfo", "CPU part", part, sizeof part))
    snprintf(name, sizeof name, "implementer %s, part %s", maker, part);
  bench_context("cpu", name);
}

static void describe_kernels(void)
{
  char names[512] = "";
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    const size_t end = strlen(names);
    snprintf(names + end, sizeof names - end, "%s%s", i > 0 ? " " : "", lanebloom_kernel_name(i));
  }
  bench_context("kernels", names); /* best first */
  bench_context("kernel_active", lanebloom_kernel_active() ? lanebloom_kernel_active() : "none");
}

static void describe(void)
{
  struct utsname system;
  uname(&system);
  bench_context("machine", system.machine);
  bench_context("os_release", system.release);
  describe_cpu();
  describe_by_file("microcode", "/proc/cpuinfo", "microcode");
  describe_by_file("gather_data_sampling",
                   "/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", "");
  describe_by_file("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", "");
  char nbytes[32];
  snprintf(nbytes, sizeof nbytes, "%ld", sysconf(_SC_PAGESIZE));
  bench_context("page_size_bytes", nbytes);
  describe_kernels();
  bench_context("version", lanebloom_version());
  bench_context("compiler", LANEBLOOM_BENCH_COMPILER);
  bench_context("flags", LANEBLOOM_BENCH_FLAGS);
  bench_context("peers_missing", LANEBLOOM_BENCH_MISSING);
  const char *tunables = getenv("GLIBC_TUNABLES"); /* scripts/bench.sh has a reason to set it */
  bench_context("glibc_tunables", tunables ? tunables : "");
}

int main(int argc, char **argv)
{
  if (!lanebloom_kernel_active()) {
    fprintf(stderr, "lanebloom-bench: %s: $LANEBLOOM_KERNEL\n",
            lanebloom_status_text(LANEBLOOM_ERR_KERNEL));
    return 2;
  }
  describe();
  bench_register_floor();
  bench_register_hash();
  bench_register_screen();
  bench_register_build();
  bench_register_many();
  bench_register_load();
#if defined(LANEBLOOM_BENCH_LIBBLOOM)
  bench_register_libbloom();
#endif
  const int status = bench_main(argc, argv);
  bench_share_nothing();
  return status;
}
