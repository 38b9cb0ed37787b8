// A checkpoint whose weights lie packed, ready for inference: docs/quantised-format.md.
#pragma once
#include <memory>
#include <string>

#include "cpu/inference_weights.h"
#include "weights/checkpoint.h"

namespace onceover {

// Whether state.json says that the weights are packed.
bool is_quantised(const Checkpoint& checkpoint);

// Maps the weights; `keep` keeps the checkpoint open. Error for another version, or tensors that do not
// fit the plan's weights.
std::shared_ptr<const cpu::InferenceWeights> open_quantised(const Checkpoint* checkpoint, const Plan& plan,
                                                            std::shared_ptr<const void> keep);

// What state.json says of one in this format.
nlohmann::json quantised_state(cpu::WeightFormat format);

}  // namespace onceover
