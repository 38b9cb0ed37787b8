// Any bytes as a safetensors file: refused with an Error, or every byte of every tensor may be read.
#include <cstdint>
#include <span>

#include "answer.h"
#include "weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const auto contents = parse_safetensors(std::as_bytes(std::span(data, size)), "input");
    size_t bytes = 0;
    for (const auto& [name, tensor] : contents.tensors) {
      const auto numbers = to_f32(tensor);
      if (tensor_bytes(tensor.shape, tensor.dtype) != tensor.bytes.size()) std::abort();
      if (numbers.size() * dtype_size(tensor.dtype) != tensor.bytes.size()) std::abort();
      bytes += tensor.bytes.size();
    }
    if (bytes > size) std::abort();  // overlapping tensors
  });
  return 0;
}
