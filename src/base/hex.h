// 64 bits as text of 16 hex digits: what JSON holds of a hash or seed, since its readers keep only 53 bits of
// a number.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace onceover {

std::string to_hex(uint64_t value);

// Error, naming `where`, unless `text` is 16 hex digits.
uint64_t from_hex(std::string_view text, const std::string& where);

}  // namespace onceover
