// A head that is the embedding table, is not, or says one thing and holds another, in every format; and
// converted it is what it was.
#include "cli/program.h"
#include "models/as_gguf.h"
#include "models/support.h"

namespace onceover {
namespace {

struct Head {
  bool tied;     // what the config says
  bool present;  // whether the file holds one …
  bool equal;    // … and it is the table
};

class TiedHead : public ::testing::Test {
 protected:
  Official official(const Head& head) {
    form.tied = head.tied;
    Official o = llama(random, form);
    o.tensors.all.erase("lm_head.weight");
    if (head.present) o.matrix("lm_head", family_vocab, form.hidden);
    if (head.equal) o.tensors.all["lm_head.weight"] = o.tensors.all["model.embed_tokens.weight"];
    return o;
  }

  std::string saved(const Official& o) {
    const std::filesystem::path path = folder / fmt::format("hf{}", files++);
    std::filesystem::create_directory(path);
    std::ofstream(path / "config.json") << o.config.dump();
    write_tensor_files(path, o.views(), 1 << 30);
    return path.string();
  }

  std::string saved_gguf(const Official& o) {
    return write_file(folder, fmt::format("m{}.gguf", files++).c_str(), llama_as_gguf(o, form, "llama"));
  }

  // The model is tied or not, and so is what it is converted to; all logits are the same.
  void expect_head(const std::string& path, const Official& o, bool tied) {
    const std::string to = path + ".to";
    const ProgramResult result = run_program({"convert", path, to, "--dtype", "f32"});
    ASSERT_EQ(result.status, 0) << result.err;
    const std::vector<int> text = random.tokens(7, family_vocab);
    LlamaForm found = form;
    found.tied = tied;
    const straight::Rows expected = llama_logits(o.tensors, found, text);
    for (const std::string& each : {path, to}) {
      const ModelFile file(each);
      EXPECT_EQ(file.config().tie_word_embeddings, tied) << each;
      expect_logits(oracle_logits(file, text), expected);
    }
    EXPECT_EQ(TensorFiles(to).tensors().contains("lm_head.weight"), !tied);
  }

  test::FreshRandom random;
  LlamaForm form;
  TemporaryFolder folder;
  int files = 0;
};

TEST_F(TiedHead, OfACheckpointIsWhatItsConfigSays) {
  for (const Head& head : {Head{true, false, false}, Head{true, true, true}, Head{false, true, false},
                           Head{false, true, true}}) {
    const Official o = official(head);
    expect_head(saved(o), o, head.tied);
  }
  const auto refusal = [&](const Head& head) {
    const std::string path = saved(official(head));
    return run_program({"convert", path, path + ".to"}).err;
  };
  EXPECT_TRUE(contains(refusal({true, true, false}), "'lm_head.weight' differs"))
      << refusal({true, true, false});
  EXPECT_TRUE(contains(refusal({false, false, false}), "a tensor is missing: 'lm_head.weight'"));
  EXPECT_TRUE(contains(refusal({false, false, false}), "set tie_word_embeddings to true"));
}

TEST_F(TiedHead, OfAGgufIsTheTableWhenAbsentOrEqual) {
  const Official absent = official({true, false, false}), equal = official({true, true, true}),
                 other = official({false, true, false});
  expect_head(saved_gguf(absent), absent, true);
  expect_head(saved_gguf(equal), equal, true);
  expect_head(saved_gguf(other), other, false);
}

}  // namespace
}  // namespace onceover
