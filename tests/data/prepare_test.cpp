#include "data/prepare.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "data/token_stream.h"
#include "support/child_process.h"
#include "text/byte_tokenizer.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

const ByteTokenizer tokenizer;

// Files of random text, some empty, one longer than a stretch.
void write_corpus(const Folder& folder, unsigned seed, int files = 60) {
  std::mt19937 random(seed);
  for (int i = 0; i < files; i++) {
    folder.write(fmt::format("{}/{}.txt", i % 7, i), random_text(random, static_cast<int>(random() % 60)));
  }
  folder.write("long.txt", std::string(5000000, 'x') + "\nend");
}

PrepareOptions options_for(const Folder& in, const std::filesystem::path& out) {
  PrepareOptions options;
  options.corpus.inputs = {in.path()};
  options.output = out;
  options.shard_source_bytes = 2000;
  options.threads = 2;
  options.held_out.fraction = 0.2;
  return options;
}

std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename().string()] = read_bytes(entry.path());
  }
  return files;
}

// The documents of a split, cut at the ends that the shards record.
std::vector<std::string> documents_of(const std::filesystem::path& folder, const std::string& split) {
  const auto stream = TokenStream::open({folder}, {split, false, 0, {}});
  std::vector<std::string> documents;
  uint64_t begin = 0;
  for (const uint64_t end : stream.document_ends(0, stream.size())) {
    std::vector<int32_t> tokens(end - begin);
    stream.read(begin, tokens);
    EXPECT_EQ(tokens.back(), *tokenizer.specials().eos);
    documents.push_back(tokenizer.decode(tokens));
    begin = end;
  }
  EXPECT_EQ(begin, stream.size());
  return documents;
}

std::multiset<std::string> all_of(const std::vector<std::string>& documents) {
  return {documents.begin(), documents.end()};
}

TEST(Prepare, EveryDocumentIsInExactlyOneSplitWhole) {
  const Folder in, out;
  write_corpus(in, fresh_seed());
  const ShardSet set = prepare_shards(tokenizer, options_for(in, out.path()));
  auto found = all_of(documents_of(out.path(), "train"));
  const auto held = documents_of(out.path(), "heldout");
  EXPECT_GT(held.size(), 0u);
  EXPECT_EQ(set.held_out.documents(), held.size());
  found.insert(held.begin(), held.end());
  std::multiset<std::string> expected;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in.path())) {
    if (!entry.is_regular_file() || entry.file_size() == 0) continue;
    expected.insert(read_bytes(entry.path()));
  }
  EXPECT_EQ(found, expected);
}

TEST(Prepare, TheNumberOfThreadsChangesNothing) {
  const Folder in, one, three;
  write_corpus(in, fresh_seed());
  auto options = options_for(in, one.path());
  options.threads = 1;
  prepare_shards(tokenizer, options);
  options.output = three.path();
  options.threads = 3;
  prepare_shards(tokenizer, options);
  EXPECT_GT(files_in(one.path()).size(), 10u);
  EXPECT_EQ(files_in(one.path()), files_in(three.path()));
}

TEST(Prepare, TheHeldOutSetDoesNotDependOnTheShards) {
  const Folder in, small, large;
  write_corpus(in, fresh_seed());
  auto options = options_for(in, small.path());
  prepare_shards(tokenizer, options);
  options.output = large.path();
  options.shard_source_bytes = 1 << 20;
  prepare_shards(tokenizer, options);
  EXPECT_EQ(documents_of(small.path(), "heldout"), documents_of(large.path(), "heldout"));
}

TEST(Prepare, EveryNthDocumentCanBeHeldOut) {
  const Folder in, out;
  in.write("lines.txt", "0\n1\n\n2\n3\n4\n5\n6");
  auto options = options_for(in, out.path());
  options.corpus.separator = "\n";
  options.held_out = {0, 3, 0};
  prepare_shards(tokenizer, options);
  EXPECT_EQ(documents_of(out.path(), "heldout"), (std::vector<std::string>{"2", "5"}));
  EXPECT_EQ(documents_of(out.path(), "train"), (std::vector<std::string>{"0", "1", "3", "4", "6"}));
}

TEST(Prepare, DocumentsArePackedWithEosAndBosWhereWanted) {
  const Folder in, out;
  in.write("lines.txt", "ab\nc\n");
  auto options = options_for(in, out.path());
  options.corpus.separator = "\n";
  options.held_out.fraction = 0;
  options.bos = true;
  prepare_shards(tokenizer, options);
  const auto stream = TokenStream::open({out.path()});
  std::vector<int32_t> tokens(stream.size());
  stream.read(0, tokens);
  EXPECT_EQ(tokens, (std::vector<int32_t>{256, 'a', 'b', 257, 256, 'c', 257}));
}

