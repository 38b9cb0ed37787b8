#include "base/hex.h"

#include <charconv>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

std::string to_hex(uint64_t value) { return fmt::format("{:016x}", value); }

uint64_t from_hex(std::string_view text, const std::string& where) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() == 16 && problem == std::errc() && end == text.data() + text.size()) return value;
  throw Error("{}: '{}' is not a number of 16 hex digits", where, printable(text));
}

}  // namespace onceover
