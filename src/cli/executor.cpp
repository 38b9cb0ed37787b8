#include "cli/executor.h"

#include <omp.h>

#include "analysis/cost.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/quantity.h"
#include "cli/usage.h"
#include "cpu/engine.h"
#include "cpu/trainer.h"
#include "cpu/training_step.h"
#include "execution/torch_module.h"

namespace onceover {
namespace {

struct Machine {
  const char* name;
  std::unique_ptr<TrainingExecutor> (*make_trainer)(const ExecutorChoice&, const TrainedModel&,
                                                    const TrainSettings&);
  int64_t (*planned_bytes)(const ExecutorChoice&, const TrainedModel&, const TrainSettings&);
  std::unique_ptr<Engine> (*make_engine)(const ExecutorChoice&, Plan, const EngineWeights&);
};

PlanAtDepth plan_at_depth(const TrainedModel& model) {
  return [plan = model.plan](int loops) { return *plan(loops); };
}

void check_cpu(const ExecutorChoice& choice) {
  if (choice.device != "cpu") throw UsageMistake("--device {} needs --executor torch", choice.device);
}

void check_cpu(const ExecutorChoice& choice, const TrainSettings& settings) {
  check_cpu(choice);
  if (settings.run.precision != Precision::F32)
    throw Error("run.precision = \"bf16\" needs --executor torch");
}

std::unique_ptr<TrainingExecutor> cpu_trainer(const ExecutorChoice& choice, const TrainedModel& model,
                                              const TrainSettings& settings) {
  check_cpu(choice, settings);
  const cpu::TrainerOptions options{settings.memory.recompute, static_cast<int>(settings.run.threads)};
  return std::make_unique<cpu::Trainer>(plan_at_depth(model), options);
}

int64_t planned_cpu_bytes(const ExecutorChoice& choice, const TrainedModel& model,
                          const TrainSettings& settings) {
  check_cpu(choice, settings);
  const auto plan = model.plan(model.loops);
  const cpu::StepShape shape{settings.batch.micro_sequences, settings.data.sequence_length};
  const cpu::ScheduleOptions options{settings.memory.recompute,
                                     static_cast<int>(settings.loops.gradient_loops)};
  const int64_t floats = cpu::TrainingStep(*plan, shape, options).arena_floats();
  constexpr int64_t numbers_a_weight = 4;  // itself, its gradient, two moments
  return 4 * (numbers_a_weight * count_parameters(*plan).total + floats);
}

std::shared_ptr<const cpu::InferenceWeights> packed_weights(const ExecutorChoice& choice, const Plan& plan,
                                                            const EngineWeights& weights) {
  const std::string& wanted = choice.weights.empty() ? weights.stored_format : choice.weights;
  if (!weights.packed)
    return std::make_shared<cpu::InferenceWeights>(plan, cpu::weight_format(wanted), weights.read);
  if (wanted != weights.stored_format)
    throw Error("the weights are quantised to {} already and cannot become {}", weights.stored_format,
                wanted);
  return weights.packed;
}

std::unique_ptr<Engine> cpu_engine(const ExecutorChoice& choice, Plan plan, const EngineWeights& weights) {
  check_cpu(choice);
  if (choice.threads > 0) omp_set_num_threads(choice.threads);
  cpu::EngineOptions options;
  options.kv = cpu::kv_type(choice.kv);
  if (!choice.max_kv.empty()) options.max_kv_bytes = parse_bytes(choice.max_kv, "--max-kv");
  return std::make_unique<cpu::InferenceEngine>(plan, packed_weights(choice, plan, weights), options);
}

TorchOptions torch_options(const ExecutorChoice& choice, const TrainSettings& settings) {
  return {choice.device, settings.run.precision == Precision::Bf16, settings.memory.recompute,
          static_cast<int>(settings.run.threads)};
}

std::unique_ptr<TrainingExecutor> torch_trainer(const ExecutorChoice& choice, const TrainedModel& model,
                                                const TrainSettings& settings) {
  return torch_module().make_trainer(plan_at_depth(model), torch_options(choice, settings));
}

int64_t planned_torch_bytes(const ExecutorChoice& choice, const TrainedModel& model,
                            const TrainSettings& settings) {
  return torch_module().planned_bytes(
      *model.plan(model.loops), settings.batch.micro_sequences, settings.data.sequence_length,
      static_cast<int>(settings.loops.gradient_loops), torch_options(choice, settings));
}

std::unique_ptr<Engine> torch_engine(const ExecutorChoice& choice, Plan plan, const EngineWeights& weights) {
  const ExecutorChoice usual;
  if (weights.packed || !choice.weights.empty() || choice.kv != usual.kv || !choice.max_kv.empty())
    throw UsageMistake("quantised weights, --weights, --kv and --max-kv need --executor cpu");
  std::vector<std::vector<float>> numbers;
  for (WeightId id = 0; id < std::ssize(plan.weights); ++id) numbers.push_back(weights.read(id));
  return torch_module().make_engine(std::move(plan), std::move(numbers),
                                    {.device = choice.device, .threads = choice.threads});
}

constexpr Machine machines[] = {{"cpu", cpu_trainer, planned_cpu_bytes, cpu_engine},
                                {"torch", torch_trainer, planned_torch_bytes, torch_engine}};

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const Machine& machine : machines) names.emplace_back(machine.name);
  return names;
}

const Machine& find_machine(const std::string& name) {
  for (const Machine& machine : machines) {
    if (name == machine.name) return machine;
  }
  throw UsageMistake("unknown executor '{}'{}; expected one of {}", name, did_you_mean(name, machine_names()),
                     fmt::join(machine_names(), ", "));
}

}  // namespace

void add_executor_options(CLI::App& app, ExecutorChoice& choice) {
  app.add_option("--executor", choice.name,
                 fmt::format("what computes: {}", fmt::join(machine_names(), " or ")))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--device", choice.device, "where torch computes: cpu, cuda, or cuda:N for the Nth GPU")
      ->type_name("DEVICE")
      ->capture_default_str();
}

void add_inference_options(CLI::App& app, ExecutorChoice& choice) {
  app.add_option("--weights", choice.weights,
                 "format of weights in memory: f32, bf16, f16, q8, q4; as they are stored when left out")
      ->check(CLI::IsMember(cpu::weight_format_names()).description(""))
      ->type_name("FORMAT");
  app.add_option("--kv", choice.kv, "format of keys and values: f32, f16, q8")
      ->check(CLI::IsMember(cpu::kv_type_names()).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--max-kv", choice.max_kv, "most bytes of keys and values: 500M, 2G; no limit when left out")
      ->type_name("BYTES");
  app.add_option("-t,--threads", choice.threads, "threads that compute; one for each core when left out")
      ->check(whole_number(1, 1024))
      ->type_name("N");
}

std::unique_ptr<TrainingExecutor> make_training_executor(const ExecutorChoice& choice,
                                                         const TrainedModel& model,
                                                         const TrainSettings& settings) {
  return find_machine(choice.name).make_trainer(choice, model, settings);
}

int64_t planned_training_bytes(const ExecutorChoice& choice, const TrainedModel& model,
                               const TrainSettings& settings) {
  return find_machine(choice.name).planned_bytes(choice, model, settings);
}

std::unique_ptr<Engine> make_engine(const ExecutorChoice& choice, Plan plan, const EngineWeights& weights) {
  return find_machine(choice.name).make_engine(choice, std::move(plan), weights);
}

}  // namespace onceover
