#include "weights/tensor.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "base/text.h"

namespace onceover {
namespace {

static_assert(std::endian::native == std::endian::little, "stored tensors are read in place");

template <class Stored, class Out, class Decode>
void decode(std::span<const std::byte> bytes, std::span<Out> out, Decode to_number) {
  for (size_t i = 0; i < out.size(); i++) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    out[i] = static_cast<Out>(to_number(stored));
  }
}

template <class Out>
void decode_any(DType dtype, std::span<const std::byte> bytes, std::span<Out> out) {
  constexpr auto same = [](auto x) { return x; };
  switch (dtype) {
    case DType::F64:
      return decode<double>(bytes, out, same);
    case DType::F32:
      return decode<float>(bytes, out, same);
    case DType::F16:
      return decode<uint16_t>(bytes, out, f16_to_f32);
    case DType::BF16:
      return decode<uint16_t>(bytes, out, bf16_to_f32);
    case DType::F8_E4M3:
      return decode<uint8_t>(bytes, out, f8_e4m3_to_f32);
    case DType::F8_E5M2:
      return decode<uint8_t>(bytes, out, f8_e5m2_to_f32);
    case DType::I64:
      return decode<int64_t>(bytes, out, same);
    case DType::I32:
      return decode<int32_t>(bytes, out, same);
    case DType::I16:
      return decode<int16_t>(bytes, out, same);
    case DType::I8:
      return decode<int8_t>(bytes, out, same);
    case DType::U64:
      return decode<uint64_t>(bytes, out, same);
    case DType::U32:
      return decode<uint32_t>(bytes, out, same);
    case DType::U16:
      return decode<uint16_t>(bytes, out, same);
    case DType::U8:
      return decode<uint8_t>(bytes, out, same);
    case DType::BOOL:
      return decode<uint8_t>(bytes, out, [](uint8_t x) { return x != 0 ? 1 : 0; });
  }
}

template <class Out>
void convert_range(const TensorView& tensor, size_t first, std::span<Out> out) {
  if (first > tensor.elements() || out.size() > tensor.elements() - first) {
    throw std::logic_error(
        fmt::format("elements {} + {} of a tensor of {}", first, out.size(), tensor.elements()));
  }
  if (out.empty()) return;
  decode_any(tensor.dtype, tensor.bytes.subspan(first * dtype_size(tensor.dtype)), out);
}

template <class Stored, class Encode>
std::vector<std::byte> encode_as(std::span<const float> values, Encode to_stored) {
  std::vector<std::byte> bytes(values.size() * sizeof(Stored));
  for (size_t i = 0; i < values.size(); i++) {
    const Stored stored = to_stored(values[i]);
    std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
  }
  return bytes;
}

}  // namespace

std::optional<uint64_t> tensor_bytes(const std::vector<int64_t>& shape, DType dtype) {
  auto bytes = static_cast<int64_t>(dtype_size(dtype));
  bool empty = false;
  for (int64_t extent : shape) {  // an extent 0 must not hide an overflow, wherever it stands
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

TensorView view_of(std::span<const float> values, std::vector<int64_t> shape) {
  if (tensor_bytes(shape, DType::F32) != values.size_bytes()) {
    throw std::logic_error(fmt::format("{} values for shape {}", values.size(), shape_text(shape)));
  }
  return {DType::F32, std::move(shape), std::as_bytes(values)};
}

void convert(const TensorView& tensor, size_t first, std::span<float> out) {
  convert_range(tensor, first, out);
}
void convert(const TensorView& tensor, size_t first, std::span<double> out) {
  convert_range(tensor, first, out);
}

std::vector<float> to_f32(const TensorView& tensor) {
  std::vector<float> out(tensor.elements());
  convert(tensor, 0, std::span(out));
  return out;
}

std::vector<double> to_f64(const TensorView& tensor) {
  std::vector<double> out(tensor.elements());
  convert(tensor, 0, std::span(out));
  return out;
}

std::vector<std::byte> encode(std::span<const float> values, DType dtype) {
  switch (dtype) {
    case DType::F64:
      return encode_as<double>(values, [](float x) { return double{x}; });
    case DType::F32:
      return encode_as<float>(values, [](float x) { return x; });
    case DType::F16:
      return encode_as<uint16_t>(values, f32_to_f16);
    case DType::BF16:
      return encode_as<uint16_t>(values, f32_to_bf16);
    default:
      throw std::logic_error(fmt::format("no encoder for {}", dtype_name(dtype)));
  }
}

}  // namespace onceover
