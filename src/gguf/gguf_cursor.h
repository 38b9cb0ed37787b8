// A place in the untrusted bytes of a GGUF file, moving forward.
//
// Every length is held against the bytes that are left before it is used. Errors name the file and the
// subject: the part of the file that is being read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "gguf/gguf_value.h"

namespace onceover {

class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> file, std::string where) : file_(file), where_(std::move(where)) {}

  size_t position() const { return position_; }
  size_t left() const { return file_.size() - position_; }

  // What errors name from here on: "header", "tensor 'x'".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error("{}: {}: {}", where_, subject_, fmt::format(format, std::forward<Args>(args)...));
  }

  std::span<const std::byte> take(uint64_t bytes) {
    if (bytes > left()) refuse("takes {} bytes from byte {}, but only {} follow", bytes, position_, left());
    const auto taken = file_.subspan(position_, bytes);
    position_ += bytes;
    return taken;
  }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view string() {
    const auto bytes = take(number<uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // A number of things, each of which takes `min_bytes` or more: so memory for them is bounded by the file.
  void require_room(uint64_t count, size_t min_bytes, std::string_view things) const {
    if (count > left() / min_bytes) refuse("says {} {}, but only {} bytes follow", count, things, left());
  }

  GgufType value_type();

  // A value of that type, checked to its end. Arrays may be in arrays, 8 deep.
  GgufValue value(GgufType type);

 private:
  GgufArray array(int depth);
  void skip_elements(GgufType type, uint64_t count, int depth);
  bool boolean();

  std::span<const std::byte> file_;
  std::string where_, subject_;
  size_t position_ = 0;
};

}  // namespace onceover
