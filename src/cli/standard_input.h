// What stands on standard input.
#pragma once
#include <string>

namespace onceover {

// All of it. Error when it is closed, a directory, or otherwise cannot be read.
std::string standard_input();

}  // namespace onceover
