// Small SentencePiece models for tests.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <string>

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
