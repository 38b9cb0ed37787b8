#pragma once
#include <filesystem>

namespace onceover {

// Where the running program's file lies; what is shipped beside it is looked for from here. Error when the
// system does not tell.
std::filesystem::path program_folder();

}  // namespace onceover
