// Text to token ids and back, exactly.
//
// decode(encode(bytes)) == bytes for every byte string, valid UTF-8 or not, where is_exact(). A tokeniser
// that is not changes texts in a way that its file asks for (a normaliser), and gives the changed text back.
// encode() never gives a special token: text that looks like one ("</s>") stays text. All methods are const
// and safe to call from several threads.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_span.h"

namespace onceover {

struct SpecialTokens {
  std::optional<int> bos, eos, pad;
  bool adds_bos = true;   // a text is to begin with bos, where there is one
  std::vector<int> ends;  // what ends an answer beside eos
};

// Where a stretch of text stands. It matters only to tokenisers that put a space before a text
// (adds_leading_space).
enum class TextPosition { Start, Inside };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids are 0 .. vocab_size() - 1. An id outside is an Error in every method that takes one.
  virtual int vocab_size() const = 0;
  const SpecialTokens& specials() const { return specials_; }
  bool is_end(int id) const;
  // What the files of a model say of them. Before others use the tokeniser.
  void set_specials(SpecialTokens specials) { specials_ = std::move(specials); }

  // Appends the ids of `text`. A long text may be given in stretches, the first as Start and the others as
  // Inside: the ids decode to the same bytes, though a stretch's border is also a token's border.
  virtual void encode(std::string_view text, TextPosition position, std::vector<int>& ids) const = 0;
  std::vector<int> encode(std::string_view text) const;

  // The ids of a prompt of which a user wrote the stretches `input`, in order: special tokens are found by
  // their names, but never where a byte is the user's (prompt_encoder.h). bos is not added.
  virtual std::vector<int> encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                         TextPosition position = TextPosition::Start) const = 0;

  // The bytes of a whole text's ids. Specials give nothing.
  std::string decode(std::span<const int> ids) const;

  // The bytes that `id` adds to a text; empty for specials. Valid as long as the tokeniser.
  virtual std::string_view piece_bytes(int id) const = 0;

  // For people: "<eos>", "<0x0A>", "▁the".
  virtual std::string token_name(int id) const = 0;

  // True when encode() puts a space before a text's start and decode() takes it away again.
  virtual bool adds_leading_space() const { return false; }

  // False when encode() may change the text, or has no token for some byte: an Error when it meets one, or
  // the unknown token in a SentencePiece model, where the library gives that.
  virtual bool is_exact() const { return true; }

  // Writes what load_tokenizer() reads into an existing checkpoint directory, file by file atomically.
  virtual void save(const std::filesystem::path& directory) const = 0;

  // Equal for tokenisers that give equal ids. Stored beside token shards.
  virtual uint64_t fingerprint() const = 0;

 protected:
  int require_id(int id) const;

  SpecialTokens specials_;
};

// The tokeniser of a checkpoint directory: tokenizer.model (SentencePiece) if there, else tokenizer.json
// (bytes alone, or Hugging Face's BPE). generation_config.json and config.json add what ends an answer.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& directory);

}  // namespace onceover
