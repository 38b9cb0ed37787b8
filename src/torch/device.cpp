#include "torch/device.h"

#include <ATen/Parallel.h>

#include <charconv>
#include <thread>

#include "base/error.h"

namespace onceover::torch_executor {
namespace {

constexpr std::string_view cuda = "cuda";

// The N of "cuda:N"; 0 for "cuda" alone, -1 for anything else.
int gpu_number(std::string_view name) {
  if (!name.starts_with(cuda)) return -1;
  const std::string_view rest = name.substr(cuda.size());
  if (rest.empty()) return 0;
  int number = -1;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  const bool whole = rest[0] == ':' && error == std::errc{} && end == rest.data() + rest.size();
  return whole && number >= 0 ? number : -1;
}

}  // namespace

at::Device find_device(const std::string& name) {
  if (name == "cpu") return at::kCPU;
  const int number = gpu_number(name);
  if (number < 0) throw Error("--device: expected cpu, cuda or cuda:N, found '{}'", name);
  if (!at::hasCUDA()) {
    throw Error(
        "--device {}: libtorch {} was built without CUDA; expected cpu. Build with "
        "-DCMAKE_PREFIX_PATH=FOLDER "
        "of a libtorch for CUDA",
        name, TORCH_VERSION);
  }
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  if (number >= gpus) throw Error("--device {}: found {} GPUs", name, gpus);
  return {at::kCUDA, static_cast<c10::DeviceIndex>(number)};
}

void use_threads(int threads) {
  at::set_num_threads(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace onceover::torch_executor
