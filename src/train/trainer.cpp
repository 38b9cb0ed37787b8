#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/cost.h"
#include "base/clock.h"
#include "base/error.h"
#include "train/run_folder.h"
#include "train/schedule.h"
#include "train/step.h"
#include "weights/init.h"

namespace onceover {
namespace {

// FLOPs of a token at each depth, counted once.
class TokenFlops {
 public:
  TokenFlops(const TrainSettings& settings, const TrainedModel& model)
      : length_(settings.data.sequence_length), model_(model) {}

  double at(int loops) {
    const auto known = counted_.find(loops);
    if (known != counted_.end()) return known->second;
    return counted_[loops] = training_flops_per_token(*model_.plan(loops), length_);
  }

 private:
  int64_t length_;
  const TrainedModel& model_;
  std::map<int, double> counted_;
};

bool has_balance_loss(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    const auto* experts = std::get_if<Experts>(&step.op);
    return experts != nullptr && experts->balance != 0;
  });
}

void start_weights(const TrainSettings& settings, const TrainedModel& model, const Plan& plan,
                   TrainingExecutor& executor) {
  const auto fresh = model.start ? std::vector<std::vector<float>>()
                                 : initial_weights(plan, static_cast<uint64_t>(settings.run.seed));
  for (WeightId w = 0; w < static_cast<WeightId>(plan.weights.size()); w++)
    executor.write(w, TrainingExecutor::Tensor::Weight, model.start ? model.start(w) : fresh[w]);
}

// One call of train().
class Trainer {
 public:
  Trainer(const TrainSettings& settings, const TrainingJob& job, TrainingExecutor& executor,
          const Hooks& hooks)
      : settings_(settings),
        job_(job),
        executor_(executor),
        hooks_(hooks),
        plan_(job.model.plan(job.model.loops)),
        decayed_(decayed_weights(settings, executor.weights())),
        balanced_(has_balance_loss(*plan_)),
        token_flops_(settings, job.model),
        steps_(planned_steps(settings, job.model)) {}

  void start();
  TrainingResult run();
  Validation validate_now();

 private:
  void step();
  Depth depth_of(int64_t step) const;
  void after_step();
  Record record() const;
  void add_validation(Record& record) const;
  void save();
  [[noreturn]] void throw_stopped(const Error& error) const;
  void notice(std::string_view line) const {
    if (hooks_.notice) hooks_.notice(line);
  }
  double now() const { return hooks_.clock ? hooks_.clock() : steady_seconds(); }
  bool last_step() const { return state_.step >= steps_; }
  bool due(int64_t every) const { return last_step() || (every > 0 && state_.step % every == 0); }

  const TrainSettings& settings_;
  const TrainingJob& job_;
  TrainingExecutor& executor_;
  const Hooks& hooks_;
  std::shared_ptr<const Plan> plan_;
  std::vector<bool> decayed_;
  bool balanced_;
  TokenFlops token_flops_;
  const int64_t steps_;

  std::optional<RunFolder> folder_;
  RunState state_;
  StepNumbers numbers_;
  double peak_flops_ = 0;  // of the machine; 0 = unknown
  double started_ = 0;     // on the clock, as if the run had never stopped

  // Since the last record.
  int64_t recent_tokens_ = 0;
  double recent_flops_ = 0, recent_seconds_ = 0;

  std::optional<Validation> validation_;
  std::map<std::string, double> measured_;  // beside it
  int64_t steps_here_ = 0;
  bool saved_ = false;
};

void Trainer::start() {
  peak_flops_ = settings_.run.peak_gflops > 0 ? settings_.run.peak_gflops * 1e9 : executor_.peak_flops();
  state_.seed = settings_.run.seed;
  state_.data_seed = settings_.data.seed;
  state_.sequence_length = settings_.data.sequence_length;
  state_.data_fingerprint = job_.train.fingerprint;
  state_.plan_fingerprint = plan_->fingerprint();
  std::optional<RunState> resumed;
  if (!settings_.run.folder.empty()) {
    folder_.emplace(settings_);
    resumed = folder_->resume(state_, *plan_, executor_, [this](std::string_view line) { notice(line); });
  }
  if (resumed) {
    state_ = *resumed;
    notice(last_step()
               ? fmt::format("nothing to train: step {} is there, {} are asked for", state_.step, steps_)
               : fmt::format("going on after step {} of {}", state_.step, steps_));
  } else {
    start_weights(settings_, job_.model, *plan_, executor_);
  }
}

TrainingResult Trainer::run() {
  start();
  if (folder_) folder_->open_logs(state_.step);
  if (hooks_.on_start) hooks_.on_start(state_.step, steps_);
  started_ = now() - state_.wall_seconds;
  saved_ = state_.step > 0;
  bool stopped = false;
  while (!last_step() && !stopped) {
    try {
      step();
      after_step();
    } catch (const Error& error) {
      throw_stopped(error);
    }
    stopped = !last_step() && hooks_.stop && hooks_.stop();
  }
  if (stopped && !saved_) save();
  TrainingResult result{state_.step, steps_, state_.tokens, state_.flops, {}, validation_, stopped, ""};
  if (steps_here_ > 0) result.loss = numbers_.loss;
  if (folder_) result.checkpoint = folder_->last_checkpoint().string();
  return result;
}

Depth Trainer::depth_of(int64_t step) const {
  return {sampled_loops(settings_, step, job_.model.loops), static_cast<int>(settings_.loops.gradient_loops)};
}

