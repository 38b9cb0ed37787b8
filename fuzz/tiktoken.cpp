// Any bytes as a rank file of tiktoken: refused with an Error, or every text has an answer, and comes back
// where the tokeniser says so.
#include "text/tiktoken.h"

#include <cstdint>

#include "text_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    expect_texts(tokenizer_of_tiktoken({reinterpret_cast<const char*>(data), size}, "cl100k", "input"));
  });
  return 0;
}
