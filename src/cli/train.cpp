#include <signal.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "analysis/cost.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "cli/executor.h"
#include "cli/training_job.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "report/progress.h"
#include "train/stop_signal.h"
#include "train/trainer.h"

namespace onceover {
namespace {

struct TrainOptions {
  std::string file;
  ExecutorChoice executor;
  bool dry_run = false, evaluate_only = false, print_defaults = false;
};

constexpr size_t max_settings_bytes = size_t{1} << 20;

TrainSettings read_settings(const std::string& file, const std::vector<std::string>& overrides) {
  TrainSettings settings = train_settings_from_toml(read_text_file(file, max_settings_bytes), file);
  for (const std::string& words : overrides) {
    if (!words.starts_with("--"))
      throw UsageMistake("unexpected '{}': expected --section.key=value, in one word", words);
    const bool resumes = words.starts_with("--resume=");
    override_setting(settings, (resumes ? "checkpoint." : "") + words.substr(2));
  }
  check_train_settings(settings, file);
  return settings;
}

// Progress on the terminal, once it is known where the run begins.
class TrainingProgress {
 public:
  void start(int64_t step, int64_t steps) {
    if (step >= steps) return;
    bar_.emplace(Progress::Work{"train", "steps", steps, step}, Terminal::of(fileno(stderr)));
  }
  void step(int64_t step, double loss) { bar_->update(step, fmt::format("loss {:.4f}{}", loss, note_)); }
  void record(const Record& record) {
    if (record.validation) note_ = fmt::format("  validation {:.4f}", record.validation->loss);
  }
  void line(std::string_view text) {
    if (bar_) return bar_->print(text);
    fmt::print(stderr, "{}\n", text);
  }
  void finish() {
    if (bar_) bar_->finish();
  }

 private:
  std::optional<Progress> bar_;
  std::string note_;
};

void print_plan(const TrainOptions& options, const TrainSettings& settings, const TrainedModel& model) {
  const auto plan = model.plan(model.loops);
  const ParameterCount parameters = count_parameters(*plan);
  const int64_t steps = planned_steps(settings, model);
  fmt::print("{}\n", train_settings_to_toml(settings));
  fmt::print("{}", format_table({{"parameters", fmt::format("{}", parameters.total)},
                                 {"active parameters", fmt::format("{}", parameters.active)},
                                 {"loops", fmt::format("{}", model.loops)},
                                 {"micro-batches a step", fmt::format("{}", accumulation(settings))},
                                 {"steps", fmt::format("{}", steps)},
                                 {"tokens", format_count(static_cast<double>(steps * settings.batch.tokens))},
                                 {"FLOPs", fmt::format("{:.4g}", planned_flops(settings, model))},
                                 {"planned memory", format_bytes(static_cast<double>(planned_training_bytes(
                                                        options.executor, model, settings)))}}));
}

std::string validation_text(const Validation& v, int decimals) {
  std::string text = fmt::format("validation loss {:.{}f}", v.loss, decimals);
  if (std::isfinite(v.bits_per_byte))
    text += fmt::format(", {:.{}f} bits per byte", v.bits_per_byte, decimals);
  return text;
}

// A run may have been longer than it is now asked to be.
std::string place_text(const TrainingResult& result) {
  if (result.stopped) return fmt::format("stopped after step {} of {}", result.step, result.steps);
  if (result.step == result.steps) return fmt::format("done: step {} of {}", result.step, result.steps);
  return fmt::format("done already: step {}, {} are asked for", result.step, result.steps);
}

void print_result(const TrainingResult& result) {
  fmt::print("{}, {} tokens, {:.4g} FLOPs\n", place_text(result),
             format_count(static_cast<double>(result.tokens)), result.flops);
  if (result.loss) fmt::print("loss {:.4f}\n", *result.loss);
  if (result.validation) fmt::print("{}\n", validation_text(*result.validation, 4));
  if (!result.checkpoint.empty()) fmt::print("checkpoint {}\n", result.checkpoint);
  if (result.stopped) fmt::print("the same command goes on from here\n");
}

void run_training(const TrainOptions& options, const TrainSettings& settings) {
  TrainingProgress progress;
  const auto line = [&](std::string_view text) { progress.line(text); };
  const auto warn = [&](const std::string& text) { line("warning: " + text); };
  const PreparedTraining prepared = prepare_training(settings, warn);
  if (options.dry_run) return print_plan(options, settings, prepared.job.model);
  const auto executor = make_training_executor(options.executor, prepared.job.model, settings);
  Hooks hooks;
  hooks.notice = line;
  if (options.evaluate_only) {
    const Validation v = evaluate_only(settings, prepared.job, *executor, hooks);
    fmt::print("{}\n", validation_text(v, 6));
    return;
  }
  const StopSignal stop;
  hooks.on_start = [&](int64_t step, int64_t steps) { progress.start(step, steps); };
  hooks.on_step = [&](int64_t step, double loss) { progress.step(step, loss); };
  hooks.on_record = [&](const Record& record) { progress.record(record); };
  hooks.stop = [&] { return stop.asked(); };
  const TrainingResult result = train(settings, prepared.job, *executor, hooks);
  progress.finish();
  print_result(result);
}

void train_with(const TrainOptions& options, const std::vector<std::string>& overrides) {
  if (options.print_defaults) {
    fmt::print("{}", train_settings_to_toml(TrainSettings{}));
    return;
  }
  if (options.file.empty())
    throw UsageMistake("train needs a settings file; --print-defaults writes one to begin with");
  signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of writing, not a reason to die
  run_training(options, read_settings(options.file, overrides));
}

}  // namespace

Action train_verb(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  app.add_option("settings", options->file, "a TOML file; docs/training.md lists its keys")
      ->type_name("FILE");
  add_executor_options(app, options->executor);
  app.add_flag("--dry-run", options->dry_run,
               "say what would be done: settings, parameters, memory, steps, FLOPs");
  app.add_flag("--eval-only", options->evaluate_only,
               "measure the held-out text with the weights the run would start from");
  app.add_flag("--print-defaults", options->print_defaults,
               "print every setting with its default and meaning");
  app.footer("Any setting may be given as --section.key=value; it wins over the file.");
  app.allow_extras();
  return [options, &app] { train_with(*options, app.remaining()); };
}

}  // namespace onceover
