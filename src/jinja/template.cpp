#include "jinja/template.h"

#include "jinja/lexer.h"
#include "jinja/machine.h"
#include "jinja/parser.h"

namespace onceover::jinja {
namespace {

Rendered rendered(TextView text) {
  Rendered out;
  for (const char32_t c : text) {
    const size_t start = out.text.size();
    append_utf8_of(out.text, c);
    if ((c & input_mark) == 0) continue;
    if (out.input.empty() || out.input.back().end != start) out.input.push_back({start, start});
    out.input.back().end = out.text.size();
  }
  return out;
}

}  // namespace

struct Template::Parsed {
  std::string where;
  Block block;
};

Template::Template(std::string_view source, std::string where) {
  auto parsed = std::make_unique<Parsed>();
  parsed->where = std::move(where);
  parsed->block = Parser(tokens_of(source, parsed->where), parsed->where).parse();
  parsed_ = std::move(parsed);
}

Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Rendered Template::render(const Dict& variables, const RenderOptions& options) const {
  Run run(options.now, options.max_work);
  return rendered(Machine(run, variables, parsed_->where).write(parsed_->block));
}

}  // namespace onceover::jinja
