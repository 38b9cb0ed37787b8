#include "report/jsonl.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace onceover {
namespace {

// Calls visit(record, end of its line in bytes) for every whole line.
template <class Visit>
void for_each_record(const std::string& path, Visit visit) {
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw Error("{}: expected a regular file, the log of a run", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot open the log of the run", path);
  int64_t end = 0, last_step = -1;
  std::string line;
  for (int64_t number = 1; std::getline(file, line) && !file.eof(); number++) {
    end += static_cast<int64_t>(line.size()) + 1;
    const std::string where = fmt::format("{} line {}", path, number);
    const Record record = record_from_json(parse_json(line, where), where);
    if (record.step <= last_step)
      throw Error("{}: expected a step above {}, found {}", where, last_step, record.step);
    last_step = record.step;
    visit(record, end);
  }
  if (file.bad()) throw Error("{}: cannot read the log of the run", path);
}

}  // namespace

JsonlWriter JsonlWriter::create(const std::string& path) {
  return {AppendFile(path, AppendFile::Mode::New), -1};
}

JsonlWriter JsonlWriter::resume(const std::string& path, int64_t step) {
  int64_t kept_bytes = 0, last_step = -1;
  for_each_record(path, [&](const Record& record, int64_t end) {
    if (record.step > step) return;
    kept_bytes = end;
    last_step = record.step;
  });
  AppendFile file(path, AppendFile::Mode::Existing);
  file.truncate(kept_bytes);
  return {std::move(file), last_step};
}

void JsonlWriter::append(const Record& record) {
  if (record.step <= last_step_) {
    throw Error("{}: expected a step above {}, found {}", file_.path(), last_step_, record.step);
  }
  file_.append(to_json(record).dump() + "\n");
  last_step_ = record.step;
}

std::vector<Record> read_records(const std::string& path) {
  std::vector<Record> records;
  for_each_record(path, [&](const Record& record, int64_t) { records.push_back(record); });
  return records;
}

}  // namespace onceover
