// Where the tests find things on this machine.
#pragma once
#include <filesystem>

namespace onceover::test {

std::filesystem::path source_folder();  // the repository
std::filesystem::path program();        // the built onceover

}  // namespace onceover::test
