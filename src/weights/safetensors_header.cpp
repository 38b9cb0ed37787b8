#include "weights/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "weights/tensor.h"

namespace onceover {
namespace {

constexpr size_t max_axes = 32;
constexpr size_t max_token_bytes = 1 << 20;
constexpr size_t max_metadata_bytes = 16 << 20;

// Follows the parse as a small state machine, so that nothing but the format's own structure is ever stored.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(uint64_t data_bytes, const std::string& where) : data_bytes_(data_bytes), where_(where) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t value) override {
    return unexpected(fmt::format("the negative number {}", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return unexpected(fmt::format("the number {}", printable(text)));
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& e) override {
    throw Error("{}: header is not valid JSON: {}", where_, printable(e.what(), 300));
  }

 private:
  enum class At {
    Start,
    Top,
    NewTensor,
    Tensor,
    Dtype,
    ShapeStart,
    Shape,
    OffsetsStart,
    Offsets,
    NewMetadata,
    Metadata,
    Value
  };

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error("{}: {}", subject(), fmt::format(format, std::forward<Args>(args)...));
  }
  std::string subject() const;
  std::string expectation() const;
  bool unexpected(const std::string& found) const { refuse("expected {}, found {}", expectation(), found); }
  bool move_to(At at) {
    at_ = at;
    return true;
  }
  bool top_key(std::string& name);
  bool tensor_key(const std::string& name);
  void finish_tensor();
  void add_extent(uint64_t extent);
  void add_offset(uint64_t offset);

  uint64_t data_bytes_;
  const std::string& where_;
  SafetensorsHeader header_;
  At at_ = At::Start;
  std::string metadata_key_;
  size_t metadata_bytes_ = 0;
  bool has_metadata_ = false;
  // The tensor being read. Offsets are nothing until read.
  std::string name_;
  std::optional<DType> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
};

std::string HeaderReader::subject() const {
  switch (at_) {
    case At::Start:
    case At::Top:
      return fmt::format("{}: header", where_);
    case At::NewMetadata:
    case At::Metadata:
    case At::Value:
      return fmt::format("{}: header: __metadata__", where_);
    default:
      return fmt::format("{}: tensor '{}'", where_, printable(name_));
  }
}

std::string HeaderReader::expectation() const {
  switch (at_) {
    case At::Start:
    case At::Top:
      return "a JSON object";
    case At::NewTensor:
    case At::Tensor:
      return "an object with dtype, shape and data_offsets";
    case At::Dtype:
      return "a string as dtype";
    case At::ShapeStart:
    case At::Shape:
      return "a shape of non-negative integers";
    case At::OffsetsStart:
    case At::Offsets:
      return "two non-negative integers as data_offsets";
    case At::NewMetadata:
    case At::Metadata:
      return "an object of strings";
    case At::Value:
      return fmt::format("a string for key '{}'", printable(metadata_key_));
  }
  return "";
}

bool HeaderReader::start_object(size_t) {
  switch (at_) {
    case At::Start:
      return move_to(At::Top);
    case At::NewTensor:
      return move_to(At::Tensor);
    case At::NewMetadata:
      return move_to(At::Metadata);
    default:
      return unexpected("an object");
  }
}

bool HeaderReader::key(string_t& name) {
  if (at_ == At::Top) return top_key(name);
  if (at_ == At::Tensor) return tensor_key(name);
  metadata_key_ = std::move(name);
  if (header_.metadata.contains(metadata_key_)) refuse("key '{}' occurs twice", printable(metadata_key_));
  return move_to(At::Value);
}

bool HeaderReader::top_key(std::string& name) {
  if (name == "__metadata__") {
    if (std::exchange(has_metadata_, true)) refuse("__metadata__ occurs twice");
    return move_to(At::NewMetadata);
  }
  name_ = std::move(name);
  dtype_.reset(), shape_.reset(), offsets_.reset();
  return move_to(At::NewTensor);
}

bool HeaderReader::tensor_key(const std::string& name) {
  const bool again =
      (name == "dtype" && dtype_) || (name == "shape" && shape_) || (name == "data_offsets" && offsets_);
  if (again) refuse("key '{}' occurs twice", name);
  if (name == "dtype") return move_to(At::Dtype);
  if (name == "shape") return move_to(At::ShapeStart);
  if (name == "data_offsets") return move_to(At::OffsetsStart);
  refuse("unknown key '{}', expected dtype, shape and data_offsets", printable(name));
}

bool HeaderReader::string(string_t& value) {
  if (at_ == At::Value) {
    metadata_bytes_ += metadata_key_.size() + value.size();
    if (metadata_bytes_ > max_metadata_bytes) refuse("longer than {} bytes", max_metadata_bytes);
    header_.metadata[std::move(metadata_key_)] = std::move(value);
    return move_to(At::Metadata);
  }
  if (at_ != At::Dtype) return unexpected(fmt::format("the string '{}'", printable(value)));
  dtype_ = dtype_from_name(value);
  if (!dtype_) refuse("unknown dtype '{}'", printable(value));
  return move_to(At::Tensor);
}

bool HeaderReader::start_array(size_t) {
  if (at_ == At::ShapeStart) {
    shape_.emplace();
    return move_to(At::Shape);
  }
  if (at_ == At::OffsetsStart) {
    offsets_.emplace();
    return move_to(At::Offsets);
  }
  return unexpected("an array");
}

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (at_ == At::Shape) {
    add_extent(value);
  } else if (at_ == At::Offsets) {
    add_offset(value);
  } else {
    return unexpected(fmt::format("the number {}", value));
  }
  return true;
}

