// Any bytes as a tokenizer.model: refused with an Error, or the library takes the model and every text comes
// back.
#include <cstdint>
#include <string>

#include "answer.h"
#include "text/sentencepiece_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const SentencePieceTokenizer tokenizer({reinterpret_cast<const char*>(data), size}, "input");
    const std::string text = " a  b\n\xFF\xE2\x96\x81<s>\xC3\xA9";
    if (tokenizer.decode(tokenizer.encode(text)) != text) std::abort();
  });
  return 0;
}
