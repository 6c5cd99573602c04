// Makes google/benchmark usable from C (see shim.h), and adds runs of several rounds to it.
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
#include <random>
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
  std::unique_lock<std::mutex> preparing; // locked up to the first bench_next()
  double additions_per_cycle = 0;         // at the first bench_next()
};

static double seconds_since(std::chrono::steady_clock::time_point begin)
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- Progress -----------------------------------------------------------------------------------

// Counts repetitions, and reports progress. google/benchmark first calls a row several times to
// find how many keys fill the minimum time; these calls are not counted. Then it calls the row once
// for each repetition.
class progress
{
public:
  void start(int round_number, size_t nrepetitions, double seconds)
  {
    round = round_number;
    done = 0;
    total = nrepetitions;
    minimum = seconds;
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
    std::fprintf(stderr, "%slanebloom-bench: round %d: %zu of %zu measurements, %.0f s%s",
                 terminal ? "\r" : "", round, done, total, seconds_since(begin),
                 terminal ? "" : "\n");
  }

  void stop()
  {
    if (terminal)
      std::fprintf(stderr, "\r%70s\r", "");
    total = 0;
  }

private:
  const bool terminal = isatty(STDERR_FILENO);
  int round = 0;
  size_t total = 0, done = 0;
  double minimum = 0;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last = begin;
};

static progress progress;

// ---- Rows ---------------------------------------------------------------------------------------

static std::vector<std::string> names; // the names of all rows that were added

// The names of counters that each repetition has, with values from noise.h.
static const char GHZ[] = "GHz", ADDITIONS[] = "additions_per_cycle", LEVEL2[] = "level2_ns";

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
    double level2_ns = 0;
    if (state.threads() == 1) { // with more threads, others may still be busy
      bench.additions_per_cycle = std::min(bench.additions_per_cycle, noise_additions_per_cycle());
      level2_ns = noise_level2_ns();
    }
    state.counters[GHZ] = {noise_frequency(), benchmark::Counter::kAvgThreads};
    state.counters[ADDITIONS] = {bench.additions_per_cycle, benchmark::Counter::kAvgThreads};
    state.counters[LEVEL2] = level2_ns;
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() == 0) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      auto &before = (*last)[state.threads()];
      progress.count(took.count(), before == state.max_iterations);
      before = state.max_iterations;
    }
  };
  return benchmark::RegisterBenchmark(name, row);
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
  if (bench->preparing.owns_lock()) {
    bench->additions_per_cycle = noise_additions_per_cycle();
    bench->preparing.unlock();
  }
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

// The largest relative difference that is allowed. A row is unsure if one of three differences is
// larger: between its median and its best time, between its upper quartile and its median time, or
// between its median and its highest frequency. A repetition is disturbed, and does not count, if
// its additions per cycle are this much below the highest of all repetitions, or if the time of its
// loads is this much above the lowest.
static const double UNSURE = 0.05;

// A row is unsure if it has fewer undisturbed repetitions than this. One round has fewer
// repetitions than this, so each row is measured in several rounds. This is needed to notice other
// programs that use the same cache: their effect shows only if rounds are compared.
static const size_t MIN_NREPETITIONS = 8;

static double time_of(const run_report &repetition)
{
  return repetition.run_name.time_type == "real_time" ? repetition.GetAdjustedRealTime()
                                                      : repetition.GetAdjustedCPUTime();
}

// Returns the number below which the given part of all numbers lies. Returns 0 if there are no
// numbers.
static double quantile(std::vector<double> numbers, double part)
{
  if (numbers.empty())
    return 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers[static_cast<size_t>(part * static_cast<double>(numbers.size() - 1))];
}

struct summary {
  run_report best, median, upper_quartile;
  bool unsure;
};

// Stores the repetitions of all rows until the run is over, and summarizes them.
class recorder : public benchmark::BenchmarkReporter
{
public:
  bool ReportContext(const Context &) override
  {
    return true;
  }

  void ReportRuns(const std::vector<run_report> &report) override
  {
    for (const run_report &run : report)
      if (run.error_occurred)
        failed.insert_or_assign(run.run_name.str(), run);
      else if (run.run_type == run_report::RT_Iteration)
        rows[run.run_name.str()].push_back(run);
  }

