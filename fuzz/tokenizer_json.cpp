// Any bytes as a tokenizer.json: refused with an Error, or every text has an answer, and comes back where the
// tokeniser says so.
#include <cstdint>

#include "text/huggingface_tokenizer.h"
#include "text_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    expect_texts(HuggingFaceTokenizer({reinterpret_cast<const char*>(data), size}, "", "input"));
  });
  return 0;
}
