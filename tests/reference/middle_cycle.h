// The architecture that docs/adding-an-architecture.md adds. It lives with the tests: the registry of the
// product is not for examples.
#pragma once
#include "architectures/registry.h"
#include "support/models.h"

namespace onceover::test {

// Its line of the registry.
const Architecture& middle_cycle_entry();

// At the sizes of tiny_models().
Model middle_cycle_model();

}  // namespace onceover::test
