#include "text/pre_tokenizer.h"

namespace onceover {
namespace {

constexpr size_t max_steps = 16;

// Of GPT-2.
constexpr std::string_view byte_level_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

SplitPattern pattern_of(const JsonReader& json) {
  const JsonReader pattern = json.member("pattern");
  if (pattern.has("Regex")) return SplitPattern::regex(pattern.member("Regex").text(), pattern.where());
  return SplitPattern::literal(pattern.member("String").text(), pattern.where());
}

}  // namespace

PreTokenizer::PreTokenizer(const JsonReader& json) { add(json); }

void PreTokenizer::add(const JsonReader& json) {
  const std::string type = json.type();
  if (byte_level_) json.refuse("a pre-tokeniser after ByteLevel");
  if (steps_.size() >= max_steps)
    json.refuse(fmt::format("a pre-tokeniser of more than {} steps", max_steps));
  if (type == "Sequence") {
    for (const JsonReader& step : json.member("pretokenizers").list()) add(step);
  } else if (type == "ByteLevel") {
    add_byte_level(json);
  } else if (type == "Split") {
    add_split(json);
  } else if (type == "Digits") {
    steps_.push_back(
        {SplitPattern::regex(json.flag("individual_digits", false) ? "\\p{N}" : "\\p{N}+", json.where())});
  } else {
    json.refuse(fmt::format("pre-tokeniser '{}'", type));
  }
}

void PreTokenizer::add_split(const JsonReader& json) {
  const std::string behavior = json.member("behavior").text();
  const bool invert = json.flag("invert", false);
  Keep keep = Keep::All;
  if (behavior == "Removed") {
    keep = invert ? Keep::Matched : Keep::Unmatched;
    removes_ = true;
  } else if (behavior != "Isolated") {
    json.refuse(fmt::format("behaviour '{}' of a Split", behavior));
  }
  steps_.push_back({pattern_of(json), keep});
}

void PreTokenizer::add_byte_level(const JsonReader& json) {
  byte_level_ = true;
  adds_prefix_space_ = json.flag("add_prefix_space", true);
  prefix_step_ = steps_.size();
  if (json.flag("use_regex", true)) steps_.push_back({SplitPattern::regex(byte_level_pattern, json.where())});
}

void PreTokenizer::run(size_t step, std::string_view text, bool prefix, const Word& word) const {
  if (adds_prefix_space_ && step == prefix_step_ && prefix && !text.starts_with(' ')) {
    const std::string spaced = std::string(1, ' ').append(text);
    return run(step, spaced, false, word);
  }
  if (step == steps_.size()) return word(text);
  const SplitPattern& pattern = steps_[step].pattern;
  const Keep keep = steps_[step].keep;
  pattern.split(text, [&](std::string_view piece, bool matched) {
    if (keep == Keep::All || (keep == Keep::Matched) == matched) run(step + 1, piece, prefix, word);
  });
}

}  // namespace onceover
