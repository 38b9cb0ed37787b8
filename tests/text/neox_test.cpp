// The tokeniser of GPT-NeoX, where a checkout has it in a folder "shared" beside it or further up.
#include <gtest/gtest.h>

#include "support/places.h"
#include "text/huggingface_files.h"

namespace onceover {
namespace {

std::filesystem::path neox_file() {
  for (auto folder = test::source_folder(); folder.has_relative_path(); folder = folder.parent_path()) {
    const auto file = folder / "shared/data/tokenizers/20B_tokenizer.json";
    if (std::filesystem::exists(file)) return file;
  }
  return {};
}

// Ids from the Hugging Face library.
TEST(NeoXTokenizer, GivesTheIdsOfItsLibrary) {
  const auto file = neox_file();
  if (file.empty()) GTEST_SKIP() << "no 20B_tokenizer.json";
  const auto tokenizer = HuggingFaceTokenizer::load(file);
  EXPECT_EQ(tokenizer.encode("Hello world, it's 1234!\n\n    def f(x):  # ✅ e\u0301"),
            (Ids{12092, 1533, 13, 352,  434,   1249, 1706, 2,   535, 50274, 1545,
                 269,   9,    89, 2262, 50276, 4,    3384, 239, 216, 3974}));
  EXPECT_EQ(tokenizer.encode_prompt("<|endoftext|>x", {}), (Ids{0, 89}));
  EXPECT_FALSE(tokenizer.is_exact());
}

}  // namespace
}  // namespace onceover
