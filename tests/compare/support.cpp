#include "compare/support.h"

#include "architectures/registry.h"
#include "cpu/trainer.h"
#include "train/token_sources.h"

namespace onceover::testing {
namespace {

class PoisonedTrainer : public cpu::Trainer {
 public:
  PoisonedTrainer(const TrainedModel& model, int64_t after_update)
      : Trainer([plan = model.plan](int loops) { return *plan(loops); }, {Recompute::None, 1}),
        after_update_(after_update) {}

  void update(const AdamW& settings) override {
    Trainer::update(settings);
    if (settings.step != after_update_) return;
    auto values = read(0, Tensor::Weight);
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    write(0, Tensor::Weight, values);
  }

 private:
  int64_t after_update_;
};

TrainingJob job_of(const Config& config, const TrainSettings& settings) {
  TokenSources sources = open_sources(settings, {});
  TrainingJob job;
  job.model.config_json = config_to_json(config).dump(2);
  job.model.loops = config.num_loops;
  job.model.plan = [config](int loops) { return std::make_shared<const Plan>(build(config, {loops})); };
  job.train = std::move(sources.train);
  job.validation = std::move(sources.validation);
  job.probes = std::move(sources.probes);
  return job;
}

}  // namespace

Recipe small_recipe() {
  return recipe_from_toml(R"(seeds = [1, 2]
budgets = ["steps", "flops"]
reference = "plain"
context = 64
[shape]
hidden_size = 16
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 32
[[model]]
name = "plain"
architecture = "transformer"
[[model]]
name = "deep"
architecture = "yoco-u"
sliding_window = 16
loops = [1, 3]
[base.data]
task = "swaps"
sequence_length = 16
[base.swaps]
places = 3
[base.batch]
tokens = 64
micro_sequences = 4
[base.schedule]
steps = 6
[base.validation]
every = 2
batches = 2
[base.run]
threads = 1
tensorboard = false
)",
                          "small.toml");
}

ComparisonTools cpu_tools(const Poison& poison) {
  ComparisonTools tools;
  tools.vocab_size = [](const TrainSettings& settings) { return open_sources(settings, {}).vocab_size; };
  tools.find_model = [](const std::string& name) {
    Config config;
    find_architecture(name, "here").defaults(config);
    config.architecture = name;
    config.num_key_value_heads = 2;
    config.head_dim = 8;
    config.bos_token_id = 1;
    return config;
  };
  tools.make_job = [](const Config& config, const TrainSettings& settings, const std::string&) {
    return job_of(config, settings);
  };
  tools.make_executor = [poison](const TrainedModel& model, const TrainSettings&) {
    const bool poisoned = model.loops == poison.loops;
    return std::make_unique<PoisonedTrainer>(
        model, poisoned ? poison.after_update : std::numeric_limits<int64_t>::max());
  };
  return tools;
}

}  // namespace onceover::testing
