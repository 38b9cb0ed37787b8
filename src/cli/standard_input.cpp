#include "cli/standard_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace onceover {

std::string standard_input() {
  std::string text;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count == 0) return text;
    if (count > 0) text.append(piece.data(), static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) throw Error("standard input: cannot be read: {}", std::strerror(errno));
  }
}

}  // namespace onceover
