// Any bytes as a tokenizer.model: refused with an Error, or the library takes the model and every text comes
// back.
#include <cstdint>

#include "text/sentencepiece_tokenizer.h"
#include "text_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    expect_texts(SentencePieceTokenizer({reinterpret_cast<const char*>(data), size}, "input"));
  });
  return 0;
}
