// A tiny random checkpoint as its makers would write it.
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/model_file.h"
#include "models/straight_line.h"
#include "support/random.h"
#include "support/temporary_folder.h"
#include "weights/tensor_files.h"

namespace onceover {

class Official {
 public:
  explicit Official(test::FreshRandom& random) : random_(random) {}

  nlohmann::json config;
  straight::Tensors tensors;

  // Normal numbers of deviation 1 / sqrt(columns); those of a norm are near 1.
  void matrix(const std::string& name, int64_t rows, int64_t columns) {
    add(name + ".weight", {rows, columns}, 0, 1 / std::sqrt(static_cast<double>(columns)));
  }
  void norm(const std::string& name, int64_t width) { add(name + ".weight", {width}, 1, 0.3); }
  void bias(const std::string& name, int64_t width) { add(name + ".bias", {width}, 0, 0.5); }
  void biased(const std::string& name, int64_t rows, int64_t columns) {
    matrix(name, rows, columns);
    bias(name, rows);
  }
  void layer_norm(const std::string& name, int64_t width) {
    norm(name, width);
    bias(name, width);
  }

  TensorMap views() const {
    TensorMap map;
    for (const auto& [name, tensor] : tensors.all) map[name] = view_of(tensor.numbers, tensor.shape);
    return map;
  }

  // Into an empty folder; several shards when max_shard_bytes is small.
  void save(const TemporaryFolder& folder, uint64_t max_shard_bytes = 1 << 30,
            const char* config_name = "config.json") const {
    std::ofstream(folder / config_name) << config.dump();
    write_tensor_files(folder.path(), views(), max_shard_bytes);
  }

 private:
  void add(const std::string& name, std::vector<int64_t> shape, double mean, double deviation) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; i++)
      numbers.push_back(static_cast<float>(mean + deviation * random_.normal()));
    tensors.all[name] = {std::move(shape), std::move(numbers)};
  }

  test::FreshRandom& random_;
};

}  // namespace onceover
