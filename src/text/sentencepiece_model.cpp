// Field numbers are those of sentencepiece_model.proto.
#include "text/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "text/protobuf_wire.h"

namespace onceover {
namespace {

using Piece = SentencePieceModel::Piece;
using Type = SentencePieceModel::Type;
using Kind = SentencePieceModel::Kind;

constexpr size_t max_piece_bytes = 1024;
constexpr size_t max_pieces = size_t{1} << 22;

// Settings that are checked and not kept, with the format's own defaults.
struct Settings {
  uint64_t model_type = 1;
  bool whitespace_as_suffix = false;
  bool escape_whitespaces = true;
};

Piece parse_piece(std::string_view message, const std::string& where) {
  Piece piece;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) piece.text = field.as_bytes(where);
    if (field.number == 2) piece.score = field.as_float(where);
    if (field.number != 3) continue;
    const uint64_t type = field.as_varint(where);
    if (type < 1 || type > 6)
      throw Error("{}: piece '{}' has type {}, expected 1 to 6", where, printable(piece.text), type);
    piece.type = static_cast<Type>(type);
  }
  return piece;
}

void parse_trainer_spec(std::string_view message, const std::string& where, SentencePieceModel& model,
                        Settings& settings) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 3:
        settings.model_type = field.as_varint(where);
        break;
      case 24:
        settings.whitespace_as_suffix = field.as_varint(where) != 0;
        break;
      case 35:
        model.byte_fallback = field.as_varint(where) != 0;
        break;
      case 46:
        model.bos_piece = field.as_bytes(where);
        break;
      case 47:
        model.eos_piece = field.as_bytes(where);
        break;
      case 48:
        model.pad_piece = field.as_bytes(where);
        break;
      default:
        break;
    }
  }
}

void parse_normalizer_spec(std::string_view message, const std::string& where, SentencePieceModel& model,
                           Settings& settings) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 2:
        model.character_map = field.as_bytes(where);
        break;
      case 3:
        model.add_dummy_prefix = field.as_varint(where) != 0;
        break;
      case 4:
        model.removes_spaces = field.as_varint(where) != 0;
        break;
      case 5:
        settings.escape_whitespaces = field.as_varint(where) != 0;
        break;
      default:
        break;
    }
  }
}

Kind kind_of(const Settings& settings, const std::string& where) {
  const auto refuse = [&](const std::string& found) {
    throw Error("{}: expected a SentencePiece model of unigrams, BPE or characters, found {}", where, found);
  };
  if (settings.model_type == 3) refuse("a word model");
  if (settings.model_type < 1 || settings.model_type > 4)
    refuse(fmt::format("model type {}", settings.model_type));
  if (!settings.escape_whitespaces) refuse("escape_whitespaces = false");
  if (settings.whitespace_as_suffix) refuse("treat_whitespace_as_suffix = true");
  return static_cast<Kind>(settings.model_type);
}

void check_piece(const Piece& piece, size_t id, const std::string& where) {
  const auto refuse = [&](const char* found) {
    throw Error("{}: piece {} ('{}') {}", where, id, printable(piece.text), found);
  };
  if (piece.text.empty()) refuse("is empty");
  if (piece.text.size() > max_piece_bytes) refuse("is longer than 1024 bytes");
  if (!is_utf8(piece.text)) refuse("is not valid UTF-8");
  if (piece.text.find('\0') != std::string::npos) refuse("holds a NUL");
  if (!std::isfinite(piece.score)) refuse("has a score that is not finite");
  // The library would give a control id for this character wherever it stands in a text.
  if (piece.type == Type::Control && utf8_char_bytes(piece.text) == piece.text.size())
    refuse("is control, but one character");
}

// The byte that "<0x0A>" names; -1 for another form.
int byte_of(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const size_t high = digits.find(text[3]), low = digits.find(text[4]);
  return high == digits.npos || low == digits.npos ? -1 : static_cast<int>(high * 16 + low);
}

void check_byte_pieces(const SentencePieceModel& model, const std::string& where) {
  std::array<bool, 256> found{};
  for (const Piece& piece : model.pieces) {
    if (piece.type != Type::Byte) continue;
    if (!model.byte_fallback)
      throw Error("{}: byte piece '{}', but no byte fallback", where, printable(piece.text));
    const int byte = byte_of(piece.text);
    if (byte < 0) throw Error("{}: byte piece '{}' is not of the form <0xNN>", where, printable(piece.text));
    found[static_cast<size_t>(byte)] = true;
  }
  const auto missing = std::find(found.begin(), found.end(), false);
  if (model.byte_fallback && missing != found.end())
    throw Error("{}: byte piece <0x{:02X}> is missing", where, missing - found.begin());
}

