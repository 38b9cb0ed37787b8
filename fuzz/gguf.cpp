// Any bytes as a GGUF file: refused with an Error, or every element of every array and every number of every
// tensor may be read.
#include <cstdint>
#include <span>
#include <vector>

#include "answer.h"
#include "gguf/dequantise.h"
#include "gguf/gguf_file.h"

namespace {

using namespace onceover;

void read_elements(const GgufArray& array) {
  const auto values = elements(array);
  if (values.size() != array.count) std::abort();
  for (const GgufValue& value : values) {
    if (const auto* inner = std::get_if<GgufArray>(&value)) read_elements(*inner);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  expect_answer([&] {
    const auto contents = parse_gguf(std::as_bytes(std::span(data, size)), "input");
    for (const auto& [key, value] : contents.metadata) {
      if (const auto* array = std::get_if<GgufArray>(&value)) read_elements(*array);
    }
    size_t bytes = 0;
    for (const auto& [name, tensor] : contents.tensors) {
      bytes += tensor.bytes.size();
      if (!can_dequantise(tensor.type)) continue;
      std::vector<float> numbers(static_cast<size_t>(tensor.rows() * tensor.row_elements()));
      dequantise_rows(tensor, 0, numbers);
    }
    if (bytes > size) std::abort();  // overlapping tensors
  });
  return 0;
}