void HeaderReader::add_extent(uint64_t extent) {
  if (shape_->size() == max_axes) refuse("shape has more than {} axes", max_axes);
  if (!std::in_range<int64_t>(extent)) refuse("extent {} of the shape is too large", extent);
  shape_->push_back(static_cast<int64_t>(extent));
}

void HeaderReader::add_offset(uint64_t offset) {
  if (offsets_->size() == 2) refuse("data_offsets has more than two numbers");
  offsets_->push_back(offset);
}

bool HeaderReader::end_array() {
  if (at_ == At::Offsets && offsets_->size() != 2) {
    refuse("data_offsets has {} numbers, expected 2", offsets_->size());
  }
  return move_to(At::Tensor);
}

bool HeaderReader::end_object() {
  if (at_ == At::Tensor) finish_tensor();
  return move_to(At::Top);
}

void HeaderReader::finish_tensor() {
  if (!dtype_ || !shape_ || !offsets_) {
    refuse("{} is missing", !dtype_ ? "dtype" : !shape_ ? "shape" : "data_offsets");
  }
  const uint64_t begin = (*offsets_)[0], end = (*offsets_)[1];
  if (end < begin) refuse("data_offsets end at {}, before their begin at {}", end, begin);
  const auto bytes = tensor_bytes(*shape_, *dtype_);
  if (!bytes) refuse("shape {} of {} is larger than any file", shape_text(*shape_), dtype_name(*dtype_));
  if (*bytes != end - begin) {
    refuse("shape {} of {} takes {} bytes, but data_offsets [{}, {}] hold {}", shape_text(*shape_),
           dtype_name(*dtype_), *bytes, begin, end, end - begin);
  }
  if (end > data_bytes_)
    refuse("ends at byte {} of the data, but the file holds {} (cut short?)", end, data_bytes_);
  header_.entries.push_back({std::move(name_), *dtype_, std::move(*shape_), begin, end});
}

// nlohmann::json keeps the token being read, and the blanks before it, several times over.
void require_short_tokens(std::string_view json, const std::string& where) {
  bool in_string = false;
  size_t start = 0;  // of the token
  for (size_t i = 0; i < json.size(); i++) {
    const char c = json[i];
    if (i - start > max_token_bytes) {
      throw Error("{}: header has a string, number or run of blanks longer than {} bytes at byte {}", where,
                  max_token_bytes, start);
    }
    if (in_string && c == '\\') {
      i++;
    } else if (c == '"') {
      in_string = !in_string;
      start = i;
    } else if (!in_string && (c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']')) {
      start = i;
    }
  }
}

void require_unique_names(const std::vector<SafetensorsEntry>& by_name, const std::string& where) {
  const auto twice = std::adjacent_find(by_name.begin(), by_name.end(),
                                        [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != by_name.end()) throw Error("{}: tensor '{}' occurs twice", where, printable(twice->name));
}

// A tensor's place in the data, small: a million entries would be sorted out of the cache.
struct Place {
  uint64_t begin, end;
  const SafetensorsEntry* entry;
};

std::vector<Place> in_file_order(const std::vector<SafetensorsEntry>& entries) {
  std::vector<Place> places;
  places.reserve(entries.size());
  for (const auto& entry : entries) places.push_back({entry.begin, entry.end, &entry});
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  return places;
}

void require_tiling(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes,
                    const std::string& where) {
  uint64_t covered = 0;
  const SafetensorsEntry* before = nullptr;
  for (const auto& [begin, end, entry] : in_file_order(entries)) {
    if (begin < covered) {
      throw Error("{}: tensor '{}' begins at byte {} of the data and overlaps tensor '{}', which ends at {}",
                  where, printable(entry->name), begin, printable(before->name), covered);
    }
    if (begin > covered) {
      throw Error(
          "{}: tensor '{}' begins at byte {} of the data and leaves a hole: what is before it ends at {}",
          where, printable(entry->name), begin, covered);
    }
    covered = end;
    before = entry;
  }
  if (covered == data_bytes) return;
  throw Error("{}: {} bytes follow the last tensor{}", where, data_bytes - covered,
              before == nullptr ? "" : fmt::format(" '{}'", printable(before->name)));
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes,
                                           const std::string& where) {
  if (!json.starts_with('{')) throw Error("{}: header does not begin with '{{'", where);
  // nlohmann::json takes a NUL byte for the end of the text and ignores what follows it.
  if (json.find('\0') != std::string_view::npos)
    throw Error("{}: header is not valid JSON: it holds a NUL byte", where);
  json =
      json.substr(0, json.find_last_not_of(' ') + 1);  // the parser would keep the padding for its messages
  require_short_tokens(json, where);
  HeaderReader reader(data_bytes, where);
  nlohmann::json::sax_parse(json, &reader);
  SafetensorsHeader header = reader.take();
  std::sort(header.entries.begin(), header.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  require_unique_names(header.entries, where);
  require_tiling(header.entries, data_bytes, where);
  return header;
}

}  // namespace onceover
