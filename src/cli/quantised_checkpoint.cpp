#include "cli/quantised_checkpoint.h"

#include "base/error.h"

namespace onceover {
namespace {

constexpr int version = 2;

}  // namespace

bool is_quantised(const Checkpoint& checkpoint) { return checkpoint.state().contains("packed"); }

std::shared_ptr<const cpu::InferenceWeights> open_quantised(const Checkpoint* checkpoint, const Plan& plan,
                                                            std::shared_ptr<const void> keep) {
  const std::string where = checkpoint->directory().string();
  const nlohmann::json& packed = checkpoint->state()["packed"];
  if (!packed.is_object() || !packed.contains("version") || !packed.contains("format") ||
      !packed["format"].is_string()) {
    throw Error("{}: state.json: expected packed to hold version and format", where);
  }
  if (packed["version"] != version) {
    throw Error("{}: packed weights of version {}, expected {}; run onceover quantize on the original again",
                where, packed["version"].dump(), version);
  }
  return std::make_shared<cpu::InferenceWeights>(plan,
                                                 cpu::weight_format(packed["format"].get<std::string>()),
                                                 checkpoint->tensors(), where, std::move(keep));
}

nlohmann::json quantised_state(cpu::WeightFormat format) {
  return {{"packed", {{"version", version}, {"format", cpu::weight_format_name(format)}}}};
}

}  // namespace onceover
