// Any bytes as a training run's TOML, and its first line as an override: refused with an Error, or settings
// that read back as themselves.
#include <cstdint>
#include <string_view>

#include "answer.h"
#include "train/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace onceover;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_answer([&] {
    TrainSettings settings;
    override_setting(settings, text.substr(0, text.find('\n')));
  });
  expect_answer([&] {
    const TrainSettings settings = train_settings_from_toml(text, "input");
    const std::string written = train_settings_to_toml(settings);
    if (train_settings_to_toml(train_settings_from_toml(written, "output")) != written) std::abort();
    check_train_settings(settings, "input");
    if (accumulation(settings) < 1) std::abort();
  });
  return 0;
}
