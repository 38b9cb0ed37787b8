// Text from untrusted files, made fit for a message.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace onceover {

// `text` with control characters and invalid UTF-8 written as \xNN, cut to about `max_bytes` with "… (N
// bytes)" appended.
std::string printable(std::string_view text, size_t max_bytes = 160);

}  // namespace onceover
