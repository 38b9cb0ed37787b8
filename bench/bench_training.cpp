// Whole training steps (gradients of one batch, then AdamW), the CPU executor beside libtorch's on the same
// CPU.
//
//   bench_training [--quick] [--threads=N] [--torch-windows] [--only=TEXT]
//
// Both executors live in one process and take turns; every figure is a median over the turns. tok/s is by the
// clock. "peak" is the plan's arithmetic (three forward passes) per second of processor time over the FMA
// peak of a core, taken anew for each case, as in bench_kernels. "cpu/torch" is the ratio of the medians by
// the clock: below 1 the CPU executor is faster. Memory is that of a process of its own for each executor, in
// MiB: planned_bytes(), and the growth of its peak resident set from just before the executor is made.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analysis/cost.h"
#include "architectures/presets.h"
#include "architectures/registry.h"
#include "base/error.h"
#include "cpu/ceilings.h"
#include "cpu/trainer.h"
#include "execution/torch_module.h"
#include "weights/init.h"

namespace onceover::bench {
namespace {

struct Case {
  std::string name;
  Config config;
  int64_t sequences, length;
  int turns;
  bool window_row = false;  // of the table over lengths: libtorch only when asked
};

struct Settings {
  bool quick = false, torch_windows = false;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::string only;
  std::string measure_case, measure_executor;  // the child's work
};

// 6 layers, width 384, 6 heads, FFN 1024, 4096 tokens.
Config small_shape(const std::string& architecture, int loops = 1) {
  Config c;
  c.architecture = architecture;
  find_architecture(architecture, "benchmark").defaults(c);
  c.vocab_size = 4096;
  c.hidden_size = 384;
  c.num_hidden_layers = 6;
  c.num_attention_heads = c.num_key_value_heads = 6;
  c.head_dim = 64;
  c.intermediate_size = 1024;
  c.num_loops = loops;
  if (c.sliding_window) c.sliding_window = 256;
  return c;
}

// A quick run shows that every part works; its figures mean nothing.
std::vector<Case> all_cases(bool quick) {
  const int64_t sequences = quick ? 1 : 4, length = quick ? 64 : 512;
  const auto turns = [quick](int usual) { return quick ? 1 : usual; };
  std::vector<Case> cases = {
      {"transformer 6x384", small_shape("transformer"), sequences, length, turns(9)},
      {"yoco-u T=1 6x384", small_shape("yoco-u", 1), sequences, length, turns(9)},
      {"yoco-u T=3 6x384", small_shape("yoco-u", 3), sequences, length, turns(7)},
      {"transformer 110m", *find_preset("transformer-110m"), sequences, length, turns(3)},
  };
  for (int64_t rows = 512; rows <= (quick ? 512 : 8192); rows *= 2) {
    Config c = small_shape("transformer");
    c.sliding_window = 256;
    cases.push_back({fmt::format("window 256, N={}", rows), c, 1, rows, turns(5), true});
  }
  return cases;
}

Plan plan_of(const Case& c, int loops) { return build(c.config, Run{loops}); }

std::unique_ptr<TrainingExecutor> make_executor(const Case& c, const std::string& name, int threads) {
  const PlanAtDepth plans = [&c](int loops) { return plan_of(c, loops); };
  std::unique_ptr<TrainingExecutor> executor;
  if (name == "cpu")
    executor = std::make_unique<cpu::Trainer>(plans, cpu::TrainerOptions{.threads = threads});
  if (name == "torch") executor = torch_module().make_trainer(plans, {.threads = threads});
  const auto weights = initial_weights(plan_of(c, 0), 1);
  for (size_t id = 0; id < weights.size(); id++)
    executor->write(static_cast<WeightId>(id), TrainingExecutor::Tensor::Weight, weights[id]);
  return executor;
}

struct Batch {
  std::vector<int32_t> inputs, targets;

  explicit Batch(const Case& c) {
    uint32_t x = 12345;
    for (int64_t i = 0; i <= c.sequences * c.length; i++) {
      x = x * 1664525 + 1013904223;
      inputs.push_back(static_cast<int32_t>((x >> 8) % static_cast<uint32_t>(c.config.vocab_size)));
    }
    targets.assign(inputs.begin() + 1, inputs.end());
    inputs.pop_back();
  }
};

void train_step(TrainingExecutor& executor, const Case& c, const Batch& batch, int64_t step) {
  const double scale = 1.0 / static_cast<double>(c.sequences * c.length);
  executor.accumulate({c.sequences, c.length, batch.inputs, batch.targets}, {}, scale, scale);
  executor.update({.learning_rate = 1e-4,
                   .beta1 = 0.9,
                   .beta2 = 0.95,
                   .epsilon = 1e-8,
                   .weight_decay = 0.1,
                   .step = step,
                   .gradient_scale = 1,
                   .decayed = {}});
}

int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == key && status >> kib) return kib * 1024;
  }
  return 0;
}

struct Memory {
  int64_t planned = 0, peak = 0;
};

