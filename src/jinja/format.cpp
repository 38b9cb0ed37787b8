#include "jinja/format.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace onceover::jinja {
namespace {

Text number_text(double number) {
  if (std::isnan(number)) return U"nan";
  if (std::isinf(number)) return number > 0 ? U"inf" : U"-inf";
  std::string digits = fmt::format("{}", number);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return to_text(digits);
}

void append_hex(Text& out, char32_t c) {
  c = plain(c);
  out += to_text(c < 0x100     ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                 : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(c))
                               : fmt::format("\\U{:08x}", static_cast<uint32_t>(c)));
}

// Python's repr of a text.
void append_quoted(Text& out, TextView text) {
  const bool doubled = find(text, U"'") != nowhere && find(text, U"\"") == nowhere;
  const char32_t quote = doubled ? '"' : '\'';
  constexpr TextView names = U"\n\r\t\\", letters = U"nrt\\";
  out += quote;
  for (const char32_t c : text) {
    const size_t named = names.find(plain(c));
    if (named != nowhere || plain(c) == quote) {
      out += '\\';
      out += named == nowhere ? c : letters[named];
    } else if (is_printable(c)) {
      out += c;
    } else {
      append_hex(out, c);
    }
  }
  out += quote;
}

class Writer {
 public:
  explicit Writer(Run& run) : run_(run) {}

  // Python's repr.
  void write(const Value& value) {
    run_.spend(1);
    Run::check_text(out.size());
    if (const bool* flag = value.as<bool>()) {
      out += *flag ? U"True" : U"False";
    } else if (const int64_t* integer = value.as<int64_t>()) {
      out += to_text(fmt::format("{}", *integer));
    } else if (const double* number = value.as<double>()) {
      out += number_text(*number);
    } else if (value.is<None>()) {
      out += U"None";
    } else if (value.is<Undefined>()) {
      out += U"Undefined";
    } else if (const Text* text = value.text()) {
      run_.spend_text(text->size());
      append_quoted(out, *text);
    } else {
      write_nested(value);
    }
  }

  Text out;

 private:
  void write_nested(const Value& value) {
    if (const List* list = value.list()) {
      write_list(*list);
    } else if (const Dict* dict = value.dict()) {
      write_dict(*dict);
    } else {
      throw Error("a {} cannot be written as text", type_name(value));
    }
  }

  void write_list(const List& list) {
    out += list.is_tuple ? '(' : '[';
    for (size_t i = 0; i < list.items.size(); i++) {
      if (i > 0) out += U", ";
      write(list.items[i]);
    }
    if (list.is_tuple && list.items.size() == 1) out += ',';
    out += list.is_tuple ? ')' : ']';
  }

  void write_dict(const Dict& dict) {
    out += '{';
    for (size_t i = 0; i < dict.entries().size(); i++) {
      if (i > 0) out += U", ";
      write(dict.entries()[i].first);
      out += U": ";
      write(dict.entries()[i].second);
    }
    out += '}';
  }

  Run& run_;
};

class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), style_(style) {}

  void write(const Value& value, int level) {
    run_.spend(1);
    Run::check_text(out.size());
    if (const bool* flag = value.as<bool>()) {
      out += *flag ? U"true" : U"false";
    } else if (const int64_t* integer = value.as<int64_t>()) {
      out += to_text(fmt::format("{}", *integer));
    } else if (const double* number = value.as<double>()) {
      out += json_number(*number);
    } else if (value.is<None>()) {
      out += U"null";
    } else if (const Text* text = value.text()) {
      write_text(*text);
    } else if (const List* list = value.list()) {
      write_list(*list, level);
    } else if (const Dict* dict = value.dict()) {
      write_dict(*dict, level);
    } else {
      throw Error("a value of type {} cannot be written as JSON", type_name(value));
    }
  }

  Text out;

 private:
  static Text json_number(double number) {
    if (std::isnan(number)) return U"NaN";
    if (std::isinf(number)) return number > 0 ? U"Infinity" : U"-Infinity";
    return number_text(number);
  }

  void write_text(TextView text) {
    run_.spend_text(text.size());
    constexpr TextView names = U"\"\\\n\r\t\b\f", letters = U"\"\\nrtbf";
    out += '"';
    for (const char32_t c : text) {
      const size_t named = names.find(plain(c));
      if (named != nowhere) {
        out += '\\';
        out += letters[named];
      } else if (plain(c) < 0x20 || (style_.ensure_ascii && plain(c) > 0x7E)) {
        write_escape(plain(c));
      } else {
        out += c;
      }
    }
    out += '"';
  }

  void write_escape(char32_t c) {
    const auto unit = [&](uint32_t u) { out += to_text(fmt::format("\\u{:04x}", u)); };
    if (c < 0x10000) return unit(c);
    unit(0xD800 + ((c - 0x10000) >> 10));
    unit(0xDC00 + ((c - 0x10000) & 0x3FF));
  }

  void append(TextView separator) {
    run_.spend_text(separator.size());
    out += separator;
  }

  void new_line(int level) {
    if (style_.indent < 0) return;
    const auto spaces = static_cast<size_t>(style_.indent) * static_cast<size_t>(level);
    run_.spend_text(spaces);
    out += '\n';
    out.append(spaces, ' ');
  }

  void write_list(const List& list, int level) {
    out += '[';
    for (size_t i = 0; i < list.items.size(); i++) {
      if (i > 0) append(style_.item_separator);
      new_line(level + 1);
      write(list.items[i], level + 1);
    }
    if (!list.items.empty()) new_line(level);
    out += ']';
  }

  void write_dict(const Dict& dict, int level) {
    std::vector<Dict::Entry> entries = dict.entries();
    if (style_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const auto& a, const auto& b) { return order(run_, a.first, b.first) < 0; });
    out += '{';
    for (size_t i = 0; i < entries.size(); i++) {
      if (i > 0) append(style_.item_separator);
      new_line(level + 1);
      write_key(entries[i].first);
      append(style_.key_separator);
      write(entries[i].second, level + 1);
    }
    if (!entries.empty()) new_line(level);
    out += '}';
  }

  void write_key(const Value& key) {
    if (key.text() != nullptr) return write(key, 0);
    out += '"';
    write(key, 0);
    out += '"';
  }

  Run& run_;
  const JsonStyle& style_;
};

}  // namespace

Text text_of(Run& run, const Value& value) {
  if (value.is<Undefined>()) return {};
  if (const Text* text = value.text()) {
    run.spend_text(text->size());
    return *text;
  }
  Writer writer(run);
  writer.write(value);
  return std::move(writer.out);
}

Text json_of(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  writer.write(value, 0);
  return std::move(writer.out);
}

}  // namespace onceover::jinja
