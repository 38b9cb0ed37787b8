// One token a byte: id = byte value, then the specials <bos>, <eos>, <pad>, as far as wanted, from id 256 on.
//
// On disk: tokenizer.json, which the Hugging Face libraries read as a byte-level BPE without merges, and
// tokenizer_config.json, which tells them the names of the specials.
#pragma once
#include "text/prompt_encoder.h"
#include "text/tokenizer.h"

namespace onceover {

class ByteTokenizer : public Tokenizer {
 public:
  struct Wanted {
    bool bos = true, eos = true, pad = true;
  };
  explicit ByteTokenizer(Wanted wanted = {true, true, true});

  // True when load() takes the file.
  static bool wrote(const std::filesystem::path& file);

  // Reads a tokenizer.json as save() writes it; anything that would mean other ids is an Error.
  static ByteTokenizer load(const std::filesystem::path& file);

  int vocab_size() const override { return 256 + static_cast<int>(names_.size()); }
  using Tokenizer::encode;
  void encode(std::string_view text, TextPosition position, std::vector<int>& ids) const override;
  std::vector<int> encode_prompt(std::string_view text, std::span<const ByteSpan> input,
                                 TextPosition position) const override;
  std::string_view piece_bytes(int id) const override;
  std::string token_name(int id) const override;
  void save(const std::filesystem::path& directory) const override;
  uint64_t fingerprint() const override;

 private:
  std::vector<std::string> names_;  // of ids 256 ..
  PromptEncoder prompts_;
};

}  // namespace onceover
