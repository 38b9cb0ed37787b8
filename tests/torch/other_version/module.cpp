// A module of another version than the program's, for the test that it is refused.
#include "execution/torch_module.h"

namespace {
constexpr onceover::TorchModule other{"0.0.0-other", nullptr, nullptr, nullptr};
}

extern "C" const onceover::TorchModule* onceover_torch_module() { return &other; }
