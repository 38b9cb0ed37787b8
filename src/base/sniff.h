// What a file that is not what it should be looks like, for messages to people.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace onceover {

// A noun phrase with its article for the bytes at the head of a file: "an HTML page", "a Git LFS pointer to a
// file of 4096 bytes (fetch it with git lfs pull)", "gzip data", "binary data of no known format". A few
// hundred bytes suffice.
std::string describe_bytes(std::span<const std::byte> head);

// The same with the size: "an HTML page, 134 bytes".
std::string describe_file(std::span<const std::byte> file);

}  // namespace onceover
