#include <algorithm>

#include "base/error.h"
#include "jinja/filters.h"
#include "jinja/format.h"

namespace onceover::jinja {
namespace {

Value map_characters(Run& run, const Value& object, CallArguments& arguments, char32_t (*change)(char32_t)) {
  arguments.finish();
  Text text = text_of(run, object);
  std::transform(text.begin(), text.end(), text.begin(), change);
  return text_value(std::move(text));
}

Value to_upper(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  Text out;
  for (const char32_t c : text_of(run, object)) {
    const bool is_sharp_s = plain(c) == U'ß';
    out.append(is_sharp_s ? 2 : 1, is_sharp_s ? U'S' | (c & input_mark) : upper(c));
  }
  return text_value(std::move(out));
}

Value to_lower(Run& run, const Value& object, CallArguments& arguments) {
  return map_characters(run, object, arguments, lower);
}

Value capitalize(Run& run, const Value& object, CallArguments& arguments) {
  Text text = *to_lower(run, object, arguments).text();
  if (!text.empty()) text[0] = upper(text[0]);
  return text_value(std::move(text));
}

// Words begin after white space and the characters below: Jinja's rule, not str.title's.
Value title(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  Text text = text_of(run, object);
  constexpr TextView borders = U"-({[<";
  bool begins = true;
  for (char32_t& c : text) {
    const bool is_border = is_space(c) || borders.find(plain(c)) != nowhere;
    c = begins ? upper(c) : lower(c);
    begins = is_border;
  }
  return text_value(std::move(text));
}

Value string(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  return text_value(text_of(run, object));
}

Value trim(Run& run, const Value& object, CallArguments& arguments) {
  return call_method(run, text_value(text_of(run, object)), "strip", arguments);
}

Value replace(Run& run, const Value& object, CallArguments& arguments) {
  const Text from = text_of(run, arguments.require("old")), to = text_of(run, arguments.require("new"));
  const Value* count = arguments.take("count");
  const auto given = count == nullptr || count->is<None>() ? std::optional<int64_t>(-1) : as_integer(*count);
  if (!given) throw Error("replace: 'count' must be an integer, found {}", type_name(*count));
  arguments.finish();
  const Text text = text_of(run, object);
  const size_t most = *given < 0 ? SIZE_MAX : static_cast<size_t>(*given);
  run.spend_text(text.size() + std::min(most, count_of(text, from)) * to.size());
  return text_value(replaced(text, from, to, most));
}

Value escape(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  Text out;
  for (const char32_t c : text_of(run, object)) {
    constexpr TextView special = U"&<>'\"";
    constexpr TextView written[] = {U"&amp;", U"&lt;", U"&gt;", U"&#39;", U"&#34;"};
    const size_t known = special.find(plain(c));
    if (known == nowhere) {
      out += c;
    } else {
      out += written[known];
    }
    Run::check_text(out.size());
  }
  run.spend_text(out.size());
  return text_value(std::move(out));
}

Value indent(Run& run, const Value& object, CallArguments& arguments) {
  const Value* width = arguments.take("width");
  const bool first = arguments.flag("first", false), blank = arguments.flag("blank", false);
  arguments.finish();
  Text margin(4, ' ');
  if (width != nullptr && width->text() != nullptr) {
    margin = *width->text();
  } else if (width != nullptr) {
    const auto spaces = as_integer(*width);
    if (!spaces || *spaces > 1000) throw Error("indent: 'width' must be an integer up to 1000 or a text");
    margin = Text(static_cast<size_t>(std::max<int64_t>(*spaces, 0)), ' ');
  }
  if (object.text() == nullptr) throw Error("indent needs a text, found {}", type_name(object));
  Text text = text_of(run, object);
  text += '\n';
  const std::vector<TextView> lines = lines_of(text);
  run.spend_text(text.size() + lines.size() * margin.size());
  Text out = first ? margin : Text();
  for (size_t i = 0; i < lines.size(); i++) {
    if (i > 0) out += '\n';
    if (i > 0 && (blank || !lines[i].empty())) out += margin;
    out += lines[i];
  }
  return text_value(std::move(out));
}

Value to_json(Run& run, const Value& object, CallArguments& arguments) {
  JsonStyle style;
  style.ensure_ascii = arguments.flag("ensure_ascii", false);
  const Value* indent = arguments.take("indent");
  if (indent != nullptr && !indent->is<None>()) {
    const auto spaces = as_integer(*indent);
    if (!spaces || *spaces < 0 || *spaces > 100) throw Error("tojson: 'indent' must be an integer up to 100");
    style.indent = static_cast<int>(*spaces);
    style.item_separator.resize(1);  // the comma
  }
  const Value* separators = arguments.take("separators");
  if (separators != nullptr && !separators->is<None>()) {
    const List* pair = separators->list();
    const bool texts = pair != nullptr && pair->items.size() == 2 && pair->items[0].text() != nullptr &&
                       pair->items[1].text() != nullptr;
    if (!texts) throw Error("tojson: 'separators' must be two texts");
    style.item_separator = *pair->items[0].text();
    style.key_separator = *pair->items[1].text();
  }
  style.sort_keys = arguments.flag("sort_keys", false);
  arguments.finish();
  return text_value(json_of(run, object, style));
}

constexpr Filter filters[] = {{"upper", to_upper},  {"lower", to_lower}, {"capitalize", capitalize},
                              {"title", title},     {"trim", trim},      {"string", string},
                              {"replace", replace}, {"escape", escape},  {"e", escape},
                              {"safe", string},     {"indent", indent},  {"tojson", to_json}};

}  // namespace

std::span<const Filter> text_filters() { return filters; }

}  // namespace onceover::jinja
