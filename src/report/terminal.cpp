#include "report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace onceover {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = variable(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool takes_escape_codes(int fd) {
  const std::string term = variable("TERM");
  return ::isatty(fd) == 1 && variable("NO_COLOR").empty() && !term.empty() && term != "dumb";
}

int columns_of(int fd) {
  constexpr int usual = 80;
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Progress must never stop the work it reports on: a closed or failing stream is ignored.
void write_or_drop(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

Terminal Terminal::of(int fd) {
  return {[fd](std::string_view text) { write_or_drop(fd, text); }, [fd] { return columns_of(fd); },
          takes_escape_codes(fd), locale_is_utf8()};
}

}  // namespace onceover
