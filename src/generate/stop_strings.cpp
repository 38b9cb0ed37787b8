#include "generate/stop_strings.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace onceover {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty()) throw Error("a stop string must not be empty");
  }
}

std::string StopStrings::push(std::string_view more) {
  if (stopped_) return "";
  for (char c : more) {
    held_ += c;
    size_t longest = 0;
    for (const std::string& stop : stops_) {
      if (held_.ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest == 0) continue;
    stopped_ = true;
    held_.resize(held_.size() - longest);
    return std::exchange(held_, "");
  }
  std::string free = held_.substr(0, sure_length());
  held_.erase(0, free.size());
  return free;
}

std::string StopStrings::finish() { return std::exchange(held_, ""); }

// Up to where no stop string can still begin and be unfinished.
size_t StopStrings::sure_length() const {
  for (size_t begin = 0; begin < held_.size(); begin++) {
    const std::string_view tail = std::string_view(held_).substr(begin);
    for (const std::string& stop : stops_) {
      if (tail.size() < stop.size() && stop.starts_with(tail)) return begin;
    }
  }
  return held_.size();
}

}  // namespace onceover
