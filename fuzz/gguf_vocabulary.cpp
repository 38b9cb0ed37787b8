// Any bytes as a GGUF file with a tokeniser: refused with an Error, or every text has an answer, and comes
// back where the tokeniser says so.
#include <cstdint>
#include <span>

#include "text_answer.h"
#include "vocabulary/gguf_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const auto contents = parse_gguf(std::as_bytes(std::span(data, size)), "input");
    chat_template_of_gguf(contents);
    expect_texts(*tokenizer_of_gguf(contents, "input"));
  });
  return 0;
}
