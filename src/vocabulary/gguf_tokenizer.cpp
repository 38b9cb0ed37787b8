#include "vocabulary/gguf_tokenizer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "text/bpe_vocabulary.h"
#include "text/huggingface_tokenizer.h"
#include "text/sentencepiece_tokenizer.h"

namespace onceover {
namespace {

using Type = SentencePieceModel::Type;

constexpr size_t max_tokens = size_t{1} << 22;

class Keys {
 public:
  Keys(const GgufContents& contents, const std::string& where)
      : metadata_(contents.metadata), where_(where) {}

  const std::string& where() const { return where_; }

  template <class T>
  const T* find(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) return nullptr;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr)
      throw Error("{}: {}: not of the expected type, but {}", where_, key,
                  gguf_type_name(gguf_type(found->second)));
    return value;
  }

  std::string text(const std::string& key, const std::string& when_absent) const {
    const auto* found = find<std::string_view>(key);
    return found == nullptr ? when_absent : std::string(*found);
  }

  bool flag(const std::string& key, bool when_absent) const {
    const bool* found = find<bool>(key);
    return found == nullptr ? when_absent : *found;
  }

  std::optional<int> id(const std::string& key, size_t tokens) const {
    const auto* found = find<uint32_t>(key);
    if (found == nullptr) return std::nullopt;
    if (*found >= tokens) throw Error("{}: {}: {} is not one of {} tokens", where_, key, *found, tokens);
    return static_cast<int>(*found);
  }

  // All elements, of that type; none for a missing key.
  template <class T>
  std::vector<T> list(const std::string& key) const {
    std::vector<T> values;
    const auto* array = find<GgufArray>(key);
    if (array == nullptr) return values;
    if (array->count > max_tokens)
      throw Error("{}: {}: {} elements, expected at most {}", where_, key, array->count, max_tokens);
    for (const GgufValue& element : elements(*array)) {
      const T* value = std::get_if<T>(&element);
      if (value == nullptr) throw Error("{}: {}: elements are not of the expected type", where_, key);
      values.push_back(*value);
    }
    return values;
  }

 private:
  const std::map<std::string_view, GgufValue>& metadata_;
  const std::string& where_;
};

// What both kinds of vocabulary have.
struct Vocabulary {
  std::vector<std::string_view> tokens;
  std::vector<Type> types;
  std::optional<int> bos, eos, eot, pad;

  bool is_control(int id) const {
    const Type type = types[static_cast<size_t>(id)];
    return type == Type::Control || type == Type::Unknown || id == bos || id == eos || id == eot || id == pad;
  }
};

// Models of a padded vocabulary fill it with "[PAD123]", which no text should find.
bool is_filler(std::string_view token, size_t id) { return token == fmt::format("[PAD{}]", id); }

Vocabulary read_vocabulary(const Keys& keys) {
  Vocabulary found{keys.list<std::string_view>("tokenizer.ggml.tokens"), {}, {}, {}, {}, {}};
  const size_t count = found.tokens.size();
  if (count == 0)
    throw Error("{}: tokenizer.ggml.tokens: expected a list of texts, found none", keys.where());
  const auto types = keys.list<int32_t>("tokenizer.ggml.token_type");
  if (!types.empty() && types.size() != count)
    throw Error("{}: tokenizer.ggml.token_type: {} types for {} tokens", keys.where(), types.size(), count);
  found.types.assign(count, Type::Normal);
  for (size_t id = 0; id < types.size(); id++) {
    if (types[id] < 0 || types[id] > 6)
      throw Error("{}: token {} has type {}, expected 1 to 6", keys.where(), id, types[id]);
    const bool filler = types[id] == 0 || is_filler(found.tokens[id], id);
    found.types[id] = filler ? Type::Unused : static_cast<Type>(types[id]);
  }
  found.bos = keys.id("tokenizer.ggml.bos_token_id", count);
  found.eos = keys.id("tokenizer.ggml.eos_token_id", count);
  found.eot = keys.id("tokenizer.ggml.eot_token_id", count);
  found.pad = keys.id("tokenizer.ggml.padding_token_id", count);
  return found;
}

