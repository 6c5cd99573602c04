// google/benchmark for C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "noise.h"
#include "shim.h"

struct bench {
  benchmark::State &state;
  std::unique_lock<std::mutex> preparing; // up to the first bench_next()
};

// ---- Numbers of a row's repetitions -------------------------------------------------------------

// Of each number the least. Of rates that is the worst: read the times.
static double least(const std::vector<double> &times)
{
  return *std::min_element(times.begin(), times.end());
}

static double upper_quartile(const std::vector<double> &unsorted)
{
  std::vector<double> times = unsorted;
  std::sort(times.begin(), times.end());
  return times[times.size() * 3 / 4];
}

static double median(std::vector<double> times)
{
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  return times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
}

// ---- How far a run is ---------------------------------------------------------------------------

// Counts repetitions. google/benchmark first calls a row several times to find how many keys fill
// the minimum time, and then once for each repetition.
class progress
{
public:
  void start(size_t nrepetitions, double seconds)
  {
    total = nrepetitions;
    minimum = seconds;
    begin = last = std::chrono::steady_clock::now();
  }

  void count(double seconds, bool again)
  {
    using namespace std::chrono_literals;
    if (total == 0 || !(again || seconds >= minimum))
      return;
    done++;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < (terminal ? 100ms : 10000ms))
      return;
    last = now;
    std::fprintf(stderr, "%slanebloom-bench: %zu of %zu measurements, %.0f s%s",
                 terminal ? "\r" : "", done, total,
                 std::chrono::duration<double>(now - begin).count(), terminal ? "" : "\n");
  }

  void stop()
  {
    if (terminal)
      std::fprintf(stderr, "\r%60s\r", "");
    total = 0;
  }

private:
  const bool terminal = isatty(STDERR_FILENO);
  size_t total = 0, done = 0;
  double minimum = 0;
  std::chrono::steady_clock::time_point begin, last;
};

static progress progress;

// ---- Rows ---------------------------------------------------------------------------------------

static std::vector<std::string> names; // of all rows that were added

static benchmark::internal::Benchmark *add(bench_function *function, const void *argument,
                                           size_t argument_nbytes, const char *format,
                                           va_list arguments)
{
  static std::mutex one_thread;
  char name[256];
  std::vsnprintf(name, sizeof name, format, arguments);
  names.push_back(name);
  const std::shared_ptr<void> copy(std::malloc(argument_nbytes), std::free);
  std::memcpy(copy.get(), argument, argument_nbytes);
  const auto last = std::make_shared<std::map<int, benchmark::IterationCount>>();
  const auto row = [function, copy, last](benchmark::State &state) {
    bench bench{state, std::unique_lock<std::mutex>(one_thread)};
    const auto begin = std::chrono::steady_clock::now();
    function(&bench, copy.get());
    state.counters["GHz"] = benchmark::Counter(noise_frequency(), benchmark::Counter::kAvgThreads);
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() == 0) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      auto &before = (*last)[state.threads()];
      progress.count(took.count(), before == state.max_iterations);
      before = state.max_iterations;
    }
  };
  return benchmark::RegisterBenchmark(name, row)
      ->ComputeStatistics("min", least)
      ->ComputeStatistics("upper_quartile", upper_quartile);
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
  const int most = std::max(2, benchmark::CPUInfo::Get().num_cpus);
  add(function, argument, argument_nbytes, format, arguments)->UseRealTime()->ThreadRange(1, most);
  va_end(arguments);

  const std::string name = names.back() + "/real_time/threads:";
  names.pop_back();
  for (int nthreads = 1; nthreads < most; nthreads *= 2)
    names.push_back(name + std::to_string(nthreads));
  names.push_back(name + std::to_string(most));
}

