#include "base/sniff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace onceover {
namespace {

using namespace std::string_view_literals;

constexpr size_t head_bytes = 512;  // enough for every signature below

struct Signature {
  size_t offset;
  std::string_view magic;
  const char* description;
};

constexpr std::array signatures{
    Signature{0, "\x1f\x8b"sv, "gzip data (unpack it first)"},
    Signature{0, "PK\x03\x04"sv,
              "a zip archive (PyTorch checkpoints are zipped pickles: convert to safetensors)"},
    Signature{0, "GGUF\0\0\0"sv, "a byte-swapped (big-endian) GGUF file"},
    Signature{0, "FUGG"sv, "a byte-swapped (big-endian) GGUF file"},
    Signature{0, "GGUF"sv, "a GGUF file"},
    Signature{0,
              "\xFD"
              "7zXZ\0"sv,
              "xz data (unpack it first)"},
    Signature{0, "\x28\xB5\x2F\xFD"sv, "zstd data (unpack it first)"},
    Signature{0, "BZh"sv, "bzip2 data (unpack it first)"},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    Signature{0, "\x93NUMPY"sv, "a NumPy array"},
    Signature{0, "%PDF-"sv, "a PDF document"},
    Signature{0,
              "\x7F"
              "ELF"sv,
              "an ELF program"},
    Signature{257, "ustar"sv, "a tar archive (unpack it first)"},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view without_leading_space(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

std::string lfs_pointer(std::string_view text) {
  constexpr std::string_view key = "\nsize ";
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return "a Git LFS pointer (fetch the file with git lfs pull)";
  std::string_view digits = text.substr(at + key.size(), 20);
  digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
  return fmt::format("a Git LFS pointer to a file of {} bytes (fetch it with git lfs pull)", digits);
}

// 8 bytes of length, then a header that begins an object with a key: {" or an empty one: {}.
bool looks_like_safetensors(std::string_view head) {
  return head.size() >= 10 && head[8] == '{' && (head[9] == '"' || head[9] == '}' || head[9] == ' ') &&
         head[7] == 0;
}

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7F || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r');
  });
}

std::string describe_text(std::string_view head) {
  const std::string_view text = without_leading_space(head);
  const std::string start = lower(text.substr(0, 64));
  if (start.starts_with("<!doctype html") || start.starts_with("<html")) return "an HTML page";
  if (start.starts_with("<?xml")) return "an XML document";
  if (text.starts_with("version https://git-lfs.github.com/spec/")) return lfs_pointer(text);
  if (text.starts_with('{') || text.starts_with('[')) return "JSON text";
  return "plain text";
}

}  // namespace

std::string describe_bytes(std::span<const std::byte> head) {
  if (head.empty()) return "an empty file";
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), std::min(head.size(), head_bytes));
  for (const auto& signature : signatures) {
    if (bytes.size() > signature.offset && bytes.substr(signature.offset).starts_with(signature.magic)) {
      return signature.description;
    }
  }
  if (looks_like_safetensors(bytes)) return "a safetensors file";
  if (bytes.size() >= 3 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5) {
    return "a Python pickle (convert to safetensors)";
  }
  if (bytes.find_first_not_of('\0') == std::string_view::npos) return "zero bytes (an unfinished download?)";
  return is_text(bytes) ? describe_text(bytes) : "binary data of no known format";
}

std::string describe_file(std::span<const std::byte> file) {
  return file.empty() ? describe_bytes(file) : fmt::format("{}, {} bytes", describe_bytes(file), file.size());
}

}  // namespace onceover
