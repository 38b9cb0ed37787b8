#include "packed_weights.h"

#include "answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onceover::expect_answer([&] { onceover::packed_weights::read({data, size}); });
  return 0;
}
