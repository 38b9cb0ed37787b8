// Any bytes as the weights of a quantised checkpoint: refused with an Error, or weights that run, whatever
// their numbers. The first byte says in which format.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/batch_engine.h"
#include "small_model.h"
#include "weights/safetensors.h"

namespace onceover {
namespace packed_weights {

inline void read(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  // As a mapped file, the bytes begin at a page.
  const kernels::Buffer copy(static_cast<int64_t>(bytes.size() / sizeof(float)) + 1);
  std::memcpy(copy.data(), bytes.data() + 1, bytes.size() - 1);
  const auto contents =
      parse_safetensors({reinterpret_cast<const std::byte*>(copy.data()), bytes.size() - 1}, "input");
  const Plan plan = build(small_config(), Run{});
  const auto weights = std::make_shared<cpu::InferenceWeights>(
      plan, static_cast<cpu::WeightFormat>(bytes[0] % 5), contents.tensors, "input", nullptr);
  cpu::BatchEngine engine([&](int) { return plan; }, weights, {.kv = static_cast<KvType>(bytes[0] / 5 % 3)});
  const std::vector<int32_t> tokens = {1, 28, 0, 3, 4, 5, 6, 7};
  const cpu::BatchEngine::Part part{engine.open(), tokens};
  engine.run({&part, 1});
}

}  // namespace packed_weights
}  // namespace onceover
