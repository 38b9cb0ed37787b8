// TensorBoard event files, written natively.
//
// A file is a row of TFRecords: uint64 length, uint32 masked CRC-32C of those 8 bytes, the payload, uint32
// masked CRC-32C of the payload; all little-endian. A payload is an Event in protobuf wire format
// (tensorflow/core/util/event.proto):
//   1 wall_time double (unix seconds) · 2 step int64 · 3 file_version string · 5 Summary · 7 SessionLog
//   Summary: repeated 1 Value { 1 tag string · 2 simple_value float }       SessionLog: 1 status (1 = START)
// The first record of a file is the version, "brain.Event:2".
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/append_file.h"
#include "report/record.h"

namespace onceover {

using Scalars = std::vector<std::pair<std::string, double>>;  // tag, value (stored as a float)

std::string tfrecord(std::string_view payload);
std::string scalars_event(double wall_time, int64_t step, const Scalars& scalars);

// One event file of one run. Not thread-safe. Each event reaches the system before the call returns.
class EventWriter {
 public:
  using WallClock = std::function<double()>;  // unix seconds

  // Opens a new file `events.out.tfevents.<seconds>.<host>.<pid>.<n>` in `folder`. With `resumed_step`
  // TensorBoard is told to forget what earlier files of the folder hold after that step.
  explicit EventWriter(const std::string& folder, std::optional<int64_t> resumed_step = {},
                       WallClock clock = {});

  void write(int64_t step, const Scalars& scalars);
  // train/<field>, validation/loss, validation/bits_per_byte, and extra values under their own names.
  void write(const Record& record);

  const std::string& path() const { return file_.path(); }

 private:
  WallClock clock_;
  AppendFile file_;
};

}  // namespace onceover
