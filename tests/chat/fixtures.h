// A byte-level tokeniser with ChatML's tokens, and its template.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "text/byte_level.h"
#include "text/huggingface_tokenizer.h"

namespace onceover {

using OrderedJson = nlohmann::ordered_json;

constexpr int bos = 256, eos = 257, im_start = 258, im_end = 259, user_token = 260, think = 261;

constexpr const char* chatml =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";

inline std::string chatml_tokenizer_json() {
  nlohmann::json vocab, added;
  for (size_t byte = 0; byte < 256; byte++) vocab[byte_level_alphabet()[byte]] = byte;
  for (const char* name : {"<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|user|>", "<think>"})
    added.push_back({{"id", 256 + added.size()},
                     {"content", name},
                     {"special", std::string(name) != "<think>"},
                     {"normalized", false}});
  const nlohmann::json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  return nlohmann::json({{"added_tokens", added},
                         {"pre_tokenizer", byte_level},
                         {"decoder", byte_level},
                         {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", nlohmann::json::array()}}}})
      .dump();
}

inline HuggingFaceTokenizer chatml_tokenizer(bool adds_bos = false) {
  const nlohmann::json config = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", adds_bos}};
  return {chatml_tokenizer_json(), config.dump(), "tokenizer.json"};
}

}  // namespace onceover