std::unique_ptr<Tokenizer> sentencepiece(const Keys& keys, const Vocabulary& vocabulary) {
  const auto scores = keys.list<float>("tokenizer.ggml.scores");
  if (scores.size() != vocabulary.tokens.size())
    throw Error("{}: tokenizer.ggml.scores: {} scores for {} tokens", keys.where(), scores.size(),
                vocabulary.tokens.size());
  if (keys.flag("tokenizer.ggml.remove_extra_whitespaces", false) ||
      keys.find<GgufArray>("tokenizer.ggml.precompiled_charsmap") != nullptr)
    throw Error(
        "{}: tokenizer.ggml: a vocabulary that changes the text (remove_extra_whitespaces, "
        "precompiled_charsmap) is not supported",
        keys.where());
  SentencePieceModel model;
  for (size_t id = 0; id < scores.size(); id++) {
    Type type = vocabulary.types[id];
    if (vocabulary.is_control(static_cast<int>(id)) && type != Type::Unknown) type = Type::Control;
    model.pieces.push_back({std::string(vocabulary.tokens[id]), scores[id], type});
  }
  const auto name = [&](std::optional<int> id, std::string& piece) {
    if (id) piece = vocabulary.tokens[static_cast<size_t>(*id)];
  };
  name(vocabulary.bos, model.bos_piece);
  name(vocabulary.eos, model.eos_piece);
  name(vocabulary.pad, model.pad_piece);
  model.add_dummy_prefix = keys.flag("tokenizer.ggml.add_space_prefix", true);
  check_sentencepiece_pieces(model, keys.where());
  return std::make_unique<SentencePieceTokenizer>(sentencepiece_message(model, model.add_dummy_prefix),
                                                  keys.where());
}

std::string split_name(const Keys& keys) {
  const std::string name = keys.text("tokenizer.ggml.pre", "");
  const std::string kind = keys.text("general.architecture", "");
  if (kind == "gptneox" && (name.empty() || name == "gpt-2")) return "gpt-neox";
  if (kind == "gpt2" && name.empty()) return "gpt-2";
  if (name.empty())
    throw Error("{}: tokenizer.ggml.pre is missing: how text is cut is not known", keys.where());
  return name;
}

std::unique_ptr<Tokenizer> byte_level_bpe(const Keys& keys, const Vocabulary& vocabulary) {
  BpeVocabulary bpe;
  bpe.split = split_name(keys);
  if (!is_known_split(bpe.split))
    throw Error("{}: tokenizer.ggml.pre: '{}' is not supported; known are {}", keys.where(),
                printable(bpe.split), fmt::join(known_splits(), ", "));
  for (size_t id = 0; id < vocabulary.tokens.size(); id++) {
    const std::string token(vocabulary.tokens[id]);
    const bool control = vocabulary.is_control(static_cast<int>(id));
    const bool added = control || vocabulary.types[id] == Type::UserDefined;
    bpe.tokens.push_back(added ? "" : token);
    if (added) bpe.added.push_back({.id = static_cast<int>(id), .content = token, .special = control});
  }
  for (const std::string_view line : keys.list<std::string_view>("tokenizer.ggml.merges")) {
    const size_t space = line.find(' ', 1);
    if (space == std::string_view::npos)
      throw Error("{}: tokenizer.ggml.merges: expected two texts, found '{}'", keys.where(), printable(line));
    bpe.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  bpe.bos = vocabulary.bos;
  bpe.eos = vocabulary.eos;
  bpe.pad = vocabulary.pad;
  TokenizerFiles files = tokenizer_files(bpe, keys.where());
  return std::make_unique<HuggingFaceTokenizer>(std::move(files.tokenizer), std::move(files.config),
                                                keys.where());
}

}  // namespace

std::unique_ptr<Tokenizer> tokenizer_of_gguf(const GgufContents& contents, const std::string& where) {
  const Keys keys(contents, where);
  const std::string model = keys.text("tokenizer.ggml.model", "");
  if (model.empty()) throw Error("{}: tokenizer.ggml.model is missing: the file has no tokeniser", where);
  if (model != "llama" && model != "gpt2")
    throw Error("{}: tokenizer.ggml.model: '{}' is not supported; known are llama, gpt2", where,
                printable(model));
  const Vocabulary vocabulary = read_vocabulary(keys);
  auto tokenizer = model == "llama" ? sentencepiece(keys, vocabulary) : byte_level_bpe(keys, vocabulary);
  SpecialTokens specials = tokenizer->specials();
  specials.adds_bos = keys.flag("tokenizer.ggml.add_bos_token", model == "llama");
  if (vocabulary.eot) specials.ends.push_back(*vocabulary.eot);
  tokenizer->set_specials(specials);
  return tokenizer;
}

std::string chat_template_of_gguf(const GgufContents& contents) {
  return Keys(contents, "").text("tokenizer.chat_template", "");
}

}  // namespace onceover
