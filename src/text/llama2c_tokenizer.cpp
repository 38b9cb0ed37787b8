#include "text/llama2c_tokenizer.h"

#include <cstring>

#include "base/error.h"
#include "base/printable.h"

namespace onceover {
namespace {

using Type = SentencePieceModel::Type;

constexpr int bos_id = 1;
constexpr size_t first_byte = 3, first_piece = 259;

template <class T>
T take(std::string_view& file, const std::string& where) {
  T value;
  if (file.size() < sizeof value)
    throw Error("{}: ends within a token: expected {} more bytes, found {}", where, sizeof value,
                file.size());
  std::memcpy(&value, file.data(), sizeof value);
  file.remove_prefix(sizeof value);
  return value;
}

Type type_of(size_t id) {
  if (id == 0) return Type::Unknown;
  if (id < first_byte) return Type::Control;
  return id < first_piece ? Type::Byte : Type::Normal;
}

std::string piece_text(std::string_view written, Type type) {
  if (type == Type::Control && written.starts_with('\n') && written.ends_with('\n') && written.size() > 2)
    written = written.substr(1, written.size() - 2);
  std::string text;
  for (const char c : written) {
    if (c == ' ') {
      text += "\xE2\x96\x81";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

SentencePieceTokenizer tokenizer_of_llama2c(std::string_view file, const std::string& where) {
  const auto longest = take<uint32_t>(file, where);
  SentencePieceModel model;
  while (!file.empty()) {
    const auto score = take<float>(file, where);
    const auto length = take<uint32_t>(file, where);
    if (length > longest || length > file.size())
      throw Error("{}: token {} says {} bytes; the longest says {}, {} follow", where, model.pieces.size(),
                  length, longest, file.size());
    const Type type = type_of(model.pieces.size());
    model.pieces.push_back({piece_text(file.substr(0, length), type), score, type});
    file.remove_prefix(length);
  }
  if (model.pieces.size() < first_piece)
    throw Error("{}: {} tokens, expected at least {}", where, model.pieces.size(), first_piece);
  model.bos_piece = model.pieces[1].text;
  model.eos_piece = model.pieces[2].text;
  check_sentencepiece_pieces(model, where);
  SentencePieceTokenizer tokenizer(sentencepiece_message(model, model.add_dummy_prefix), where);
  SpecialTokens specials = tokenizer.specials();
  specials.ends = {bos_id};
  tokenizer.set_specials(std::move(specials));
  return tokenizer;
}

}  // namespace onceover
