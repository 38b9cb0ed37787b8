// Any bytes as the index of a sharded model: refused with an Error, or every shard is a plain file name.
#include <cstdint>
#include <string_view>

#include "answer.h"
#include "weights/tensor_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const auto index = parse_shard_index({reinterpret_cast<const char*>(data), size}, "input");
    for (const auto& [tensor, shard] : index.shard_of) {
      if (shard.empty() || shard == ".." || shard.find('/') != std::string::npos) std::abort();
    }
  });
  return 0;
}
