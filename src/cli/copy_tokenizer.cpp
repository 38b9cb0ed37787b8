#include "cli/copy_tokenizer.h"

#include "base/atomic_file.h"
#include "gguf/gguf_file.h"
#include "vocabulary/gguf_tokenizer.h"
#include "vocabulary/open_tokenizer.h"

namespace onceover {

void copy_tokenizer(const ModelFile& file, CheckpointWriter& writer) {
  if (file.checkpoint() != nullptr) {
    for (const std::filesystem::path& copied : file.checkpoint()->tokenizer_files()) writer.add_copy(copied);
    return;
  }
  const std::filesystem::path beside = file.path().parent_path() / "tokenizer.bin";
  if (file.kind() == "llama2.c" && std::filesystem::exists(beside))
    open_tokenizer(beside)->save(writer.folder());
  if (file.kind() != "GGUF") return;
  const GgufFile gguf(file.path());
  if (!gguf.contents().metadata.contains("tokenizer.ggml.model")) return;
  tokenizer_of_gguf(gguf.contents(), file.path().string())->save(writer.folder());
  const std::string form = chat_template_of_gguf(gguf.contents());
  if (!form.empty()) write_text_file(writer.folder() / "chat_template.jinja", form);
}

}  // namespace onceover
