#include "cpu/inference_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "weights/init.h"

namespace onceover::cpu {
namespace {

// In the order of WeightFormat.
const std::vector<std::string> names = {"f32", "bf16", "f16", "q8", "q4"};

enum class Use : uint8_t { AsItIs, Matrix, Stack };

Use use_of(const Plan& plan, WeightId id) {
  Use use = Use::AsItIs;
  for (const Step& step : plan.steps) {
    std::visit(
        Overload{
            [&](const Embed& o) { use = o.table == id ? Use::Matrix : use; },
            [&](const Linear& o) { use = o.weight == id ? Use::Matrix : use; },
            [&](const Logits& o) { use = o.weight == id ? Use::Matrix : use; },
            [&](const Experts& o) { use = o.gate == id || o.up == id || o.down == id ? Use::Stack : use; },
            [](const auto&) {},
        },
        step.op);
  }
  return use;
}

size_t size(int64_t bytes) { return static_cast<size_t>(bytes); }

}  // namespace

WeightFormat weight_format(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<WeightFormat>(found - names.begin());
  throw Error("unknown weight format '{}'; expected {}", name, fmt::join(names, ", "));
}

std::string_view weight_format_name(WeightFormat format) { return names[static_cast<size_t>(format)]; }

const std::vector<std::string>& weight_format_names() { return names; }

std::optional<PackedShape> packed_shape(const Plan& plan, WeightId id, WeightFormat format) {
  const Use use = use_of(plan, id);
  if (use == Use::AsItIs) return {};
  const WeightSpec& spec = plan.weights[id];
  const size_t first = spec.shape.size() - 2;
  const WeightFormat chosen = spec.quantise ? format : WeightFormat::F32;
  return PackedShape{{chosen, spec.shape[first], spec.shape[first + 1], nullptr},
                     use == Use::Stack ? spec.shape[0] : 1};
}

int64_t InferenceWeights::bytes_of(WeightId id) const {
  return shapes_[id] ? shapes_[id]->bytes() : specs_[id].elements() * 4;
}

InferenceWeights::InferenceWeights(const Plan& plan, WeightFormat format)
    : format_(format), specs_(plan.weights), table_{&specs_, {}, {}} {
  kernels::Carver part{nullptr};
  for (WeightId id = 0; id < std::ssize(specs_); ++id) {
    shapes_.push_back(packed_shape(plan, id, format));
    const int64_t bytes = bytes_of(id);
    bytes_ += bytes;
    part.take((bytes + 3) / 4);
  }
  part = {arena_.reserve(part.used)};
  for (WeightId id = 0; id < std::ssize(specs_); ++id) {
    parts_.push_back(part.take((bytes_of(id) + 3) / 4));
    table_.data.push_back(shapes_[id] ? nullptr : parts_[id]);
    table_.packed.push_back(shapes_[id] ? shapes_[id]->matrix : kernels::PackedMatrix{});
    if (shapes_[id]) table_.packed[id].data = reinterpret_cast<std::byte*>(parts_[id]);
  }
}

InferenceWeights::InferenceWeights(const Plan& plan, WeightFormat format,
                                   const std::function<std::vector<float>(WeightId)>& read)
    : InferenceWeights(plan, format) {
  for (WeightId id = 0; id < std::ssize(specs_); ++id) {
    const std::vector<float> numbers = read(id);
    if (std::ssize(numbers) != specs_[id].elements())
      throw Error("{}: expected {} elements, found {}", specs_[id].name, specs_[id].elements(),
                  numbers.size());
    if (!shapes_[id]) {
      std::copy(numbers.begin(), numbers.end(), parts_[id]);
      continue;
    }
    const kernels::PackedMatrix& matrix = table_.packed[id];
    for (int64_t i = 0; i < shapes_[id]->count; ++i) {
      kernels::pack({numbers.data() + i * matrix.outputs * matrix.inputs, matrix.inputs}, matrix,
                    reinterpret_cast<std::byte*>(parts_[id]) + i * matrix.bytes());
    }
  }
}

std::shared_ptr<const InferenceWeights> InferenceWeights::random(const Plan& plan, WeightFormat format) {
  const std::shared_ptr<InferenceWeights> made(new InferenceWeights(plan, format));
  constexpr int64_t drawn_panels = 8;
  constexpr uint64_t seed = 1;
  for (WeightId id = 0; id < std::ssize(plan.weights); ++id) {
    WeightSpec spec = plan.weights[id];
    if (!made->shapes_[id]) {
      initialise(spec, seed, {made->parts_[id], size(spec.elements())});
      continue;
    }
    kernels::PackedMatrix matrix = made->table_.packed[id];
    matrix.outputs = std::min(matrix.outputs, drawn_panels * kernels::panel_outputs);
    spec.shape = {matrix.outputs, matrix.inputs};
    std::vector<float> numbers(size(spec.elements()));
    initialise(spec, seed, numbers);
    auto* data = reinterpret_cast<std::byte*>(made->parts_[id]);
    kernels::pack({numbers.data(), matrix.inputs}, matrix, data);
    for (int64_t done = matrix.bytes(), all = made->shapes_[id]->bytes(); done < all; done *= 2)
      std::memcpy(data + done, data, size(std::min(done, all - done)));
  }
  return made;
}

InferenceWeights::InferenceWeights(const Plan& plan, WeightFormat format,
                                   const std::vector<std::vector<float>>& weights)
    : InferenceWeights(plan, format, [&](WeightId id) {
        if (weights.size() != plan.weights.size())
          throw Error("the plan has {} weights, found {}", plan.weights.size(), weights.size());
        return weights[id];
      }) {}

InferenceWeights::InferenceWeights(const Plan& plan, WeightFormat format, const TensorMap& tensors,
                                   const std::string& where, std::shared_ptr<const void> keep)
    : format_(format), specs_(plan.weights), keep_(std::move(keep)), table_{&specs_, {}, {}} {
  for (WeightId id = 0; id < std::ssize(specs_); ++id) {
    const std::string& name = specs_[id].name;
    shapes_.push_back(packed_shape(plan, id, format));
    const int64_t bytes = bytes_of(id);
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw Error("{}: tensor '{}' is missing", where, name);
    const TensorView& tensor = found->second;
    if (tensor.bytes.size() != size(bytes) || tensor.dtype != (shapes_[id] ? DType::U8 : DType::F32)) {
      throw Error("{}: tensor '{}' expected {} bytes of {}, found {} of {}", where, name, bytes,
                  shapes_[id] ? "U8" : "F32", tensor.bytes.size(), dtype_name(tensor.dtype));
    }
    // The kernels read floats where they lie.
    if (reinterpret_cast<uintptr_t>(tensor.bytes.data()) % alignof(float) != 0)
      throw Error("{}: tensor '{}' does not begin at a multiple of 4 bytes", where, name);
    table_.packed.push_back(shapes_[id] ? shapes_[id]->matrix : kernels::PackedMatrix{});
    table_.data.push_back(shapes_[id] ? nullptr : reinterpret_cast<const float*>(tensor.bytes.data()));
    if (shapes_[id]) table_.packed[id].data = tensor.bytes.data();
    bytes_ += bytes;
  }
}

std::span<const std::byte> InferenceWeights::stored(WeightId id) const {
  if (shapes_[id]) return {table_.packed[id].data, size(shapes_[id]->bytes())};
  return std::as_bytes(std::span(table_.data[id], size(specs_[id].elements())));
}

uint64_t InferenceWeights::identity() const {
  uint64_t identity = static_cast<uint64_t>(format_) + 1;
  for (WeightId id = 0; id < std::ssize(specs_); ++id) identity = hash64(stored(id), identity);
  return identity;
}

TensorMap InferenceWeights::tensors() const {
  TensorMap tensors;
  for (WeightId id = 0; id < std::ssize(specs_); ++id) {
    const std::span<const std::byte> bytes = stored(id);
    tensors[specs_[id].name] = shapes_[id] ? TensorView{DType::U8, {std::ssize(bytes)}, bytes}
                                           : TensorView{DType::F32, specs_[id].shape, bytes};
  }
  return tensors;
}

}  // namespace onceover::cpu
