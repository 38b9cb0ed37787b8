// Any bytes as a model of another maker: refused with an Error, or a config whose plan the weights are held
// against. Small models are read to the last number.
#include <cstdint>
#include <string>

#include "answer.h"
#include "architectures/registry.h"
#include "gguf/gguf_file.h"
#include "models/gguf_config.h"
#include "models/llama2c.h"
#include "models/weight_names.h"

namespace {

using namespace onceover;

void read_small(const StoredWeights& weights) {
  constexpr size_t few = 64;
  constexpr int64_t small = 1 << 16;
  if (weights.size() > few) return;
  for (const auto& [name, weight] : weights) {
    int64_t elements = 1;
    for (int64_t extent : weight.shape()) elements = extent > small ? small + 1 : elements * extent;
    if (elements <= small && weight.real()) weight.numbers();
  }
}

void read_gguf(std::span<const std::byte> bytes) {
  const GgufContents contents = parse_gguf(bytes, "input");
  const Config config = config_from_gguf(contents, "input");
  std::map<std::string, StoredWeight> tensors;
  for (const auto& [name, tensor] : contents.tensors) tensors[std::string(name)] = {tensor};
  read_small(
      rename_tensors(gguf_names(config, has_rotary_pairs_together(contents, "input")), tensors, "input"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  expect_answer([&] {
    if (has_gguf_magic(bytes))
      read_gguf(bytes);
    else
      read_small(parse_llama2c(bytes, "input").weights);
  });
  return 0;
}