// Without one the library would spell a space as the three bytes of U+2581.
void check_space_piece(const SentencePieceModel& model, const std::string& where) {
  const bool found = std::any_of(model.pieces.begin(), model.pieces.end(), [&](const Piece& piece) {
    const bool given = piece.type == Type::Normal || piece.type == Type::UserDefined ||
                       (piece.type == Type::Unused && model.kind != Kind::Unigram);
    return given && piece.text == "\xE2\x96\x81";
  });
  if (model.byte_fallback && !found) throw Error("{}: no piece for the space (U+2581)", where);
}

// The library collects the user-defined symbols that begin at one place into 64 slots without looking at
// their number.
void check_symbol_nesting(const SentencePieceModel& model, const std::string& where) {
  constexpr size_t most = 64;
  std::unordered_set<std::string_view> symbols;
  for (const Piece& piece : model.pieces) {
    if (piece.type == Type::UserDefined) symbols.insert(piece.text);
  }
  for (const std::string_view symbol : symbols) {
    size_t prefixes = 0;
    for (size_t length = 1; length <= symbol.size(); length++)
      prefixes += symbols.count(symbol.substr(0, length));
    if (prefixes > most) {
      throw Error("{}: more than {} user-defined symbols begin like '{}'", where, most, printable(symbol));
    }
  }
}

}  // namespace

void check_sentencepiece_pieces(const SentencePieceModel& model, const std::string& where) {
  if (model.pieces.size() > max_pieces)
    throw Error("{}: {} pieces, expected at most {}", where, model.pieces.size(), max_pieces);
  std::unordered_set<std::string_view> texts;
  size_t unknown = 0;
  for (size_t id = 0; id < model.pieces.size(); id++) {
    check_piece(model.pieces[id], id, where);
    unknown += model.pieces[id].type == Type::Unknown;
    if (texts.insert(model.pieces[id].text).second) continue;
    throw Error("{}: piece {} ('{}') occurs twice", where, id, printable(model.pieces[id].text));
  }
  if (unknown != 1) throw Error("{}: {} pieces of type unknown, expected 1", where, unknown);
  check_space_piece(model, where);
  check_byte_pieces(model, where);
  check_symbol_nesting(model, where);
}

SentencePieceModel parse_sentencepiece_model(std::string_view message, const std::string& where) {
  SentencePieceModel model;
  model.byte_fallback = false;  // the format's defaults
  model.removes_spaces = true;
  Settings settings;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) model.pieces.push_back(parse_piece(field.as_bytes(where), where));
    if (field.number == 2) parse_trainer_spec(field.as_bytes(where), where, model, settings);
    if (field.number == 3) parse_normalizer_spec(field.as_bytes(where), where, model, settings);
    if (model.pieces.size() > max_pieces) break;
  }
  model.kind = kind_of(settings, where);
  check_sentencepiece_pieces(model, where);
  return model;
}

std::string sentencepiece_message(const SentencePieceModel& model, bool dummy_prefix) {
  WireWriter message;
  for (const Piece& piece : model.pieces) {
    WireWriter one;
    one.bytes(1, piece.text);
    one.float32(2, piece.score);
    one.varint(3, static_cast<uint64_t>(piece.type));
    message.bytes(1, one.message());
  }
  WireWriter trainer;
  trainer.varint(3, static_cast<uint64_t>(model.kind));
  trainer.varint(4, model.pieces.size());
  trainer.varint(35, model.byte_fallback ? 1 : 0);
  trainer.bytes(46, model.bos_piece);
  trainer.bytes(47, model.eos_piece);
  trainer.bytes(48, model.pad_piece);
  message.bytes(2, trainer.message());
  WireWriter normalizer;
  normalizer.bytes(1, "identity");
  normalizer.varint(3, dummy_prefix ? 1 : 0);
  normalizer.varint(4, 0);
  normalizer.varint(5, 1);
  message.bytes(3, normalizer.message());
  return message.message();
}

}  // namespace onceover