// Runs prepare in a child that is killed after `units` units.
void prepare_and_die(PrepareOptions options, size_t units) {
  options.progress = [units](const PrepareProgress& progress) {
    if (progress.units >= units) kill(getpid(), SIGKILL);
  };
  const ChildEnd end = fork_and_wait([&] {
    prepare_shards(tokenizer, options);
    return "finished";
  });
  ASSERT_EQ(end.signal, SIGKILL) << end.message;
}

TEST(Prepare, GoesOnAfterAKillAndEndsWithTheSameFiles) {
  const Folder in, straight, killed;
  write_corpus(in, fresh_seed());
  prepare_shards(tokenizer, options_for(in, straight.path()));
  auto options = options_for(in, killed.path());
  prepare_and_die(options, 2);
  prepare_and_die(options, 5);
  EXPECT_FALSE(std::filesystem::exists(killed.path() / "meta.json"));
  EXPECT_THROW(TokenStream::open({killed.path()}), Error);
  PrepareProgress first;
  options.progress = [&](const PrepareProgress& progress) {
    if (first.units_in_all == 0) first = progress;
  };
  prepare_shards(tokenizer, options);
  EXPECT_GE(first.units_resumed, 5u);
  EXPECT_EQ(first.units, first.units_resumed);
  EXPECT_EQ(files_in(killed.path()), files_in(straight.path()));
}

TEST(Prepare, AShardDamagedBetweenRunsIsMadeAgain) {
  const Folder in, straight, killed;
  write_corpus(in, fresh_seed());
  prepare_shards(tokenizer, options_for(in, straight.path()));
  const auto options = options_for(in, killed.path());
  prepare_and_die(options, 5);
  for (const auto& [name, bytes] : files_in(killed.path())) {
    if (name.ends_with(".bin")) {
      killed.write(name, bytes.substr(0, bytes.size() / 2));
      break;
    }
  }
  prepare_shards(tokenizer, options);
  EXPECT_EQ(files_in(killed.path()), files_in(straight.path()));
}

TEST(Prepare, ACompleteFolderIsLeftAsItIs) {
  const Folder in, out;
  write_corpus(in, fresh_seed());
  auto options = options_for(in, out.path());
  prepare_shards(tokenizer, options);
  const auto before = files_in(out.path());
  options.progress = [](const PrepareProgress&) { FAIL() << "worked again"; };
  const ShardSet set = prepare_shards(tokenizer, options);
  EXPECT_EQ(files_in(out.path()), before);
  EXPECT_GT(set.train.tokens() + set.held_out.tokens(), 5000000u);
}

TEST(Prepare, OtherSettingsAreRefusedByNameUntilRestart) {
  const Folder in, out;
  write_corpus(in, fresh_seed(), 10);
  auto options = options_for(in, out.path());
  prepare_and_die(options, 1);
  for (const bool complete : {false, true}) {
    if (complete) prepare_shards(tokenizer, options);
    auto other = options;
    other.held_out.seed = 1;
    try {
      prepare_shards(tokenizer, other);
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("held_out_seed was 0, is now 1"), std::string::npos) << e.what();
    }
  }
  options.held_out.seed = 1;
  options.restart = true;
  const ShardSet set = prepare_shards(tokenizer, options);
  EXPECT_EQ(set.settings["held_out_seed"], 1);
}

TEST(Prepare, AChangedCorpusIsRefused) {
  const Folder in, out;
  in.write("1.txt", "one");
  const auto options = options_for(in, out.path());
  prepare_shards(tokenizer, options);
  in.write("2.txt", "two");
  EXPECT_THROW(prepare_shards(tokenizer, options), Error);
}

TEST(Prepare, RefusesWhatCannotWork) {
  const Folder in, out;
  auto options = options_for(in, out.path());
  EXPECT_THROW(prepare_shards(tokenizer, options), Error);  // no file
  in.write("1.txt", "");
  EXPECT_THROW(prepare_shards(tokenizer, options), Error);  // no text
  in.write("1.txt", "text");
  EXPECT_THROW(prepare_shards(ByteTokenizer({true, false, false}), options), Error);  // no <eos>
  auto bad = options;
  bad.output = in.path() / "shards";
  EXPECT_THROW(prepare_shards(tokenizer, bad), Error);
  for (const HeldOut held : {HeldOut{0.9, 0, 0}, {NAN, 0, 0}, {0.1, 3, 0}, {0, 1, 0}}) {
    bad = options;
    bad.held_out = held;
    EXPECT_THROW(prepare_shards(tokenizer, bad), Error);
  }
  EXPECT_EQ(
      prepare_shards(tokenizer, options).train.documents() + ShardSet::read(out.path()).held_out.documents(),
      1u);
}

}  // namespace
}  // namespace onceover
