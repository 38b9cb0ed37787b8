// Any bytes as the state of a checkpoint's state.json: refused with an Error, or a state that reads back as
// itself. The check that the format asks for is added, or no input would get past it.
#include <cstdint>
#include <string_view>

#include "answer.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/json.h"
#include "train/state_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    nlohmann::json json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
    if (json.is_object() && !json.contains("check")) json["check"] = to_hex(hash64(json.dump()));
    const RunState state = state_from_json(json, "input");
    const nlohmann::json written = state_to_json(state);
    if (state_to_json(state_from_json(written, "output")) != written) std::abort();
    if (state.step < 0 || state.sequences < 0 || state.tokens < 0) std::abort();
  });
  return 0;
}
