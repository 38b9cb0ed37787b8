#include "data/train_tokenizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

TEST(TrainTokenizer, GivesTheSameTokeniserFromTheSameFiles) {
  const Folder in, out, again;
  for (int i = 0; i < 30; i++)
    in.write(fmt::format("{}.txt", i), thirty_scripts()[static_cast<size_t>(i)] + "\n" + thirty_scripts()[0]);
  TokenizerTraining options;
  options.corpus.inputs = {in.path()};
  options.settings.vocab_size = 700;
  options.output = out.path() / "deep" / "er";
  const auto tokenizer = train_tokenizer(options);
  EXPECT_EQ(load_tokenizer(options.output)->fingerprint(), tokenizer->fingerprint());
  options.output = again.path();
  options.settings.threads = 1;
  EXPECT_EQ(train_tokenizer(options)->fingerprint(), tokenizer->fingerprint());
  const std::string text = "All human beings\n\x80";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

TEST(TrainTokenizer, ThinsALargeCorpusAllOverIt) {
  const Folder in, out;
  std::string lines;
  for (int i = 0; i < 200000; i++) lines += i < 100000 ? "early words here\n" : "later things there\n";
  in.write("1.txt", lines);
  TokenizerTraining options;
  options.corpus.inputs = {in.path()};
  options.settings.vocab_size = 400;
  options.max_bytes = 300000;
  options.output = out.path();
  const auto tokenizer = train_tokenizer(options);
  EXPECT_EQ(tokenizer->encode(" words").size(), 1u);
  EXPECT_EQ(tokenizer->encode(" things").size(), 1u);
}

TEST(TrainTokenizer, RefusesACorpusWithoutText) {
  const Folder in, out;
  TokenizerTraining options;
  options.corpus.inputs = {in.path()};
  options.output = out.path();
  EXPECT_THROW(train_tokenizer(options), Error);
  in.write("1.txt", "");
  EXPECT_THROW(train_tokenizer(options), Error);
}

}  // namespace
}  // namespace onceover