  // Returns the names of the unsure rows among those that match a regular expression.
  std::vector<std::string> unsure(const std::regex &wanted) const
  {
    const quiet_counters quiet = find_quiet();
    std::vector<std::string> found;
    for (const auto &[name, repetitions] : rows)
      if (std::regex_search(name, wanted) && summarize(repetitions, quiet).unsure)
        found.push_back(name);
    return found;
  }

  std::vector<run_report> summaries() const
  {
    const quiet_counters quiet = find_quiet();
    std::vector<run_report> all;
    for (const auto &[name, repetitions] : rows) {
      const summary row = summarize(repetitions, quiet);
      all.insert(all.end(), {row.best, row.median, row.upper_quartile});
    }
    for (const auto &[name, run] : failed)
      all.push_back(run);
    return all;
  }

  // Returns the values of a counter in all repetitions that have it.
  std::vector<double> all(const char *counter) const
  {
    std::vector<double> values;
    for (const auto &[name, repetitions] : rows)
      for (const run_report &repetition : repetitions)
        if (repetition.counters.at(counter) > 0)
          values.push_back(repetition.counters.at(counter));
    return values;
  }

  // Returns the share of repetitions that were disturbed.
  double disturbed() const
  {
    const quiet_counters quiet = find_quiet();
    size_t n = 0, ndisturbed = 0;
    for (const auto &[name, repetitions] : rows)
      for (const run_report &repetition : repetitions) {
        n++;
        ndisturbed += quiet.is_disturbed(repetition);
      }
    return n > 0 ? static_cast<double>(ndisturbed) / static_cast<double>(n) : 0;
  }

  std::map<std::string, std::vector<run_report>> rows; // all repetitions of each row
  std::map<std::string, run_report> failed;

private:
  // The values of the counters when nothing disturbs a repetition.
  struct quiet_counters {
    double additions, level2;

    bool is_disturbed(const run_report &run) const
    {
      return run.counters.at(ADDITIONS) < (1 - UNSURE) * additions ||
             run.counters.at(LEVEL2) > (1 + UNSURE) * level2;
    }
  };

  // Finds the values of quiet_counters from all repetitions. Ignores the most extreme values,
  // because the clock may have been wrong.
  quiet_counters find_quiet() const
  {
    return {quantile(all(ADDITIONS), 0.99), quantile(all(LEVEL2), 0.01)};
  }

  static summary summarize(const std::vector<run_report> &all, const quiet_counters &quiet)
  {
    std::vector<run_report> repetitions;
    for (const run_report &run : all)
      if (!quiet.is_disturbed(run))
        repetitions.push_back(run);
    const bool enough = repetitions.size() >= MIN_NREPETITIONS;
    if (!enough)
      repetitions = all;
    std::sort(repetitions.begin(), repetitions.end(),
              [](const auto &a, const auto &b) { return time_of(a) < time_of(b); });
    std::vector<double> ghz;
    for (const run_report &run : repetitions)
      ghz.push_back(run.counters.at(GHZ));

    const size_t n = repetitions.size();
    summary row = {repetitions[0], repetitions[(n - 1) / 2], repetitions[(n - 1) * 3 / 4], false};
    row.unsure = !enough || time_of(row.median) > (1 + UNSURE) * time_of(row.best) ||
                 time_of(row.upper_quartile) > (1 + UNSURE) * time_of(row.median) ||
                 quantile(ghz, 0.5) < (1 - UNSURE) * quantile(ghz, 1);
    call(row.best, "min");
    call(row.median, "median");
    call(row.upper_quartile, "upper_quartile");
    return row;
  }

  // Marks a run as an aggregate of repetitions, in the way of google/benchmark's JSON.
  static void call(run_report &run, const char *name)
  {
    run.run_type = run_report::RT_Aggregate;
    run.aggregate_name = name;
    run.aggregate_unit = benchmark::kTime;
  }
};

