#include "text/huggingface_json.h"

#include <algorithm>

#include "base/json.h"
#include "text/json_reader.h"

namespace onceover {
namespace {

constexpr int max_id = 1 << 24;
constexpr std::string_view space_symbol = "\xE2\x96\x81";

void place(HuggingFaceJson& file, const std::string& name, int id, const std::string& where) {
  const auto index = static_cast<size_t>(id);
  if (index >= file.names.size()) file.names.resize(index + 1);
  if (!file.names[index].empty() && file.names[index] != name)
    throw Error("{}: tokens '{}' and '{}' both have id {}", where, printable(file.names[index]),
                printable(name), id);
  const auto [known, is_new] = file.ids.emplace(name, id);
  if (!is_new && known->second != id)
    throw Error("{}: token '{}' has the ids {} and {}", where, printable(name), known->second, id);
  file.names[index] = name;
}

// Ids first: names are only made room for when no id is far beyond the number of tokens.
void read_vocabulary(HuggingFaceJson& file, const JsonReader& vocab, const JsonReader& added) {
  if (!vocab.json().is_object()) throw Error("{}: expected an object", vocab.where());
  const size_t tokens = vocab.json().size() + added.json().size();
  const int limit = static_cast<int>(std::min<size_t>(tokens + HuggingFaceJson::max_holes, max_id));
  for (const auto& [name, id] : vocab.json().items()) {
    const JsonReader reader(id, fmt::format("{}['{}']", vocab.where(), printable(name)));
    if (!name.empty()) place(file, name, reader.number(limit), vocab.where());
  }
  for (const AddedToken& token : file.added) {
    if (token.id > limit) throw Error("{}: id {} is beyond {}", added.where(), token.id, limit);
    place(file, token.content, token.id, added.where());
  }
  if (file.names.empty()) throw Error("{}: expected tokens, found none", vocab.where());
}

AddedToken read_added_token(const JsonReader& json) {
  AddedToken token;
  token.id = json.member("id").number(max_id);
  token.content = json.member("content").text();
  token.special = json.flag("special", false);
  token.normalized = json.flag("normalized", !token.special);
  token.single_word = json.flag("single_word", false);
  token.lstrip = json.flag("lstrip", false);
  token.rstrip = json.flag("rstrip", false);
  if (token.content.empty() || token.content.size() > AddedToken::max_bytes)
    throw Error("{}.content: expected 1 to {} bytes, found {}", json.where(), AddedToken::max_bytes,
                token.content.size());
  return token;
}

void require_unique(const std::vector<AddedToken>& added, const std::string& where) {
  std::unordered_map<std::string_view, int> seen;
  for (const AddedToken& token : added) {
    if (!seen.emplace(token.content, token.id).second)
      throw Error("{}: token '{}' occurs twice", where, printable(token.content));
  }
}

int id_of(const HuggingFaceJson& file, const std::string& name, const std::string& where) {
  const auto known = file.ids.find(name);
  if (known == file.ids.end()) throw Error("{}: '{}' is not in the vocabulary", where, printable(name));
  return known->second;
}

std::pair<std::string, std::string> read_pair(const JsonReader& json) {
  if (json.json().is_array()) {
    const auto parts = json.list();
    if (parts.size() != 2) throw Error("{}: expected two texts, found {}", json.where(), parts.size());
    return {parts[0].text(), parts[1].text()};
  }
  const std::string& line = json.text();
  const size_t space = line.find(' ');
  if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
    throw Error("{}: expected two texts with a space between, found '{}'", json.where(), printable(line));
  return {line.substr(0, space), line.substr(space + 1)};
}

BpeMerges::Merge read_merge(const HuggingFaceJson& file, const JsonReader& json) {
  const auto [left, right] = read_pair(json);
  return {id_of(file, left, json.where()), id_of(file, right, json.where()),
          id_of(file, left + right, json.where())};
}

void require_absent(const JsonReader& model, const char* key) {
  if (!model.has(key)) return;
  const JsonReader value = model.member(key);
  const auto& json = value.json();
  const bool neutral = json == "" || (json.is_number() && json == 0);
  if (!neutral) value.refuse(fmt::format("{} {}", key, printable(json.dump(), 40)));
}

void require_byte_level_decoder(const JsonReader& decoder) {
  const std::string type = decoder.type();
  if (type == "ByteLevel") return;
  if (type != "Sequence") decoder.refuse(fmt::format("decoder '{}' with ByteLevel", type));
  for (const JsonReader& step : decoder.member("decoders").list()) require_byte_level_decoder(step);
}

// Of the form that llama's conversions have: Replace "▁" by a space, ByteFallback, Fuse, Strip a space.
void require_fallback_decoder(const JsonReader& decoder, const TextNormalizer& normalizer) {
  const std::string type = decoder.type();
  if (type == "Sequence") {
    for (const JsonReader& step : decoder.member("decoders").list())
      require_fallback_decoder(step, normalizer);
  } else if (type == "Replace") {
    const JsonReader pattern = decoder.member("pattern");
    const bool spaces = pattern.has("String") && pattern.member("String").text() == space_symbol &&
                        decoder.member("content").text() == " ";
    if (!spaces || !normalizer.marks_spaces())
      decoder.refuse("a decoder that does not undo the normaliser's Replace");
  } else if (type == "Strip") {
    const bool one_space = decoder.member("content").text() == " " &&
                           decoder.member("start").number(8) == 1 && decoder.member("stop").number(8) == 0;
    if (!one_space || !normalizer.prepends())
      decoder.refuse("a decoder that does not undo the normaliser's Prepend");
  } else if (type != "ByteFallback" && type != "Fuse") {
    decoder.refuse(fmt::format("decoder '{}' with byte fallback", type));
  }
}

void read_model(HuggingFaceJson& file, const JsonReader& model, const JsonReader& added) {
  const std::string type = model.has("type") ? model.type() : "BPE";  // older files leave it out
  if (type != "BPE") model.refuse(fmt::format("model type '{}'", type));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    require_absent(model, key);
  file.ignore_merges = model.flag("ignore_merges", false);
  file.byte_fallback = model.flag("byte_fallback", false);
  if (model.has("unk_token")) file.unknown = model.member("unk_token").text();
  read_vocabulary(file, model.member("vocab"), added);
  for (const JsonReader& merge : model.member("merges").list())
    file.merges.push_back(read_merge(file, merge));
}

void read_steps(HuggingFaceJson& file, const JsonReader& root) {
  if (root.has("normalizer")) file.normalizer = TextNormalizer(root.member("normalizer"));
  if (root.has("pre_tokenizer")) file.pre_tokenizer = PreTokenizer(root.member("pre_tokenizer"));
  if (!file.pre_tokenizer.byte_level() && !file.byte_fallback)
    root.refuse("a BPE model with neither a ByteLevel pre-tokeniser nor byte_fallback");
  if (!root.has("decoder")) return;
  const JsonReader decoder = root.member("decoder");
  if (file.pre_tokenizer.byte_level()) {
    require_byte_level_decoder(decoder);
  } else {
    require_fallback_decoder(decoder, file.normalizer);
  }
}

// The token that the template for one text begins with; of a Sequence, that of the first step with one.
std::string first_token(const JsonReader& processor) {
  const std::string type = processor.type();
  if (type == "Sequence") {
    for (const JsonReader& step : processor.member("processors").list()) {
      std::string found = first_token(step);
      if (!found.empty()) return found;
    }
  }
  if (type != "TemplateProcessing") return "";
  const auto pieces = processor.member("single").list();
  if (pieces.empty() || !pieces[0].has("SpecialToken")) return "";
  return pieces[0].member("SpecialToken").member("id").text();
}

}  // namespace

HuggingFaceJson parse_huggingface_json(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  const JsonReader root(json, where);
  const nlohmann::json none = nlohmann::json::array();
  const JsonReader added = root.has("added_tokens") ? root.member("added_tokens") : JsonReader(none, where);
  HuggingFaceJson file;
  for (const JsonReader& token : added.list()) file.added.push_back(read_added_token(token));
  require_unique(file.added, added.where());
  read_model(file, root.member("model"), added);
  read_steps(file, root);
  if (root.has("post_processor")) file.first = first_token(root.member("post_processor"));
  return file;
}

}  // namespace onceover
