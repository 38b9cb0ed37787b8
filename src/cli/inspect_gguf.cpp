#include "cli/inspect_gguf.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "architectures/registry.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/json_text.h"
#include "gguf/gguf_file.h"
#include "models/model_file.h"

namespace onceover {
namespace {

constexpr uint64_t shown_elements = 4;  // of an array

nlohmann::ordered_json json_of(const GgufValue& value);

nlohmann::ordered_json json_of(const GgufArray& array) {
  nlohmann::ordered_json first = nlohmann::ordered_json::array();
  for (const GgufValue& element : elements(array, shown_elements)) first.push_back(json_of(element));
  return {{"of", gguf_type_name(array.type)}, {"count", array.count}, {"first", std::move(first)}};
}

nlohmann::ordered_json json_of(const GgufValue& value) {
  return std::visit(
      [](const auto& held) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, GgufArray>) {
          return json_of(held);
        } else {
          return held;
        }
      },
      value);
}

std::string text_of(const GgufValue& value);

std::string text_of(const GgufArray& array) {
  std::vector<std::string> first;
  for (const GgufValue& element : elements(array, shown_elements)) first.push_back(text_of(element));
  if (array.count > shown_elements) first.emplace_back("…");
  return fmt::format("{} of {}: [{}]", array.count, gguf_type_name(array.type), fmt::join(first, ", "));
}

std::string text_of(const GgufValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, GgufArray>) {
          return text_of(held);
        } else if constexpr (std::is_same_v<Held, std::string_view>) {
          return fmt::format("'{}'", printable(held));
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

// What the file runs as, or why it does not.
struct Runs {
  std::string architecture, fingerprint, reason;

  explicit Runs(const std::filesystem::path& path) {
    try {
      const ModelFile file(path);
      const Plan plan = build(file.config());
      file.bind(plan);
      architecture = file.config().architecture;
      fingerprint = to_hex(plan.fingerprint());
    } catch (const Error& e) {
      reason = e.what();
    }
  }
};

void print_json(const GgufContents& contents, const Runs& runs) {
  nlohmann::ordered_json json{
      {"kind", "gguf"}, {"version", contents.version}, {"alignment", contents.alignment}};
  if (runs.reason.empty())
    json["model"] = {{"architecture", runs.architecture}, {"fingerprint", runs.fingerprint}};
  else
    json["model"] = {{"refused", runs.reason}};
  auto& metadata = json["metadata"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : contents.metadata) {
    metadata[std::string(key)] = {{"type", gguf_type_name(gguf_type(value))}, {"value", json_of(value)}};
  }
  auto& tensors = json["tensors"] = nlohmann::ordered_json::array();
  for (const auto& [name, tensor] : contents.tensors) {
    tensors.push_back({{"name", name},
                       {"dtype", ggml_type_name(tensor.type)},
                       {"shape", tensor.shape()},
                       {"bytes", tensor.bytes.size()}});
  }
  fmt::print("{}", json_text(json));
}

void print_text(const GgufContents& contents, const Runs& runs) {
  std::vector<std::vector<std::string>> rows = {{"tensor", "dtype", "shape", "bytes"}};
  double count = 0, bytes = 0;
  for (const auto& [name, tensor] : contents.tensors) {
    rows.push_back({printable(name), std::string(ggml_type_name(tensor.type)), shape_text(tensor.shape()),
                    std::to_string(tensor.bytes.size())});
    count += static_cast<double>(tensor.rows()) * static_cast<double>(tensor.row_elements());
    bytes += static_cast<double>(tensor.bytes.size());
  }
  fmt::print("{}", format_table(rows));
  for (const auto& [key, value] : contents.metadata) {
    fmt::print("metadata {} ({}) = {}\n", printable(key), gguf_type_name(gguf_type(value)), text_of(value));
  }
  if (runs.reason.empty())
    fmt::print("architecture {}, plan {}: every weight is there, nothing else is\n", runs.architecture,
               runs.fingerprint);
  else
    fmt::print("does not run: {}\n", runs.reason);
  fmt::print("GGUF version {}, data aligned to {} bytes\n", contents.version, contents.alignment);
  fmt::print("{} tensors, {} elements, {}\n", contents.tensors.size(), format_count(count),
             format_bytes(bytes));
}

}  // namespace

bool is_gguf(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && has_gguf_magic(MappedFile(path).bytes());
}

void inspect_gguf(const std::filesystem::path& path, bool json) {
  const GgufFile file(path);
  const Runs runs(path);
  json ? print_json(file.contents(), runs) : print_text(file.contents(), runs);
}

}  // namespace onceover
