// Jinja, the language of chat templates, as Hugging Face's libraries set it up: trim_blocks and
// lstrip_blocks, loop controls, {% generation %}, raise_exception, strftime_now, and tojson as Python's
// json.dumps.
//
// Supported: for with loop.*, if, set, macro, call, filter, with, break, continue, raw; expressions, filters
// (filters_*.cpp), tests (tests.cpp) and methods of texts, lists and dicts. docs/chat-templates.md says what
// is not. An undefined name is empty where it is written and an Error where a member of it is read.
//
// Errors say file, line and column. A template is untrusted: work, depth, the size of texts and of the result
// are bounded, and what exceeds a bound is an Error. Parsed once, a template may be rendered by several
// threads.
#pragma once
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_span.h"
#include "jinja/value.h"

namespace onceover::jinja {

struct RenderOptions {
  std::time_t now = std::time(nullptr);  // what strftime_now() tells, in local time
  size_t max_work = 10'000'000;          // run.h says in what units
};

// What a template wrote.
struct Rendered {
  std::string text;
  std::vector<ByteSpan> input;  // what came from the input's texts: in order, not touching
};

class Template {
 public:
  // Parses. Error for what is wrong or not supported; `where` names the template in errors.
  Template(std::string_view source, std::string where);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  Rendered render(const Dict& variables, const RenderOptions& options = {}) const;

 private:
  struct Parsed;
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace onceover::jinja
