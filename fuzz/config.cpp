// Any bytes as a config.json: refused with an Error, or a config that reads back as itself and gives a plan.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "answer.h"
#include "architectures/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  expect_answer([&] {
    const Config config = config_from_text({reinterpret_cast<const char*>(data), size}, "input");
    const auto json = config_to_json(config);
    if (config_to_json(config_from_text(json.dump(), "output")) != json) std::abort();
    constexpr int quick_layers = 64;
    if (config.num_hidden_layers * config.num_loops <= quick_layers && build(config).steps.empty())
      std::abort();
  });
  return 0;
}