void Trainer::step() {
  const double begun = now();
  const int64_t step = state_.step + 1;
  const Depth depth = depth_of(step);
  numbers_ = accumulate_step(settings_, job_.train, step, state_.sequences, depth, executor_);
  const auto& o = settings_.optimiser;
  const double scale = o.clip > 0 && numbers_.grad_norm > o.clip ? o.clip / numbers_.grad_norm : 1;
  executor_.update({learning_rate(settings_, step, steps_), o.beta1, o.beta2, o.epsilon, o.weight_decay, step,
                    scale, decayed_});
  const double flops = token_flops_.at(depth.loops) * static_cast<double>(settings_.batch.tokens);
  state_.step = step;
  state_.sequences += settings_.batch.tokens / settings_.data.sequence_length;
  state_.tokens += numbers_.tokens;
  state_.flops += flops;
  recent_tokens_ += numbers_.tokens;
  recent_flops_ += flops;
  recent_seconds_ += now() - begun;
  steps_here_++;
  saved_ = false;
}

Validation Trainer::validate_now() {
  const Measured all = measure(settings_, *job_.validation, executor_);
  measured_.clear();
  if (all.accuracy) measured_["validation_accuracy"] = *all.accuracy;
  for (const Probe& probe : job_.probes) {
    const Measured part = measure(settings_, probe.source, executor_);
    measured_[probe.name + "_loss"] = part.loss;
    if (part.accuracy) measured_[probe.name + "_accuracy"] = *part.accuracy;
  }
  return validation_of(all, *job_.validation);
}

void Trainer::after_step() {
  state_.wall_seconds = now() - started_;
  if (hooks_.on_step) hooks_.on_step(state_.step, numbers_.loss);
  const bool validated = job_.validation && due(settings_.validation.every);
  if (validated) validation_ = validate_now();
  if (validated || due(settings_.run.log_every)) {
    Record r = record();
    if (validated) add_validation(r);
    if (folder_) folder_->log(r);
    if (hooks_.on_record) hooks_.on_record(r);
    recent_tokens_ = 0;
    recent_flops_ = recent_seconds_ = 0;
  }
  if (due(settings_.checkpoint.every)) save();
}

Record Trainer::record() const {
  Record r;
  r.step = state_.step;
  r.tokens = state_.tokens;
  r.flops = state_.flops;
  r.wall_seconds = state_.wall_seconds;
  r.loss = numbers_.loss;
  r.learning_rate = learning_rate(settings_, state_.step, steps_);
  r.grad_norm = numbers_.grad_norm;
  r.tokens_per_second = static_cast<double>(recent_tokens_) / recent_seconds_;
  r.mfu = peak_flops_ > 0 ? recent_flops_ / recent_seconds_ / peak_flops_ : std::nan("");
  r.memory_bytes = executor_.planned_bytes();
  if (balanced_) r.extra["balance_loss"] = numbers_.balance;
  if (settings_.loops.sampling == LoopSampling::Binomial) r.extra["loops"] = depth_of(state_.step).loops;
  return r;
}

void Trainer::add_validation(Record& record) const {
  record.validation = validation_;
  record.extra.insert(measured_.begin(), measured_.end());
  int iteration = 0;
  for (double rms : measure_loop_rms(settings_, *job_.validation, executor_))
    record.extra[fmt::format("loop_{}_rms", ++iteration)] = rms;
}

void Trainer::throw_stopped(const Error& error) const {
  const auto last = folder_ ? folder_->last_checkpoint() : std::filesystem::path();
  throw Error("training stopped after step {} of {}: {}; {}", state_.step, steps_, error.what(),
              last.empty() ? "there is no checkpoint" : "the newest checkpoint is " + last.string());
}

void Trainer::save() {
  if (!folder_) return;
  folder_->save(state_, job_.model, executor_);
  saved_ = true;
}

void check_job(const TrainSettings& settings, const TrainingJob& job) {
  check_train_settings(settings, "settings");
  const auto length = settings.data.sequence_length;
  if (job.train.sequences < 1) throw Error("data.shards: no training sequence of {} tokens", length);
  if (job.validation && job.validation->sequences < 1) {
    throw Error("data.shards: no held-out sequence of {} tokens", length);
  }
  if (settings.validation.every > 0 && !job.validation) {
    throw Error("validation.every is {}, but data.shards holds no held-out text", settings.validation.every);
  }
}

}  // namespace

TrainingResult train(const TrainSettings& settings, const TrainingJob& job, TrainingExecutor& executor,
                     const Hooks& hooks) {
  check_job(settings, job);
  return Trainer(settings, job, executor, hooks).run();
}

Validation evaluate_only(const TrainSettings& settings, const TrainingJob& job, TrainingExecutor& executor,
                         const Hooks& hooks) {
  check_job(settings, job);
  if (!job.validation) throw Error("expected held-out text in data.shards, found none");
  Trainer trainer(settings, job, executor, hooks);
  trainer.start();
  return trainer.validate_now();
}

int64_t planned_steps(const TrainSettings& settings, const TrainedModel& model) {
  TokenFlops flops(settings, model);
  return budgeted_steps(settings, model.loops, [&](int loops) { return flops.at(loops); });
}

double planned_flops(const TrainSettings& settings, const TrainedModel& model) {
  TokenFlops flops(settings, model);
  double expected = 0;
  for (int t = 1; t <= model.loops; t++) {
    const double probability = loops_probability(settings, t, model.loops);
    if (probability > 0) expected += probability * flops.at(t);
  }
  return expected * static_cast<double>(settings.batch.tokens) *
         static_cast<double>(planned_steps(settings, model));
}

}  // namespace onceover
