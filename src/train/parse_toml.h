// TOML read without trust. For the sources that read it alone: the library's header takes long to compile.
#pragma once
#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace onceover {

// Error naming `where` and the line for what is no TOML.
toml::table parse_toml(std::string_view text, const std::string& where);

}  // namespace onceover
