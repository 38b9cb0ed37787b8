#include "report/tensorboard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "report/crc32c.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

// An independent reader: nothing of the writer but crc32c, which has tests of its own.
struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version;
  std::map<std::string, float> scalars;
  int session_status = 0;
};

class Bytes {
 public:
  explicit Bytes(std::string data) : data_(std::move(data)) {}
  bool empty() const { return at_ == data_.size(); }
  std::string take(size_t count) {
    if (count > data_.size() - at_) throw std::runtime_error("the bytes end early");
    at_ += count;
    return data_.substr(at_ - count, count);
  }
  template <class Value>
  Value fixed() {
    Value value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("an endless varint");
  }

 private:
  std::string data_;
  size_t at_ = 0;
};

std::pair<std::string, float> read_scalar(Bytes value) {
  std::pair<std::string, float> scalar;
  while (!value.empty()) {
    const uint64_t key = value.varint();
    if (key == (1 << 3 | 2)) {
      scalar.first = value.take(value.varint());
    } else if (key == (2 << 3 | 5)) {
      scalar.second = value.fixed<float>();
    } else {
      throw std::runtime_error("an unknown key in a Value");
    }
  }
  return scalar;
}

Event read_event(Bytes bytes) {
  Event event;
  while (!bytes.empty()) {
    const uint64_t key = bytes.varint();
    if (key == (1 << 3 | 1)) {
      event.wall_time = bytes.fixed<double>();
    } else if (key == (2 << 3 | 0)) {
      event.step = static_cast<int64_t>(bytes.varint());
    } else if (key == (3 << 3 | 2)) {
      event.file_version = bytes.take(bytes.varint());
    } else if (key == (5 << 3 | 2)) {
      Bytes summary(bytes.take(bytes.varint()));
      while (!summary.empty()) {
        if (summary.varint() != (1 << 3 | 2)) throw std::runtime_error("an unknown key in a Summary");
        event.scalars.insert(read_scalar(Bytes(summary.take(summary.varint()))));
      }
    } else if (key == (7 << 3 | 2)) {
      Bytes session(bytes.take(bytes.varint()));
      if (session.varint() != (1 << 3 | 0)) throw std::runtime_error("an unknown key in a SessionLog");
      event.session_status = static_cast<int>(session.varint());
    } else {
      throw std::runtime_error("an unknown key in an Event");
    }
  }
  return event;
}

uint32_t unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xA282EAD8u;
  return rotated >> 17 | rotated << 15;
}

std::vector<Event> read_events(const std::string& path) {
  Bytes file(read_bytes(path));
  std::vector<Event> events;
  while (!file.empty()) {
    const std::string head = file.take(8);
    if (unmask(file.fixed<uint32_t>()) != crc32c(head)) throw std::runtime_error("the length's CRC differs");
    const std::string payload = file.take(Bytes(head).fixed<uint64_t>());
    if (unmask(file.fixed<uint32_t>()) != crc32c(payload))
      throw std::runtime_error("the payload's CRC differs");
    events.push_back(read_event(Bytes(payload)));
  }
  return events;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(TensorBoard, ARecordIsFramedByteForByte) {
  EXPECT_EQ(tfrecord("123456789"), from_hex("090000000000000037f97139313233343536373839e5b08ac7"));
}

// 1 wall_time 2.0 · 2 step 300 · 5 Summary { 1 Value { 1 "loss" · 2 1.5f } }
TEST(TensorBoard, AScalarIsEncodedByteForByte) {
  EXPECT_EQ(scalars_event(2.0, 300, {{"loss", 1.5}}), from_hex("090000000000000040"
                                                               "10ac02"
                                                               "2a0d0a0b0a046c6f7373150000c03f"));
}

TEST(TensorBoard, AnIndependentReaderFindsEveryScalar) {
  const TemporaryFolder folder;
  std::mt19937 random(fresh_seed());
  double now = 1700000000.25;
  EventWriter writer((folder / "tb").string(), {}, [&] { return now; });
  std::vector<std::pair<int64_t, Scalars>> written;
  for (int i = 0; i < 40; i++) {
    now += 1;
    Scalars scalars{{"a", std::ldexp(static_cast<double>(random()), -20)},
                    {std::string(random() % 300, 'x') + "y", 0.0}};
    written.emplace_back(static_cast<int64_t>(random()) << (i % 30), scalars);
    writer.write(written.back().first, scalars);
  }
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), written.size() + 1);
  EXPECT_EQ(events[0].file_version, "brain.Event:2");
  EXPECT_EQ(events[0].wall_time, 1700000000.25);
  for (size_t i = 0; i < written.size(); i++) {
    EXPECT_EQ(events[i + 1].step, written[i].first);
    EXPECT_EQ(events[i + 1].wall_time, 1700000001.25 + static_cast<double>(i));
    ASSERT_EQ(events[i + 1].scalars.size(), 2u);
    for (const auto& [tag, value] : written[i].second)
      EXPECT_EQ(events[i + 1].scalars.at(tag), static_cast<float>(value));
  }
}

TEST(TensorBoard, ARecordBecomesOneEventWithGroupedTags) {
  const TemporaryFolder folder;
  EventWriter writer((folder / "tb").string());
  Record record;
  record.step = 7;
  record.loss = std::numeric_limits<double>::quiet_NaN();
  record.validation = Validation{2.5, 0.75};
  record.extra["loops/mean"] = 3;
  writer.write(record);
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step, 7);
  EXPECT_EQ(events[1].scalars.size(), 12u);
  EXPECT_TRUE(std::isnan(events[1].scalars.at("train/loss")));
  EXPECT_EQ(events[1].scalars.at("validation/loss"), 2.5f);
  EXPECT_EQ(events[1].scalars.at("validation/bits_per_byte"), 0.75f);
  EXPECT_EQ(events[1].scalars.at("loops/mean"), 3.0f);
}

TEST(TensorBoard, AResumedRunTellsWhereItStarts) {
  const TemporaryFolder folder;
  EventWriter first((folder / "tb").string()), second((folder / "tb").string(), 41);
  EXPECT_NE(first.path(), second.path());
  const auto events = read_events(second.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].session_status, 1);
  EXPECT_EQ(events[1].step, 42);
}

TEST(TensorBoard, TheFileIsNamedSoThatTensorBoardFindsIt) {
  const TemporaryFolder folder;
  const EventWriter writer((folder / "tb").string(), {}, [] { return 1700000000.9; });
  const std::string name = std::filesystem::path(writer.path()).filename().string();
  EXPECT_EQ(name.rfind("events.out.tfevents.1700000000.", 0), 0u) << name;
}

TEST(TensorBoard, TagsAreAlwaysValidUtf8) {
  const Bytes bytes(scalars_event(0, 0, {{"\xFFz", 1}}));
  EXPECT_EQ(read_event(bytes).scalars.begin()->first, "\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace onceover
