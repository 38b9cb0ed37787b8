#include "base/file_name.h"

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

void require_plain_file_name(std::string_view name, const std::string& where) {
  constexpr std::string_view parts_of_no_name("/\\\0", 3);
  const bool plain =
      !name.empty() && name != "." && name != ".." && name.find_first_of(parts_of_no_name) == name.npos;
  if (!plain) throw Error("{}: '{}' is not a plain file name", where, printable(name));
}

}  // namespace onceover
