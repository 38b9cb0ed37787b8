#include "sequence_state.h"

#include "answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onceover::expect_answer([&] {
    onceover::sequence_state::read({reinterpret_cast<const char*>(data), size});
  });
  return 0;
}
