#include "vocabulary/open_tokenizer.h"

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/sniff.h"
#include "text/byte_tokenizer.h"
#include "text/huggingface_tokenizer.h"
#include "text/llama2c_tokenizer.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/tiktoken.h"
#include "vocabulary/gguf_tokenizer.h"

namespace onceover {
namespace {

template <class T>
std::unique_ptr<Tokenizer> owned(T tokenizer) {
  return std::make_unique<T>(std::move(tokenizer));
}

[[noreturn]] void refuse(const std::filesystem::path& path) {
  const MappedFile file(path);
  throw Error(
      "{}: expected a tokeniser (a folder, tokenizer.json, .model, .gguf, .tiktoken or .bin), found {}",
      path.string(), describe_file(file.bytes()));
}

std::unique_ptr<Tokenizer> open_file(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".json" && ByteTokenizer::wrote(path)) return owned(ByteTokenizer::load(path));
  if (extension == ".json") return owned(HuggingFaceTokenizer::load(path));
  if (extension == ".model") return owned(SentencePieceTokenizer::load(path));
  if (extension == ".gguf") return tokenizer_of_gguf(GgufFile(path).contents(), path.string());
  if (extension == ".tiktoken")
    return owned(tokenizer_of_tiktoken(read_text_file(path, max_tiktoken_bytes), "", path.string()));
  if (extension == ".bin")
    return owned(tokenizer_of_llama2c(read_text_file(path, max_llama2c_bytes), path.string()));
  refuse(path);
}

// What the file is instead, where its first bytes tell; empty otherwise.
std::string what_else(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string looks = describe_bytes(file.bytes());
  for (const char* usual : {"plain text", "JSON text", "binary data of no known format"})
    if (looks == usual) return "";
  return looks;
}

}  // namespace

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return load_tokenizer(path);
  try {
    return open_file(path);
  } catch (const Error& error) {
    const std::string message = error.what(), looks = what_else(path);
    if (looks.empty() || message.find(looks) != message.npos) throw;
    throw Error("{} (this looks like {})", message, looks);
  }
}

}  // namespace onceover
