#include "text/bpe_vocabulary.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/utf8.h"

namespace onceover {
namespace {

using Json = nlohmann::ordered_json;

// How one family cuts text; the pattern is empty where it is GPT-2's.
struct Split {
  const char* name;
  std::string_view pattern;
  bool digits_alone, ignore_merges, nfc;
};

#define ONCEOVER_WORDS R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)"
#define ONCEOVER_REST R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
constexpr std::string_view llama3 = ONCEOVER_WORDS R"(\p{N}{1,3})" ONCEOVER_REST;
constexpr std::string_view qwen2 = ONCEOVER_WORDS R"(\p{N})" ONCEOVER_REST;
#undef ONCEOVER_WORDS
#undef ONCEOVER_REST
constexpr std::string_view o200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array splits{
    Split{"gpt-2", "", false, false, false},       Split{"phi-2", "", false, false, false},
    Split{"mpt", "", false, false, false},         Split{"olmo", "", false, false, true},
    Split{"gpt-neox", "", false, false, true},     Split{"starcoder", "", true, false, false},
    Split{"smollm", "", true, false, false},       Split{"refact", "", true, false, false},
    Split{"command-r", "", true, false, true},     Split{"llama-bpe", llama3, false, true, false},
    Split{"llama3", llama3, false, true, false},   Split{"llama-v3", llama3, false, true, false},
    Split{"dbrx", llama3, false, false, false},    Split{"smaug-bpe", llama3, false, true, false},
    Split{"qwen2", qwen2, false, false, true},     Split{"deepseek-r1-qwen", qwen2, false, false, true},
    Split{"stablelm2", qwen2, false, false, true}, Split{"gpt-4o", o200k, false, false, false},
    Split{"cl100k", llama3, false, false, false},
};

const Split* find_split(const std::string& name) {
  const auto found =
      std::find_if(splits.begin(), splits.end(), [&](const Split& one) { return name == one.name; });
  return found == splits.end() ? nullptr : &*found;
}

Json pre_tokenizer(const Split& split) {
  Json steps = Json::array();
  if (split.digits_alone) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (!split.pattern.empty())
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", split.pattern}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back({{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", split.pattern.empty()}});
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

Json added_json(const AddedToken& token) {
  return {{"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
          {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
          {"special", token.special}};
}

void require_utf8(const std::string& text, const std::string& where) {
  if (!is_utf8(text)) throw Error("{}: token '{}' is not UTF-8", where, printable(text));
}

Json model_json(const BpeVocabulary& vocabulary, const Split& split, const std::string& where) {
  Json merges = Json::array();
  Json::object_t vocab;  // members in order; they are not looked up by name, which takes a time that grows
  std::unordered_set<std::string_view> seen;
  for (size_t id = 0; id < vocabulary.tokens.size(); id++) {
    const std::string& token = vocabulary.tokens[id];
    require_utf8(token, where);
    if (token.empty()) continue;
    if (!seen.insert(token).second) throw Error("{}: token '{}' occurs twice", where, printable(token));
    vocab.emplace_back(token, id);
  }
  for (const auto& [left, right] : vocabulary.merges) {
    require_utf8(left, where);
    require_utf8(right, where);
    merges.push_back({left, right});
  }
  return {{"type", "BPE"},
          {"ignore_merges", split.ignore_merges},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

std::string name_of(const BpeVocabulary& vocabulary, int id, const std::string& where) {
  for (const AddedToken& token : vocabulary.added) {
    if (token.id == id) return token.content;
  }
  const auto at = static_cast<size_t>(id);
  if (id < 0 || at >= vocabulary.tokens.size() || vocabulary.tokens[at].empty())
    throw Error("{}: special token {} is not in the vocabulary", where, id);
  return vocabulary.tokens[at];
}

}  // namespace

bool is_known_split(const std::string& name) { return find_split(name) != nullptr; }

std::vector<std::string> known_splits() {
  std::vector<std::string> names;
  for (const Split& split : splits) names.emplace_back(split.name);
  return names;
}

TokenizerFiles tokenizer_files(const BpeVocabulary& vocabulary, const std::string& where) {
  const Split* split = find_split(vocabulary.split);
  if (split == nullptr)
    throw Error("{}: pre-tokeniser '{}' is not supported; known are {}", where, printable(vocabulary.split),
                fmt::join(known_splits(), ", "));
  Json added = Json::array();
  for (const AddedToken& token : vocabulary.added) {
    require_utf8(token.content, where);
    added.push_back(added_json(token));
  }
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  Json file = {{"version", "1.0"}, {"added_tokens", added}};
  file["normalizer"] = split->nfc ? Json({{"type", "NFC"}}) : Json();
  file["pre_tokenizer"] = pre_tokenizer(*split);
  file["decoder"] = byte_level;
  file["model"] = model_json(vocabulary, *split, where);
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"add_bos_token", vocabulary.adds_bos}};
  if (vocabulary.bos) config["bos_token"] = name_of(vocabulary, *vocabulary.bos, where);
  if (vocabulary.eos) config["eos_token"] = name_of(vocabulary, *vocabulary.eos, where);
  if (vocabulary.pad) config["pad_token"] = name_of(vocabulary, *vocabulary.pad, where);
  return {file.dump() + "\n", config.dump(2) + "\n"};
}

}  // namespace onceover
