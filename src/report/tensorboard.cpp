#include "report/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>

#include "report/crc32c.h"
#include "report/drawn_text.h"

namespace onceover {
namespace {

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; i++) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

enum class Wire { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string key(int field, Wire wire) {
  return varint(static_cast<uint64_t>(field << 3 | static_cast<int>(wire)));
}

std::string bytes_field(int field, std::string_view bytes) {
  return key(field, Wire::Bytes) + varint(bytes.size()) + std::string(bytes);
}

// The parts every Event begins with. proto3 leaves out a zero.
std::string event_head(double wall_time, int64_t step) {
  std::string head = key(1, Wire::Fixed64) + little_endian(std::bit_cast<uint64_t>(wall_time));
  if (step != 0) head += key(2, Wire::Varint) + varint(static_cast<uint64_t>(step));
  return head;
}

std::string session_start_event(double wall_time, int64_t step) {
  return event_head(wall_time, step) + bytes_field(7, key(1, Wire::Varint) + varint(1));
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event_path(const std::string& folder, double wall_time) {
  static std::atomic<int> count = 0;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  return fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", folder, static_cast<int64_t>(wall_time),
                     host.data(), ::getpid(), count++);
}

std::string tag_of(const std::string& name, const Record& record) {
  if (name == "validation_loss") return "validation/loss";
  if (name == "bits_per_byte") return "validation/bits_per_byte";
  return record.extra.contains(name) ? name : "train/" + name;
}

}  // namespace

std::string tfrecord(std::string_view payload) {
  const std::string length = little_endian(static_cast<uint64_t>(payload.size()));
  return length + little_endian(masked_crc32c(length)) + std::string(payload) +
         little_endian(masked_crc32c(payload));
}

std::string scalars_event(double wall_time, int64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    summary += bytes_field(1, bytes_field(1, clean_text(tag)) + key(2, Wire::Fixed32) + little_endian(bits));
  }
  return event_head(wall_time, step) + bytes_field(5, summary);
}

EventWriter::EventWriter(const std::string& folder, std::optional<int64_t> resumed_step, WallClock clock)
    : clock_(clock ? std::move(clock) : unix_seconds),
      file_(event_path(folder, clock_()), AppendFile::Mode::New) {
  const double now = clock_();
  file_.append(tfrecord(event_head(now, 0) + bytes_field(3, "brain.Event:2")));
  if (resumed_step) file_.append(tfrecord(session_start_event(now, *resumed_step + 1)));
}

void EventWriter::write(int64_t step, const Scalars& scalars) {
  file_.append(tfrecord(scalars_event(clock_(), step, scalars)));
}

void EventWriter::write(const Record& record) {
  Scalars scalars;
  for (const auto& [name, value] : fields(record)) {
    if (name != "step") scalars.emplace_back(tag_of(name, record), value);
  }
  write(record.step, scalars);
}

}  // namespace onceover
