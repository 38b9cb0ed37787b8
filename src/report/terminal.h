// Where progress is shown, and what that place can do.
#pragma once
#include <functional>
#include <string_view>

namespace onceover {

struct Terminal {
  std::function<void(std::string_view)> write;  // all of it at once; what cannot be written is dropped
  std::function<int()> columns;                 // asked at every redraw, so that a resized window is followed
  bool escape_codes = false;                    // may lines be redrawn in place?
  bool unicode = false;                         // may it be sent more than ASCII?

  // Escape codes only for a terminal, and neither with NO_COLOR set (not empty) nor with TERM unset, empty or
  // "dumb". Unicode when the locale's variables (LC_ALL, LC_CTYPE, LANG: the first that is set) name UTF-8.
  static Terminal of(int fd);
};

}  // namespace onceover
