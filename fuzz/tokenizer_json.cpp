// Any bytes as a tokenizer.json: refused with an Error, or every text has an answer, and comes back where the
// tokeniser says so.
#include <cstdint>
#include <string>

#include "answer.h"
#include "text/huggingface_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const HuggingFaceTokenizer tokenizer({reinterpret_cast<const char*>(data), size}, "", "input");
    const std::string text = " a  b\n\xFF\xE2\x96\x81<s>\xC3\xA9 ab 12";
    const auto ids = tokenizer.encode(text);
    if (tokenizer.is_exact() && tokenizer.decode(ids) != text) std::abort();
    tokenizer.decode(tokenizer.encode_prompt(text, {}));
    tokenizer.fingerprint();
  });
  return 0;
}
