#include "weights/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/sniff.h"
#include "base/text.h"
#include "weights/safetensors_header.h"

namespace onceover {
namespace {

constexpr size_t length_bytes = 8;
constexpr uint64_t max_header_bytes = 100'000'000;
constexpr size_t data_alignment = 64;

// Length of the header, checked against the limit and the file.
size_t header_length(std::span<const std::byte> file, const std::string& where) {
  const auto refuse = [&](const std::string& reason) {
    throw Error("{}: not a complete safetensors file: {} (this looks like {})", where, reason,
                describe_file(file));
  };
  if (file.size() < length_bytes)
    refuse(fmt::format("expected at least {} bytes, found {}", length_bytes, file.size()));
  uint64_t length;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > max_header_bytes)
    refuse(fmt::format("header of {} bytes, at most {} allowed", length, max_header_bytes));
  if (length > file.size() - length_bytes) {
    refuse(fmt::format("header of {} bytes, but only {} follow", length, file.size() - length_bytes));
  }
  if (length == 0 || file[length_bytes] != std::byte{'{'}) refuse("header does not begin with '{'");
  return length;
}

// Falling element size keeps every tensor aligned to its elements.
std::vector<const TensorMap::value_type*> in_file_order(const TensorMap& tensors) {
  std::vector<const TensorMap::value_type*> order;
  for (const auto& entry : tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return dtype_size(a->second.dtype) > dtype_size(b->second.dtype);
  });
  return order;
}

std::string header_text(const std::vector<const TensorMap::value_type*>& order,
                        const std::map<std::string, std::string>& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += "\"__metadata__\":" + nlohmann::json(metadata).dump();
  uint64_t offset = 0;
  for (const auto* entry : order) {
    const TensorView& tensor = entry->second;
    const uint64_t end = offset + tensor.bytes.size();
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        text.size() > 1 ? "," : "", nlohmann::json(entry->first).dump(),
                        dtype_name(tensor.dtype), fmt::join(tensor.shape, ","), offset, end);
    offset = end;
  }
  text += "}";
  const size_t used = length_bytes + text.size();
  return text.append((data_alignment - used % data_alignment) % data_alignment, ' ');
}

void require_writable(const std::string& name, const TensorView& tensor, const std::string& where) {
  if (name == "__metadata__") throw Error("{}: no tensor may be named '__metadata__'", where);
  if (tensor_bytes(tensor.shape, tensor.dtype) == tensor.bytes.size()) return;
  throw std::logic_error(
      fmt::format("tensor {} of shape {} has {} bytes", name, shape_text(tensor.shape), tensor.bytes.size()));
}

}  // namespace

SafetensorsContents parse_safetensors(std::span<const std::byte> file, const std::string& where) {
  const size_t length = header_length(file, where);
  const std::string_view json(reinterpret_cast<const char*>(file.data()) + length_bytes, length);
  const auto data = file.subspan(length_bytes + length);
  SafetensorsHeader header = parse_safetensors_header(json, data.size(), where);
  SafetensorsContents contents;
  for (auto& entry : header.entries) {  // by name: a million in any other order would take seconds
    contents.tensors.emplace_hint(
        contents.tensors.end(), std::move(entry.name),
        TensorView{entry.dtype, std::move(entry.shape), data.subspan(entry.begin, entry.end - entry.begin)});
  }
  contents.metadata = std::move(header.metadata);
  return contents;
}

Safetensors::Safetensors(const std::filesystem::path& path)
    : file_(path), contents_(parse_safetensors(file_.bytes(), path.string())) {}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata) {
  for (const auto& [name, tensor] : tensors) require_writable(name, tensor, path.string());
  const auto order = in_file_order(tensors);
  std::string header;
  try {
    header = header_text(order, metadata);
  } catch (const nlohmann::json::exception& e) {
    throw Error("{}: header cannot be written: {}", path.string(), printable(e.what()));
  }
  if (header.size() > max_header_bytes) {
    throw Error("{}: header of {} bytes, at most {} allowed", path.string(), header.size(), max_header_bytes);
  }
  const uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const auto* entry : order) file.write(entry->second.bytes);
  file.commit();
}

}  // namespace onceover
