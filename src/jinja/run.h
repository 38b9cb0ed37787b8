// What one rendering may use up, and what it owns.
#pragma once
#include <cstddef>
#include <ctime>
#include <deque>
#include <string>
#include <utility>

#include "base/error.h"
#include "jinja/value.h"

namespace onceover::jinja {

class Run {
 public:
  static constexpr size_t max_characters = size_t{1} << 23;  // of one text

  // Units of work: one for each expression, statement, list element, and scope that a name is sought in, and
  // for 8 characters copied or compared. What is made of many small parts costs more, for its memory.
  Run(std::time_t now, size_t work) : now_(now), work_(work) {}
  Run(const Run&) = delete;

  std::time_t now() const { return now_; }

  // Error once the run has done its work.
  void spend(size_t work) {
    if (work > work_) throw Error("the template takes too long");
    work_ -= work;
  }

  // Error for a text that is too long.
  static void check_text(size_t characters) {
    if (characters > max_characters)
      throw Error("a text of {} characters, expected at most {}", characters, max_characters);
  }

  // Before a text of so many characters is made.
  void spend_text(size_t characters) {
    check_text(characters);
    spend(characters / 8);
  }

  Value make_namespace(Dict members) {
    spend(1);
    return {&namespaces_.emplace_back(Namespace{std::move(members)})};
  }

 private:
  std::time_t now_;
  size_t work_;  // left
  std::deque<Namespace> namespaces_;
};

}  // namespace onceover::jinja
