#include "support/places.h"

namespace onceover::test {

std::filesystem::path source_folder() { return ONCEOVER_SOURCE_DIR; }
std::filesystem::path program() { return ONCEOVER_PROGRAM; }

}  // namespace onceover::test
