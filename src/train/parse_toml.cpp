#include "train/parse_toml.h"

#include "base/error.h"
#include "base/printable.h"

namespace onceover {

toml::table parse_toml(std::string_view text, const std::string& where) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw Error("{}:{}: {}", where, e.source().begin.line, printable(e.description()));
  }
}

}  // namespace onceover