static std::string joined(const std::vector<std::string> &words, const char *between)
{
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

// Returns sentences that say what disturbed the run, or "" if nothing disturbed it.
static std::string noise(double other_cpus, const recorder &recorder)
{
  char text[256];
  std::vector<std::string> found;
  if (other_cpus > 0.1) {
    std::snprintf(text, sizeof text, "Other programs used %.1f CPUs.", other_cpus);
    found.push_back(text);
  }
  const double low = quantile(recorder.all(GHZ), 0.05), high = quantile(recorder.all(GHZ), 0.95);
  if (low < (1 - UNSURE) * high) {
    std::snprintf(text, sizeof text, "The frequency moved between %.2f and %.2f GHz.", low, high);
    found.push_back(text);
  }
  if (recorder.disturbed() > 0.05) {
    std::snprintf(text, sizeof text, "Others shared the core during %.0f %% of the repetitions.",
                  100 * recorder.disturbed());
    found.push_back(text);
  }
  return joined(found, " ");
}

// Writes google/benchmark's JSON, but leaves out the names of this machine and of the program's
// file.
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

// Chooses some of the rows at random, as many as can be measured again in the given seconds.
static std::vector<std::string> what_fits(std::vector<std::string> rows, const bench_plan *plan,
                                          const recorder &recorder, double seconds)
{
  static std::mt19937 random;
  std::shuffle(rows.begin(), rows.end(), random);
  size_t n = 0;
  for (; n < rows.size(); n++) {
    const double repetition = recorder.rows.at(rows[n]).back().real_accumulated_time;
    seconds -= 2 * plan->nrepetitions * repetition; // preparing takes as long as measuring
    if (seconds < 0)
      break;
  }
  rows.resize(n);
  return rows;
}

// Measures the rows of a part. While there is time, measures the unsure rows among them again.
static void run_part(const bench_plan *plan, const char *part,
                     std::chrono::steady_clock::time_point begin, recorder &recorder)
{
  const std::regex wanted(part, std::regex::extended);
  auto nrows = static_cast<size_t>(std::count_if(names.begin(), names.end(), [&](const auto &name) {
    return std::regex_search(name, wanted);
  }));
  std::string rows = part;
  for (int round = 1; round <= plan->max_nrounds && nrows > 0; round++) {
    progress.start(round, nrows * plan->nrepetitions, plan->seconds);
    benchmark::RunSpecifiedBenchmarks(&recorder, rows);
    const std::vector<std::string> again = what_fits(recorder.unsure(wanted), plan, recorder,
                                                     plan->max_seconds - seconds_since(begin));
    nrows = again.size();
    rows = "^(" + joined(again, "|") + ")$";
  }
}

int bench_run(const bench_plan *plan)
{
  const auto begin = std::chrono::steady_clock::now();
  char repetitions[64], seconds[64];
  std::snprintf(repetitions, sizeof repetitions, "--benchmark_repetitions=%u", plan->nrepetitions);
  std::snprintf(seconds, sizeof seconds, "--benchmark_min_time=%g", plan->seconds);
  char program[] = "lanebloom-bench",
       interleaving[] = "--benchmark_enable_random_interleaving=true";
  char *arguments[] = {program, repetitions, seconds, interleaving, nullptr};
  int narguments = 4;
  benchmark::Initialize(&narguments, arguments);

  recorder recorder;
  noise_other_cpus();
  for (const char *const *part = plan->parts; *part; part++) {
    run_part(plan, *part, begin, recorder);
    plan->release();
  }
  progress.stop();

  const std::vector<std::string> unsure = recorder.unsure(std::regex(""));
  const std::string disturbed = noise(noise_other_cpus(), recorder);
  benchmark::AddCustomContext("noise", disturbed);
  benchmark::AddCustomContext("unsure", joined(unsure, " "));
  if (!write(plan->output, recorder.summaries())) {
    std::fprintf(stderr, "lanebloom-bench: %s: %s\n", plan->output, std::strerror(errno));
    return 1;
  }
  benchmark::Shutdown();

  if (!disturbed.empty())
    std::fprintf(stderr, "lanebloom-bench: NOISY: %s\n", disturbed.c_str());
  for (const std::string &name : unsure)
    std::fprintf(stderr, "lanebloom-bench: unsure: %s\n", name.c_str());
  for (const auto &[name, run] : recorder.failed)
    std::fprintf(stderr, "lanebloom-bench: no result: %s: %s\n", name.c_str(),
                 run.error_message.c_str());
  std::fprintf(stderr, "lanebloom-bench: %zu rows, %zu unsure, %zu without a result\n",
               recorder.rows.size(), unsure.size(), recorder.failed.size());
  return recorder.failed.empty() ? 0 : 1;
}
