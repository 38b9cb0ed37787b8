#include "report/jsonl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "support/errors.h"
#include "support/fresh_seed.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Record random_record(int64_t step, std::mt19937_64& random) {
  std::uniform_real_distribution<double> any(0, 1e6);
  Record record{step,        static_cast<int64_t>(random() >> 1),
                any(random), any(random),
                any(random), any(random),
                any(random), any(random),
                any(random), static_cast<int64_t>(random() >> 1),
                {},          {}};
  if (random() % 2 == 0) record.validation = Validation{any(random), any(random)};
  if (random() % 2 == 0) record.extra["loops \"mean\""] = any(random);
  return record;
}

std::vector<int64_t> steps_of(const std::vector<Record>& records) {
  std::vector<int64_t> steps;
  for (const auto& record : records) steps.push_back(record.step);
  return steps;
}

void write_steps(JsonlWriter& writer, int64_t first, int64_t last) {
  std::mt19937_64 random(1);
  for (int64_t step = first; step <= last; step++) writer.append(random_record(step, random));
}

TEST(Jsonl, ReadsBackExactlyWhatWasWritten) {
  const TemporaryFolder folder;
  std::mt19937_64 random(fresh_seed());
  std::vector<Record> records;
  {
    auto writer = JsonlWriter::create((folder / "new/folder/log.jsonl").string());
    for (int64_t step = 0; step < 50; step++) {
      records.push_back(random_record(3 * step, random));
      writer.append(records.back());
    }
    writer.sync();
  }
  const auto found = read_records((folder / "new/folder/log.jsonl").string());
  ASSERT_EQ(found.size(), records.size());
  for (size_t i = 0; i < found.size(); i++) {
    EXPECT_EQ(fields(found[i]), fields(records[i]));
    EXPECT_EQ(found[i].tokens, records[i].tokens);
    EXPECT_EQ(found[i].memory_bytes, records[i].memory_bytes);
  }
}

TEST(Jsonl, EveryLineIsOnDiskBeforeTheNextIsWritten) {
  const TemporaryFolder folder;
  auto writer = JsonlWriter::create((folder / "log.jsonl").string());
  for (int64_t step = 1; step <= 3; step++) {
    write_steps(writer, step, step);
    EXPECT_EQ(read_records((folder / "log.jsonl").string()).size(), static_cast<size_t>(step));
  }
}

TEST(Jsonl, ValuesThatAreNotFiniteAreNullAndReadAsNaN) {
  Record record;
  record.loss = not_a_number;
  record.grad_norm = std::numeric_limits<double>::infinity();
  record.validation = Validation{not_a_number, 1};
  record.extra["x"] = -std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(to_json(record).dump());
  for (const char* key : {"loss", "grad_norm", "validation_loss", "x"})
    EXPECT_TRUE(json.at(key).is_null()) << key;
  const Record found = record_from_json(json, "here");
  EXPECT_TRUE(std::isnan(found.loss) && std::isnan(found.grad_norm) && std::isnan(found.validation->loss));
  EXPECT_TRUE(std::isnan(found.extra.at("x")));
  EXPECT_EQ(found.validation->bits_per_byte, 1);
}

TEST(Jsonl, EveryRecordOfAKindHasTheSameKeys) {
  const std::vector<std::string> always{
      "step",          "tokens",    "memory_bytes",      "flops", "wall_seconds", "loss",
      "learning_rate", "grad_norm", "tokens_per_second", "mfu"};
  Record record;
  const auto keys = [&] {
    std::vector<std::string> names;
    const auto json = to_json(record);
    for (const auto& item : json.items()) names.push_back(item.key());
    return names;
  };
  EXPECT_EQ(keys(), always);
  record.validation.emplace();
  auto with_validation = always;
  with_validation.insert(with_validation.end(), {"validation_loss", "bits_per_byte"});
  EXPECT_EQ(keys(), with_validation);
}

TEST(Jsonl, ATornLastLineIsSkippedWhereverItWasTorn) {
  const TemporaryFolder folder;
  const std::string path = (folder / "log.jsonl").string();
  {
    auto writer = JsonlWriter::create(path);
    write_steps(writer, 1, 3);
  }
  const std::string whole = read_bytes(path);
  const size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t size = last_line; size < whole.size(); size++) {
    write_bytes(path, whole.substr(0, size));
    EXPECT_EQ(steps_of(read_records(path)), (std::vector<int64_t>{1, 2})) << "torn at " << size;
  }
}

