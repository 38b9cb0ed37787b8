// Any bytes as a chat template: refused with an Error, or rendered with an Error or a text whose spans of
// input are in order.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "answer.h"
#include "jinja/template.h"

namespace {

using namespace onceover;

const jinja::Value& variables() {
  static const jinja::Value value = jinja::from_json(
      nlohmann::ordered_json::parse(
          R"({"messages": [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi <|end|>"},
              {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": {"a": [1, 2.5, null, true]}}]}],
              "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
              "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true, "x": 3})"),
      jinja::Origin::Input);
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  expect_answer([&] {
    const jinja::Template parsed({reinterpret_cast<const char*>(data), size}, "input");
    const jinja::Rendered rendered =
        parsed.render(*variables().dict(), {.now = 1'700'000'000, .max_work = 200'000});
    size_t done = 0;
    for (const auto& [start, end] : rendered.input) {
      if (start < done || end <= start || end > rendered.text.size()) std::abort();
      done = end + 1;
    }
  });
  return 0;
}
