// GGUF files for tests, sound or not: what is said in the header can differ from what is there.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace onceover {

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string gguf_string(std::string_view text) {
  return little_endian<uint64_t>(text.size()).append(text);
}

// An array without the type of the value that it is.
inline std::string gguf_array(uint32_t type, uint64_t count, const std::string& elements) {
  return little_endian(type) + little_endian(count) + elements;
}

struct GgufWriter {
  uint32_t version = 3;
  uint64_t alignment = 32;
  std::optional<uint64_t> said_values, said_tensors;

  GgufWriter& value(std::string_view key, uint32_t type, const std::string& bytes) {
    metadata_ += gguf_string(key) + little_endian(type) + bytes;
    values_++;
    return *this;
  }

  // The entry of a tensor alone.
  GgufWriter& entry(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type,
                    uint64_t offset) {
    entries_ += gguf_string(name) + little_endian(static_cast<uint32_t>(dims.size()));
    for (uint64_t dim : dims) entries_ += little_endian(dim);
    entries_ += little_endian(type) + little_endian(offset);
    tensors_++;
    return *this;
  }

  // A tensor behind those that are there.
  GgufWriter& tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type,
                     const std::string& bytes) {
    data_ = padded(data_);
    entry(name, dims, type, data_.size());
    data_ += bytes;
    return *this;
  }

  std::string header() const {
    return "GGUF" + little_endian(version) + little_endian(said_tensors.value_or(tensors_)) +
           little_endian(said_values.value_or(values_)) + metadata_ + entries_;
  }

  // Without padding where no data follows.
  std::string file() const { return data_.empty() ? header() : padded(header()) + data_; }

 private:
  std::string padded(std::string bytes) const {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    return bytes;
  }

  std::string metadata_, entries_, data_;
  uint64_t values_ = 0, tensors_ = 0;
};

}  // namespace onceover
