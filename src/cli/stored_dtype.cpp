#include "cli/stored_dtype.h"

#include <unistd.h>

#include <map>

#include "analysis/cost.h"
#include "base/error.h"
#include "base/text.h"

namespace onceover {
namespace {

const std::map<std::string, DType> stored_dtypes = {
    {"f32", DType::F32}, {"f16", DType::F16}, {"bf16", DType::BF16}};

}  // namespace

void declare_stored_dtype(CLI::App& app, std::string& name) {
  app.add_option("--dtype", name, "how weights are stored: f32, bf16, f16")
      ->check(CLI::IsMember(stored_dtypes).description(""))
      ->type_name("TYPE")
      ->capture_default_str();
}

DType stored_dtype(const std::string& name) { return stored_dtypes.at(name); }

void require_memory_for(const Plan& plan, DType dtype, const std::string& model) {
  const double bytes =
      static_cast<double>(count_parameters(plan).total) * static_cast<double>(dtype_size(dtype));
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 0.8 * machine) {
    throw Error("{}: needs {} of memory for its weights, this machine has {}", model, format_bytes(bytes),
                format_bytes(machine));
  }
}

}  // namespace onceover
