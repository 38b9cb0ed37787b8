#include <algorithm>

#include "base/error.h"
#include "jinja/format.h"
#include "jinja/methods.h"
#include "jinja/operators.h"

namespace onceover::jinja {
namespace {

const Text& text_in(const Value& object) { return *object.text(); }

template <bool start, bool end>
Value strip(Run& run, const Value& object, CallArguments& arguments) {
  const Text* chars = arguments.text("chars");
  arguments.finish();
  run.spend(text_in(object).size() / 8 * (1 + (chars == nullptr ? 0 : chars->size())));
  const TextView view = chars == nullptr ? TextView() : TextView(*chars);
  const TextView* of = chars == nullptr ? nullptr : &view;
  TextView text = text_in(object);
  if (start) text = strip_start(text, of);
  if (end) text = strip_end(text, of);
  return text_value(Text(text));
}

std::vector<Value> words(Run& run, TextView text, size_t most) {
  std::vector<Value> parts;
  for (text = strip_start(text); !text.empty(); text = strip_start(text)) {
    const auto end = std::find_if(text.begin(), text.end(), is_space);
    const bool rest = parts.size() == most;
    const size_t length = rest ? text.size() : static_cast<size_t>(end - text.begin());
    run.spend(4);
    parts.push_back(text_value(Text(text.substr(0, length))));
    text.remove_prefix(length);
  }
  return parts;
}

std::vector<Value> last_words(Run& run, TextView text, size_t most) {
  std::vector<Value> parts;
  for (text = strip_end(text); !text.empty(); text = strip_end(text)) {
    const auto space = std::find_if(text.rbegin(), text.rend(), is_space);
    const bool rest = parts.size() == most;
    const size_t start = rest ? 0 : static_cast<size_t>(text.rend() - space);
    run.spend(4);
    parts.push_back(text_value(Text(text.substr(start))));
    text.remove_suffix(text.size() - start);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Value> parts_between(Run& run, TextView text, TextView separator, size_t most) {
  std::vector<Value> parts;
  for (size_t at; parts.size() < most && (at = find(text, separator)) != nowhere;) {
    run.spend(4);
    parts.push_back(text_value(Text(text.substr(0, at))));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text_value(Text(text)));
  return parts;
}

std::vector<Value> last_parts_between(Run& run, TextView text, TextView separator, size_t most) {
  std::vector<Value> parts;
  for (size_t at; parts.size() < most && (at = rfind(text, separator)) != nowhere;) {
    run.spend(4);
    parts.push_back(text_value(Text(text.substr(at + separator.size()))));
    text.remove_suffix(text.size() - at);
  }
  parts.push_back(text_value(Text(text)));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

template <bool from_end>
Value split(Run& run, const Value& object, CallArguments& arguments) {
  const Text* separator = arguments.text("sep");
  const int64_t given = arguments.integer("maxsplit", -1);
  arguments.finish();
  const size_t most = given < 0 ? SIZE_MAX : static_cast<size_t>(given);
  run.spend_text(text_in(object).size());
  if (separator == nullptr)
    return list_value(from_end ? last_words(run, text_in(object), most) : words(run, text_in(object), most));
  if (separator->empty()) throw Error("split: an empty separator");
  return list_value(from_end ? last_parts_between(run, text_in(object), *separator, most)
                             : parts_between(run, text_in(object), *separator, most));
}

Value splitlines(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  run.spend(4 * text_in(object).size());
  std::vector<Value> lines;
  for (const TextView line : lines_of(text_in(object))) lines.push_back(text_value(Text(line)));
  return list_value(std::move(lines));
}

// Whether the text has one of the affixes: a text or a tuple of them.
template <bool (*has)(TextView, TextView)>
Value has_affix(Run& run, const Value& object, CallArguments& arguments) {
  const Value affix = arguments.require("prefix");
  arguments.finish();
  const auto tried =
      affix.list() != nullptr && affix.list()->is_tuple ? items_of(run, affix) : std::vector{affix};
  return {std::any_of(tried.begin(), tried.end(), [&](const Value& one) {
    if (one.text() == nullptr) throw Error("expected a text or a tuple of texts, found {}", type_name(one));
    run.spend_text(one.text()->size());
    return has(text_in(object), *one.text());
  })};
}

// Without the affix, where it is there.
template <bool at_start>
Value remove_affix(Run& run, const Value& object, CallArguments& arguments) {
  const Text* affix = arguments.text("affix");
  arguments.finish();
  if (affix == nullptr) throw Error("{} needs a text", arguments.callee());
  TextView text = text_in(object);
  run.spend_text(text.size());
  if (at_start && starts_with(text, *affix)) text.remove_prefix(affix->size());
  if (!at_start && ends_with(text, *affix)) text.remove_suffix(affix->size());
  return text_value(Text(text));
}

template <size_t (*search)(TextView, TextView)>
Value place(Run& run, const Value& object, CallArguments& arguments) {
  const Text* what = arguments.text("sub");
  arguments.finish();
  if (what == nullptr) throw Error("{} needs a text", arguments.callee());
  run.spend_text(text_in(object).size());
  const size_t found = search(text_in(object), *what);
  return {found == nowhere ? int64_t{-1} : static_cast<int64_t>(found)};
}

size_t find_first(TextView text, TextView what) { return find(text, what); }

Value count(Run& run, const Value& object, CallArguments& arguments) {
  const Text* what = arguments.text("sub");
  arguments.finish();
  if (what == nullptr) throw Error("count needs a text");
  run.spend_text(text_in(object).size());
  return {static_cast<int64_t>(count_of(text_in(object), *what))};
}

Value join(Run& run, const Value& object, CallArguments& arguments) {
  const Value all = arguments.require("iterable");
  arguments.finish();
  Text out;
  bool begun = false;
  for (const Value& one : items_of(run, all)) {
    if (one.text() == nullptr) throw Error("join needs texts, found {}", type_name(one));
    run.spend_text(one.text()->size() + text_in(object).size());
    Run::check_text(out.size() + text_in(object).size() + one.text()->size());
    if (std::exchange(begun, true)) out += text_in(object);
    out += *one.text();
  }
  return text_value(std::move(out));
}

template <bool (*wanted)(char32_t)>
Value all_are(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  const Text& text = text_in(object);
  run.spend_text(text.size());
  return {!text.empty() && std::all_of(text.begin(), text.end(), wanted)};
}

bool is_alphanumeric(char32_t c) { return is_letter(c) || is_numeric(c); }

template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
Value has_case(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  const Text& text = text_in(object);
  run.spend_text(text.size());
  return {std::any_of(text.begin(), text.end(), wanted) && std::none_of(text.begin(), text.end(), other)};
}

// str.title: a letter is upper case where no letter stands before it.
Value title(Run& run, const Value& object, CallArguments& arguments) {
  arguments.finish();
  Text text = text_of(run, object);
  bool inside = false;
  for (char32_t& c : text) {
    const bool letter = is_letter(c);
    c = inside ? lower(c) : upper(c);
    inside = letter;
  }
  return text_value(std::move(text));
}

// Unlike the filter's, its arguments must be texts.
Value replace(Run& run, const Value& object, CallArguments& arguments) {
  const std::vector<Value> given = arguments.take_positional();
  for (size_t i = 0; i < std::min<size_t>(given.size(), 2); i++) {
    if (given[i].text() == nullptr) throw Error("replace needs texts, found {}", type_name(given[i]));
  }
  CallArguments checked(arguments.callee(), given, arguments.take_named());
  return find_filter("replace")->apply(run, object, checked);
}

template <char const* name>
Value as_filter(Run& run, const Value& object, CallArguments& arguments) {
  return find_filter(name)->apply(run, object, arguments);
}

constexpr char upper_name[] = "upper", lower_name[] = "lower", capitalize_name[] = "capitalize";

constexpr Method methods[] = {{"strip", strip<true, true>},
                              {"lstrip", strip<true, false>},
                              {"rstrip", strip<false, true>},
                              {"split", split<false>},
                              {"rsplit", split<true>},
                              {"splitlines", splitlines},
                              {"startswith", has_affix<starts_with>},
                              {"endswith", has_affix<ends_with>},
                              {"removeprefix", remove_affix<true>},
                              {"removesuffix", remove_affix<false>},
                              {"find", place<find_first>},
                              {"rfind", place<rfind>},
                              {"count", count},
                              {"join", join},
                              {"replace", replace},
                              {"upper", as_filter<upper_name>},
                              {"lower", as_filter<lower_name>},
                              {"capitalize", as_filter<capitalize_name>},
                              {"title", title},
                              {"isspace", all_are<is_space>},
                              {"isdigit", all_are<is_digit>},
                              {"isdecimal", all_are<is_digit>},
                              {"isalpha", all_are<is_letter>},
                              {"isalnum", all_are<is_alphanumeric>},
                              {"isupper", has_case<is_upper, is_lower>},
                              {"islower", has_case<is_lower, is_upper>},
                              {"index", nullptr},
                              {"rindex", nullptr},
                              {"format", nullptr},
                              {"format_map", nullptr},
                              {"encode", nullptr},
                              {"center", nullptr},
                              {"ljust", nullptr},
                              {"rjust", nullptr},
                              {"zfill", nullptr},
                              {"partition", nullptr},
                              {"rpartition", nullptr},
                              {"swapcase", nullptr},
                              {"casefold", nullptr},
                              {"expandtabs", nullptr},
                              {"translate", nullptr},
                              {"isnumeric", nullptr},
                              {"isidentifier", nullptr},
                              {"istitle", nullptr},
                              {"isprintable", nullptr},
                              {"isascii", nullptr}};

}  // namespace

std::span<const Method> text_methods() { return methods; }

}  // namespace onceover::jinja