TEST(Jsonl, ResumingCutsLaterStepsAndATornLine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "log.jsonl").string();
  {
    auto writer = JsonlWriter::create(path);
    write_steps(writer, 1, 9);
  }
  write_bytes(path, read_bytes(path) + "{\"step\":10,\"tok");
  {
    auto writer = JsonlWriter::resume(path, 6);
    EXPECT_EQ(steps_of(read_records(path)), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
    write_steps(writer, 7, 8);
  }
  EXPECT_EQ(steps_of(read_records(path)), (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Jsonl, ResumingAtTheLastStepKeepsEveryWholeLine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "log.jsonl").string();
  {
    auto writer = JsonlWriter::create(path);
    write_steps(writer, 1, 4);
  }
  const std::string before = read_bytes(path);
  write_bytes(path, before + "{");
  JsonlWriter::resume(path, 100);
  EXPECT_EQ(read_bytes(path), before);
  JsonlWriter::resume(path, 0);
  EXPECT_EQ(read_bytes(path), "");
}

TEST(Jsonl, RefusesAStepThatDoesNotRise) {
  const TemporaryFolder folder;
  auto writer = JsonlWriter::create((folder / "log.jsonl").string());
  write_steps(writer, 5, 5);
  EXPECT_THROW(write_steps(writer, 5, 5), Error);
  EXPECT_THROW(write_steps(writer, 4, 4), Error);
  EXPECT_EQ(steps_of(read_records((folder / "log.jsonl").string())), (std::vector<int64_t>{5}));
}

TEST(Jsonl, ANewLogNeverOverwritesAnOldOne) {
  const TemporaryFolder folder;
  write_bytes((folder / "log.jsonl").string(), "precious\n");
  EXPECT_NE(error_of([&] { JsonlWriter::create((folder / "log.jsonl").string()); }).find("log.jsonl"),
            std::string::npos);
  EXPECT_EQ(read_bytes((folder / "log.jsonl").string()), "precious\n");
  EXPECT_THROW(JsonlWriter::resume((folder / "missing.jsonl").string(), 0), Error);
}

TEST(Jsonl, DamageBeforeTheLastLineIsAnErrorThatNamesTheLine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "log.jsonl").string();
  {
    auto writer = JsonlWriter::create(path);
    write_steps(writer, 1, 1);
  }
  const std::string good = read_bytes(path);
  for (const std::string bad : {"{\"step\":2", "[]", "{\"step\":2}", "", "null"}) {
    write_bytes(path, good + bad + "\n" + good);
    EXPECT_NE(error_of([&] { read_records(path); }).find("line 2"), std::string::npos) << bad;
    EXPECT_THROW(JsonlWriter::resume(path, 0), Error);
    EXPECT_EQ(read_bytes(path), good + bad + "\n" + good) << "a refused resume must not cut";
  }
  write_bytes(path, good + good);
  EXPECT_NE(error_of([&] { read_records(path); }).find("step above 1"), std::string::npos);
}

TEST(Jsonl, WrongTypesAreNamedByTheirKey) {
  nlohmann::json json = nlohmann::json::parse(to_json(Record{}).dump());
  const std::vector<std::pair<std::string, nlohmann::json>> wrong{
      {"step", -1}, {"tokens", 1.5}, {"memory_bytes", 18446744073709551615u}, {"loss", "3"}, {"extra", true}};
  for (const auto& [key, value] : wrong) {
    auto changed = json;
    changed[key] = value;
    EXPECT_NE(error_of([&] { record_from_json(changed, "here"); }).find("'" + key + "'"), std::string::npos)
        << key;
  }
  for (const char* key : {"step", "mfu"}) {
    auto changed = json;
    changed.erase(key);
    EXPECT_THROW(record_from_json(changed, "here"), Error) << key;
  }
}

TEST(Jsonl, RefusesWhatItCouldNotReadBack) {
  Record reserved, negative;
  reserved.extra["loss"] = 1;
  negative.tokens = -1;
  EXPECT_THROW(to_json(reserved), Error);
  EXPECT_THROW(to_json(negative), Error);
  Record odd;
  odd.extra["\xFF\x01"] = 1;
  EXPECT_NO_THROW(record_from_json(nlohmann::json::parse(to_json(odd).dump()), "here"));
}

}  // namespace
}  // namespace onceover
