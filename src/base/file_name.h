// Names of files as untrusted files give them.
#pragma once
#include <string>
#include <string_view>

namespace onceover {

// Error, naming `where`, unless `name` is a name in the same folder and nothing else: not empty, no path, not
// "." or "..", no NUL.
void require_plain_file_name(std::string_view name, const std::string& where);

}  // namespace onceover
