// Any bytes as a tokenizer.bin of llama2.c: refused with an Error, or every text has an answer, and comes
// back where the tokeniser says so.
#include "text/llama2c_tokenizer.h"

#include <cstdint>

#include "text_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    expect_texts(tokenizer_of_llama2c({reinterpret_cast<const char*>(data), size}, "input"));
  });
  return 0;
}
