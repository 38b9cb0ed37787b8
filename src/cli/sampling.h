// How text is drawn: the options that generate and chat share.
#pragma once
#include <CLI/CLI.hpp>

#include "generate/generate.h"

namespace onceover {

// Declares --max-tokens, --stop, --temperature, --top-k, --top-p, --min-p, --repetition-penalty and --seed,
// and checks them. The seed is another one each time unless it is given. `request` must outlive the app.
void add_sampling_options(CLI::App& app, GenerateRequest& request);

}  // namespace onceover