void bench_register_real(bench_function *function, const void *argument, size_t argument_nbytes,
                         const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  add(function, argument, argument_nbytes, format, arguments)->UseRealTime();
  va_end(arguments);
  names.back() += "/real_time";
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

// ---- A whole run --------------------------------------------------------------------------------

using run_report = benchmark::BenchmarkReporter::Run;

// A row is unsure if its median is further than this from its best, its upper quartile from its
// median, or its lowest frequency from its highest.
static const double UNSURE = 0.05;

// Keeps the numbers of all rows until the run is over.
class recorder : public benchmark::BenchmarkReporter
{
public:
  bool ReportContext(const Context &) override
  {
    return true;
  }

  void ReportRuns(const std::vector<run_report> &report) override
  {
    std::vector<double> times, frequencies;
    for (const run_report &run : report) {
      if (run.error_occurred) {
        failed.push_back(run.benchmark_name() + ": " + run.error_message);
        runs.push_back(run);
        return;
      } else if (run.run_type == run_report::RT_Iteration) {
        const bool real = run.run_name.time_type == "real_time";
        times.push_back(real ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime());
        frequencies.push_back(run.counters.at("GHz"));
      } else if (run.aggregate_name == "min" || run.aggregate_name == "median" ||
                 run.aggregate_name == "upper_quartile") {
        runs.push_back(run);
      }
    }
    if (times.empty())
      return;
    nrows++;
    ghz.insert(ghz.end(), frequencies.begin(), frequencies.end());
    const double middle = median(times);
    if (middle > (1 + UNSURE) * least(times) || upper_quartile(times) > (1 + UNSURE) * middle ||
        median(frequencies) <
            (1 - UNSURE) * *std::max_element(frequencies.begin(), frequencies.end()))
      unsure.push_back(report.front().run_name.str());
  }

  std::vector<run_report> runs;
  std::vector<std::string> failed, unsure;
  std::vector<double> ghz;
  size_t nrows = 0;
};

static std::string joined(const std::vector<std::string> &words)
{
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

// What disturbed the run, as a sentence; empty if nothing did.
static std::string noise(double other_cpus, std::vector<double> ghz)
{
  char text[256];
  std::string found;
  if (other_cpus > 0.1) {
    std::snprintf(text, sizeof text, "Other programs used %.1f CPUs.", other_cpus);
    found = text;
  }
  std::sort(ghz.begin(), ghz.end());
  const double low = ghz.empty() ? 0 : ghz[ghz.size() / 20];
  const double high = ghz.empty() ? 0 : ghz[ghz.size() - 1 - ghz.size() / 20];
  if (low < (1 - UNSURE) * high) {
    std::snprintf(text, sizeof text, "The frequency moved between %.2f and %.2f GHz.", low, high);
    found += (found.empty() ? "" : " ") + std::string(text);
  }
  return found;
}

// Writes google/benchmark's JSON, without the names of this machine and of this file.
static bool write(const char *path, const std::vector<run_report> &runs)
{
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  reporter.ReportContext(benchmark::BenchmarkReporter::Context());
  reporter.ReportRuns(runs);
  reporter.Finalize();

  std::ofstream file(path);
  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("    \"host_name\":", 0) != 0 && line.rfind("    \"executable\":", 0) != 0)
      file << line << '\n';
  file.close();
  return !file.fail();
}

int bench_run(const bench_plan *plan)
{
  char repetitions[64], seconds[64];
  std::snprintf(repetitions, sizeof repetitions, "--benchmark_repetitions=%u", plan->nrepetitions);
  std::snprintf(seconds, sizeof seconds, "--benchmark_min_time=%g", plan->seconds);
  char program[] = "lanebloom-bench",
       interleaving[] = "--benchmark_enable_random_interleaving=true";
  char *arguments[] = {program, repetitions, seconds, interleaving, nullptr};
  int narguments = 4;
  benchmark::Initialize(&narguments, arguments);

  size_t nrows = 0;
  for (const char *const *part = plan->parts; *part; part++) {
    const std::regex wanted(*part, std::regex::extended);
    nrows += static_cast<size_t>(std::count_if(names.begin(), names.end(), [&](const auto &name) {
      return std::regex_search(name, wanted);
    }));
  }
  recorder recorder;
  noise_other_cpus();
  progress.start(nrows * plan->nrepetitions, plan->seconds);
  for (const char *const *part = plan->parts; *part; part++) {
    benchmark::RunSpecifiedBenchmarks(&recorder, std::string(*part));
    plan->release();
  }
  progress.stop();

  std::sort(recorder.unsure.begin(), recorder.unsure.end());
  const std::string disturbed = noise(noise_other_cpus(), recorder.ghz);
  benchmark::AddCustomContext("noise", disturbed);
  benchmark::AddCustomContext("unsure", joined(recorder.unsure));
  if (!write(plan->output, recorder.runs)) {
    std::fprintf(stderr, "lanebloom-bench: %s: %s\n", plan->output, std::strerror(errno));
    return 1;
  }
  benchmark::Shutdown();

  if (!disturbed.empty())
    std::fprintf(stderr, "lanebloom-bench: NOISY: %s\n", disturbed.c_str());
  for (const std::string &name : recorder.unsure)
    std::fprintf(stderr, "lanebloom-bench: unsure: %s\n", name.c_str());
  for (const std::string &name : recorder.failed)
    std::fprintf(stderr, "lanebloom-bench: no result: %s\n", name.c_str());
  std::fprintf(stderr, "lanebloom-bench: %zu rows, %zu unsure, %zu without a result\n",
               recorder.nrows, recorder.unsure.size(), recorder.failed.size());
  return recorder.failed.empty() ? 0 : 1;
}
