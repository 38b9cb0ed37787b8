#include "cli/training_executor.h"

#include "analysis/cost.h"
#include "base/error.h"
#include "base/text.h"
#include "cpu/trainer.h"
#include "cpu/training_step.h"

namespace onceover {
namespace {

struct Machine {
  const char* name;
  std::unique_ptr<TrainingExecutor> (*make)(const TrainedModel&, const TrainSettings&);
  int64_t (*planned_bytes)(const TrainedModel&, const TrainSettings&);
};

std::unique_ptr<TrainingExecutor> make_cpu(const TrainedModel& model, const TrainSettings& settings) {
  const cpu::TrainerOptions options{settings.memory.recompute, static_cast<int>(settings.run.threads)};
  return std::make_unique<cpu::Trainer>([plan = model.plan](int loops) { return *plan(loops); }, options);
}

int64_t planned_cpu_bytes(const TrainedModel& model, const TrainSettings& settings) {
  const auto plan = model.plan(model.loops);
  const cpu::StepShape shape{settings.batch.micro_sequences, settings.data.sequence_length};
  const cpu::ScheduleOptions options{settings.memory.recompute,
                                     static_cast<int>(settings.loops.gradient_loops)};
  const int64_t floats = cpu::TrainingStep(*plan, shape, options).arena_floats();
  constexpr int64_t numbers_a_weight = 4;  // itself, its gradient, two moments
  return 4 * (numbers_a_weight * count_parameters(*plan).total + floats);
}

std::unique_ptr<TrainingExecutor> make_torch(const TrainedModel&, const TrainSettings&) {
  throw Error("--executor torch: this build is without libtorch; expected cpu");
}

int64_t planned_torch_bytes(const TrainedModel& model, const TrainSettings& settings) {
  make_torch(model, settings);
  return 0;
}

constexpr Machine machines[] = {{"cpu", make_cpu, planned_cpu_bytes},
                                {"torch", make_torch, planned_torch_bytes}};

const Machine& find_machine(const std::string& name) {
  for (const Machine& machine : machines) {
    if (name == machine.name) return machine;
  }
  throw Error("unknown executor '{}'{}; expected one of {}", name,
              did_you_mean(name, training_executor_names()), fmt::join(training_executor_names(), ", "));
}

}  // namespace

std::vector<std::string> training_executor_names() {
  std::vector<std::string> names;
  for (const Machine& machine : machines) names.emplace_back(machine.name);
  return names;
}

std::unique_ptr<TrainingExecutor> make_training_executor(const std::string& name, const TrainedModel& model,
                                                         const TrainSettings& settings) {
  return find_machine(name).make(model, settings);
}

int64_t planned_training_bytes(const std::string& name, const TrainedModel& model,
                               const TrainSettings& settings) {
  return find_machine(name).planned_bytes(model, settings);
}

}  // namespace onceover
