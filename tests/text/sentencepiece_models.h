// Small SentencePiece models for tests.
#pragma once
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/protobuf_wire.h"
#include "text/samples.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_trainer.h"

namespace onceover {

// A model file of these pieces, as other programs write them: with the dummy prefix as the model says.
inline std::string model_file(const SentencePieceModel& model, const WireWriter& more = {}) {
  WireWriter normalizer;
  normalizer.varint(3, model.add_dummy_prefix);
  WireWriter last;
  last.bytes(3, normalizer.message());
  return sentencepiece_message(model) + last.message() + more.message();
}

// <unk>, <s>, </s>, the 256 bytes at id 3 + byte, then "▁", "a", "▁a".
inline SentencePieceModel byte_and_a_model() {
  using Type = SentencePieceModel::Type;
  SentencePieceModel model;
  model.pieces = {{"<unk>", 0, Type::Unknown}, {"<s>", 0, Type::Control}, {"</s>", 0, Type::Control}};
  for (int byte = 0; byte < 256; byte++)
    model.pieces.push_back({fmt::format("<0x{:02X}>", byte), 0, Type::Byte});
  for (const char* text : {"▁", "a", "▁a"}) model.pieces.push_back({text, 0, Type::Normal});
  model.pieces.back().score = -1;
  return model;
}

// A table of character_map.h: every place in the tree has 256 units of its own.
struct CharacterTable {
  std::vector<uint32_t> units = std::vector<uint32_t>(512, no_byte);
  std::string replacements;

  CharacterTable(std::initializer_list<std::pair<std::string, std::string>> keys) {
    units[0] = 256 << 10;
    for (const auto& [key, replacement] : keys) add(key, replacement);
  }

  std::string bytes() const {
    const auto tree = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
    std::string table(sizeof tree + tree, '\0');
    std::memcpy(table.data(), &tree, sizeof tree);
    std::memcpy(table.data() + sizeof tree, units.data(), tree);
    return table + replacements;
  }

 private:
  static constexpr uint32_t no_byte = 0x80000001;

  void add(const std::string& key, const std::string& replacement) {
    uint32_t unit = 0;
    for (const char c : key) {
      const uint32_t byte = static_cast<unsigned char>(c), next = (unit ^ units[unit] >> 10) ^ byte;
      if (units[next] == no_byte) {
        units[next] = (next ^ static_cast<uint32_t>(units.size())) << 10 | byte;
        units.resize(units.size() + 256, no_byte);
      }
      unit = next;
    }
    units[unit] |= 0x100;
    units[unit ^ units[unit] >> 10] = 0x80000000 | static_cast<uint32_t>(replacements.size());
    replacements += replacement + '\0';
  }
};

// Fields of the normaliser, to stand behind a model_file().
inline WireWriter normalizer_fields(const std::string& table, bool removes_spaces = false) {
  WireWriter fields, outer;
  fields.bytes(2, table);
  fields.varint(4, removes_spaces ? 1 : 0);
  outer.bytes(3, fields.message());
  return outer;
}

// Trained once per program on the thirty scripts and some words.
inline const std::string& trained_model() {
  static const std::string model = [] {
    std::string text;
    for (int i = 0; i < 40; i++) {
      for (const auto& line : thirty_scripts()) text += line + "\n";
      text += "  int main() {\n    return 0;\n        }\n";
    }
    bool given = false;
    SentencePieceTraining settings;
    settings.vocab_size = 1500;
    return train_sentencepiece(settings, [&](std::string_view& stretch) {
      stretch = text;
      return !std::exchange(given, true);
    });
  }();
  return model;
}

}  // namespace onceover