// What the child prints.
Memory measure_memory(const Case& c, const std::string& executor_name, int threads) {
  if (executor_name == "torch") torch_module();
  const Batch batch(c);
  const int64_t before = status_bytes("VmRSS:");
  const auto executor = make_executor(c, executor_name, threads);
  train_step(*executor, c, batch, 1);
  return {executor->planned_bytes(), status_bytes("VmHWM:") - before};
}

Memory memory_in_child(const Case& c, const std::string& executor, const Settings& settings) {
  const std::string command = fmt::format("'{}' --measure='{}' --executor={} --threads={}{}",
                                          std::filesystem::read_symlink("/proc/self/exe").string(), c.name,
                                          executor, settings.threads, settings.quick ? " --quick" : "");
  const std::unique_ptr<FILE, int (*)(FILE*)> child(popen(command.c_str(), "r"), &pclose);
  Memory found;
  if (!child || std::fscanf(child.get(), "%ld %ld", &found.planned, &found.peak) != 2) {
    throw Error("{}: the child that measures memory failed", c.name);
  }
  return found;
}

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x[x.size() / 2];
}

// One executor's turns.
struct Side {
  std::string name;
  std::unique_ptr<TrainingExecutor> executor;
  std::vector<double> seconds, processor_seconds;
};

void take_turn(Side& side, const Case& c, const Batch& batch, int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  const double processor_start = cpu::processor_seconds();
  train_step(*side.executor, c, batch, step);
  side.processor_seconds.push_back(cpu::processor_seconds() - processor_start);
  side.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void print_side(const Side& side, const Case& c, double peak, const Memory& memory) {
  const double tokens = static_cast<double>(c.sequences * c.length);
  const double flops = tokens * training_flops_per_token(plan_of(c, 0), c.length);
  constexpr double mib = 1 << 20;
  fmt::print("{:<20} {:<6} {:>8.0f} {:>6.2f} {:>9.0f} {:>9.0f}", c.name, side.name,
             tokens / median(side.seconds), flops / median(side.processor_seconds) / peak,
             static_cast<double>(memory.planned) / mib, static_cast<double>(memory.peak) / mib);
}

void run_case(const Case& c, const Settings& settings) {
  std::vector<std::string> names = {"cpu"};
  if (!c.window_row || settings.torch_windows) names.emplace_back("torch");
  std::vector<Memory> memory;
  for (const auto& name : names) memory.push_back(memory_in_child(c, name, settings));
  const double peak = cpu::fma_peak(settings.threads);
  const Batch batch(c);
  std::vector<Side> sides;
  for (const auto& name : names) sides.push_back({name, make_executor(c, name, settings.threads), {}, {}});
  if (!settings.quick) {
    for (Side& side : sides) train_step(*side.executor, c, batch, 1);
  }
  for (int turn = 0; turn < c.turns; turn++) {
    for (Side& side : sides) take_turn(side, c, batch, turn + 2);
  }
  for (size_t s = 0; s < sides.size(); s++) {
    print_side(sides[s], c, peak, memory[s]);
    if (s > 0) fmt::print(" {:>9.2f}", median(sides[0].seconds) / median(sides[s].seconds));
    fmt::print("\n");
  }
  std::fflush(stdout);
}

Settings read_settings(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; i++) {
    const std::string_view word = argv[i];
    const auto value = [&](std::string_view name) { return word.starts_with(name); };
    const auto rest = [&](std::string_view name) { return std::string(word.substr(name.size())); };
    if (word == "--quick") {
      s.quick = true;
    } else if (word == "--torch-windows") {
      s.torch_windows = true;
    } else if (value("--threads=")) {
      s.threads = std::stoi(rest("--threads="));
    } else if (value("--only=")) {
      s.only = rest("--only=");
    } else if (value("--measure=")) {
      s.measure_case = rest("--measure=");
    } else if (value("--executor=")) {
      s.measure_executor = rest("--executor=");
    } else {
      throw Error("unknown argument '{}'; expected --quick, --threads=N, --torch-windows or --only=TEXT",
                  word);
    }
  }
  return s;
}

void run(const Settings& settings) {
  const auto cases = all_cases(settings.quick);
  for (const Case& c : cases) {
    if (c.name != settings.measure_case) continue;
    const Memory found = measure_memory(c, settings.measure_executor, settings.threads);
    fmt::print("{} {}\n", found.planned, found.peak);
    return;
  }
  fmt::print("{:<20} {:<6} {:>8} {:>6} {:>9} {:>9} {:>9}\n", "case", "", "tok/s", "peak", "planned",
             "measured", "cpu/torch");
  for (const Case& c : cases) {
    if (c.name.find(settings.only) != std::string::npos) run_case(c, settings);
  }
}

}  // namespace
}  // namespace onceover::bench

int main(int argc, char** argv) {
  try {
    onceover::bench::run(onceover::bench::read_settings(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_training: {}\n", e.what());
    return 1;
  }
}
