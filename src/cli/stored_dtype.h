// How verbs that write models store their weights.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.h"
#include "weights/dtype.h"

namespace onceover {

// Declares --dtype: f32, bf16 or f16; `name` holds the default and receives the choice.
void declare_stored_dtype(CLI::App& app, std::string& name);

// Of a name that the option lets through.
DType stored_dtype(const std::string& name);

// Error, naming `model`, unless the plan's weights in that type fit well into this machine's memory: all are
// in memory when they are written.
void require_memory_for(const Plan& plan, DType dtype, const std::string& model);

}  // namespace onceover
