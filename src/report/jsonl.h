// The log of a run: one record a line (record.h), JSON, each line ended by LF, steps strictly rising.
//
// Invariant: a line is written by one call, so a crash leaves at most one torn line, the last, without its
// LF. Readers skip it; resuming cuts it off.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/append_file.h"
#include "report/record.h"

namespace onceover {

// Not thread-safe. Errors name the file and the step.
class JsonlWriter {
 public:
  // A new run. Refuses a file that already holds something.
  static JsonlWriter create(const std::string& path);
  // Goes on after `step`: later records and a torn last line are cut off, so that no step occurs twice.
  // Refuses a missing file, and one with a damaged line before the last (nothing is cut then).
  static JsonlWriter resume(const std::string& path, int64_t step);

  // The line has reached the system when this returns. Error when the step is not above the last one.
  void append(const Record& record);
  // The lines so far have reached the disk when this returns: call it before a checkpoint counts as saved.
  void sync() { file_.sync(); }

 private:
  JsonlWriter(AppendFile file, int64_t last_step) : file_(std::move(file)), last_step_(last_step) {}

  AppendFile file_;
  int64_t last_step_;
};

// Every whole record. Error, naming file and line, for a line that is damaged or whose step does not rise.
std::vector<Record> read_records(const std::string& path);

}  // namespace onceover
