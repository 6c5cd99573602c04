// google/benchmark for C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <benchmark/benchmark.h>

#include "shim.h"

struct bench {
  benchmark::State &state;
  std::unique_lock<std::mutex> preparing; // up to the first bench_next()
};

// Of a row's repetitions, the least of each number. Of its rates that is the worst: read the times.
static double least(const std::vector<double> &times)
{
  return *std::min_element(times.begin(), times.end());
}

static benchmark::internal::Benchmark *add(bench_function *function, const void *argument,
                                           size_t argument_nbytes, const char *format,
                                           va_list arguments)
{
  static std::mutex one_thread;
  char name[256];
  std::vsnprintf(name, sizeof name, format, arguments);
  const std::shared_ptr<void> copy(std::malloc(argument_nbytes), std::free);
  std::memcpy(copy.get(), argument, argument_nbytes);
  const auto row = [function, copy](benchmark::State &state) {
    bench bench{state, std::unique_lock<std::mutex>(one_thread)};
    function(&bench, copy.get());
    state.SetItemsProcessed(state.iterations());
  };
  return benchmark::RegisterBenchmark(name, row)->ComputeStatistics("min", least);
}

void bench_register(bench_function *function, const void *argument, size_t argument_nbytes,
                    const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  add(function, argument, argument_nbytes, format, arguments);
  va_end(arguments);
}

void bench_register_threads(bench_function *function, const void *argument, size_t argument_nbytes,
                            const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  add(function, argument, argument_nbytes, format, arguments)
      ->UseRealTime()
      ->ThreadRange(1, std::max(2, benchmark::CPUInfo::Get().num_cpus));
  va_end(arguments);
}

bool bench_next(bench *bench, size_t nkeys)
{
  if (bench->preparing.owns_lock())
    bench->preparing.unlock();
  return bench->state.KeepRunningBatch(static_cast<benchmark::IterationCount>(nkeys));
}

void bench_bytes(bench *bench, double nbytes_per_key)
{
  const double nkeys = static_cast<double>(bench->state.iterations());
  bench->state.SetBytesProcessed(static_cast<int64_t>(nkeys * nbytes_per_key));
}

void bench_note(bench *bench, const char *note)
{
  bench->state.SetLabel(note);
}

void bench_skip(bench *bench, const char *why)
{
  bench->state.SkipWithError(why);
}

void bench_keep(const void *memory)
{
  benchmark::DoNotOptimize(memory);
  benchmark::ClobberMemory();
}

void bench_context(const char *name, const char *value)
{
  benchmark::AddCustomContext(name, value);
}

int bench_main(int argc, char **argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  const size_t nrows = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return nrows > 0 ? 0 : 1;
}
