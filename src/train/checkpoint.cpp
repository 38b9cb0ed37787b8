#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "train/state_json.h"
#include "weights/bind.h"
#include "weights/checkpoint.h"

namespace onceover {
namespace {

using Tensor = TrainingExecutor::Tensor;

struct Moment {
  Tensor which;
  const char* prefix;
};
constexpr Moment moments[] = {{Tensor::FirstMoment, "first_moment."},
                              {Tensor::SecondMoment, "second_moment."}};
constexpr const char* moments_name = "optimizer.safetensors";

// One tensor for each weight of the executor, copied out, under prefix + name.
struct NamedCopies {
  std::vector<std::vector<float>> values;
  TensorMap tensors;

  void add(const TrainingExecutor& executor, Tensor which, const std::string& prefix) {
    const auto& weights = executor.weights();
    for (size_t w = 0; w < weights.size(); w++) {
      values.push_back(executor.read(static_cast<WeightId>(w), which));
      require_finite(values.back(), prefix + weights[w].name);
      tensors[prefix + weights[w].name] = view_of(values.back(), weights[w].shape);
    }
  }

  static void require_finite(const std::vector<float>& numbers, const std::string& name) {
    const auto bad = std::find_if(numbers.begin(), numbers.end(), [](float x) { return !std::isfinite(x); });
    if (bad == numbers.end()) return;
    throw Error("not saved: element {} of {} is {}", bad - numbers.begin(), name, *bad);
  }
};

void write_moments(CheckpointWriter& writer, const TrainingExecutor& executor) {
  NamedCopies copies;
  for (const Moment& moment : moments) copies.add(executor, moment.which, moment.prefix);
  writer.add_tensors(moments_name, copies.tensors);
}

// The tensors whose names begin with `prefix`, without it.
TensorMap without_prefix(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (const auto& [name, view] : tensors) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = view;
  }
  return found;
}

void write_all(TrainingExecutor& executor, Tensor which, const std::vector<TensorView>& views) {
  for (size_t w = 0; w < views.size(); w++) executor.write(static_cast<WeightId>(w), which, to_f32(views[w]));
}

}  // namespace

std::string checkpoint_name(int64_t step) { return fmt::format("step_{:06}", step); }

std::vector<FoundCheckpoint> find_checkpoints(const std::filesystem::path& run_folder) {
  std::vector<FoundCheckpoint> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder, none)) {
    const std::string name = entry.path().filename().string(), prefix = "step_";
    if (!name.starts_with(prefix) || !entry.is_directory(none)) continue;
    int64_t step = -1;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
    if (step >= 0 && name == checkpoint_name(step)) found.push_back({step, entry.path()});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return found;
}

void save_checkpoint(const std::filesystem::path& run_folder, const RunState& state,
                     const TrainedModel& model, const TrainingExecutor& executor) {
  const std::string name = checkpoint_name(state.step);
  CheckpointWriter writer(run_folder / name, AtomicDirectory::Existing::Replace);
  writer.add_config(model.config_json);
  for (const auto& file : model.tokenizer_files) writer.add_copy(file);
  {
    NamedCopies weights;
    weights.add(executor, Tensor::Weight, "");
    writer.add_weights(weights.tensors);
  }
  write_moments(writer, executor);
  writer.commit(state.plan_fingerprint, state_to_json(state));
  write_text_file(run_folder / "latest", name + "\n");
}

RunState read_run_state(const std::filesystem::path& directory) {
  return state_from_json(Checkpoint(directory).state(), (directory / "state.json").string());
}

void load_checkpoint(const std::filesystem::path& directory, const Plan& plan, TrainingExecutor& executor) {
  const Checkpoint checkpoint(directory);
  checkpoint.verify();
  checkpoint.require_plan(plan.fingerprint());
  const Safetensors optimiser(directory / moments_name);
  const auto weights = bind_weights(plan, checkpoint.tensors(), directory.string());
  std::vector<std::vector<TensorView>> stored;
  for (const Moment& moment : moments) {
    stored.push_back(
        bind_weights(plan, without_prefix(optimiser.tensors(), moment.prefix), optimiser.path().string()));
  }
  write_all(executor, Tensor::Weight, weights);
  for (size_t m = 0; m < stored.size(); m++) write_all(executor, moments[m].which, stored[m]);
}

void remove_old_checkpoints(const std::filesystem::path& run_folder, int64_t step, int64_t keep) {
  for (const auto& found : find_checkpoints(run_folder)) {
    if (found.step > step || keep-- > 0) continue;
    std::error_code error;
    std::filesystem::remove_all(found.path, error);
    if (error) throw Error("{}: old checkpoint cannot be removed: {}", found.path.string(), error.message());
  }
}

}  // namespace onceover
