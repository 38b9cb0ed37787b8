#include "text/text_normalizer.h"

#include <algorithm>

namespace onceover {
namespace {

constexpr size_t max_steps = 16, max_text_bytes = 64;
constexpr std::string_view space_symbol = "\xE2\x96\x81";

std::string short_text(const JsonReader& json) {
  if (json.text().size() > max_text_bytes)
    json.refuse(fmt::format("a text of more than {} bytes", max_text_bytes));
  return json.text();
}

std::string replaced(std::string_view text, const TextNormalizer::Replace& step) {
  std::string out;
  while (true) {
    const size_t at = text.find(step.from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += step.to;
    text.remove_prefix(at + step.from.size());
  }
}

bool marks_space(const TextNormalizer::Step& step) {
  const auto* replace = std::get_if<TextNormalizer::Replace>(&step);
  return replace != nullptr && replace->from == " " && replace->to == space_symbol;
}

bool prepends_a_space(const TextNormalizer::Step& step) {
  const auto* prepend = std::get_if<TextNormalizer::Prepend>(&step);
  return prepend != nullptr && (prepend->text == space_symbol || prepend->text == " ");
}

}  // namespace

TextNormalizer::TextNormalizer(const JsonReader& json) { add(json); }

void TextNormalizer::add(const JsonReader& json) {
  const std::string type = json.type();
  if (steps_.size() >= max_steps) json.refuse(fmt::format("a normaliser of more than {} steps", max_steps));
  if (type == "Sequence") {
    for (const JsonReader& step : json.member("normalizers").list()) add(step);
  } else if (type == "NFC") {
    steps_.emplace_back(NormalForm::C);
  } else if (type == "NFKC") {
    steps_.emplace_back(NormalForm::KC);
  } else if (type == "Prepend") {
    steps_.emplace_back(Prepend{short_text(json.member("prepend"))});
  } else if (type == "Replace") {
    const JsonReader pattern = json.member("pattern");
    if (!pattern.has("String")) pattern.refuse("a normaliser that replaces anything but a text");
    Replace replace{short_text(pattern.member("String")), short_text(json.member("content"))};
    if (replace.from.empty()) pattern.refuse("replacing the empty text");
    steps_.emplace_back(std::move(replace));
  } else {
    json.refuse(fmt::format("normaliser '{}'", type));
  }
}

std::string TextNormalizer::apply(std::string_view text, bool prepend) const {
  std::string out(text);
  for (const Step& step : steps_) {
    if (const auto* form = std::get_if<NormalForm>(&step)) out = normal_form(out, *form);
    if (const auto* replace = std::get_if<Replace>(&step)) out = replaced(out, *replace);
    const auto* prefix = std::get_if<Prepend>(&step);
    if (prefix != nullptr && prepend && !out.empty()) out.insert(0, prefix->text);
  }
  return out;
}

bool TextNormalizer::marks_spaces_only() const {
  const auto marks = std::count_if(steps_.begin(), steps_.end(), marks_space);
  const auto prepends = std::count_if(steps_.begin(), steps_.end(), prepends_a_space);
  return marks == 1 && prepends <= 1 && marks + prepends == static_cast<ptrdiff_t>(steps_.size()) &&
         (prepends == 0 || marks_space(steps_.back()) ||
          std::get<Prepend>(steps_.back()).text == space_symbol);
}

bool TextNormalizer::marks_spaces() const { return std::any_of(steps_.begin(), steps_.end(), marks_space); }

bool TextNormalizer::prepends() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return std::holds_alternative<Prepend>(step); });
}

}  // namespace onceover
