#include "data/corpus.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/folder.h"
#include "text/samples.h"

namespace onceover {
namespace {

struct Document {
  size_t file;
  uint64_t in_file, number;
  std::string text;
};

std::vector<Document> documents_of(const Corpus& corpus) {
  std::vector<Document> documents;
  CorpusReader reader(corpus);
  for (Stretch stretch; reader.next(stretch);) {
    EXPECT_FALSE(stretch.text.empty());
    EXPECT_LE(stretch.text.size(), CorpusReader::max_stretch_bytes);
    if (stretch.starts_document)
      documents.push_back({stretch.file, stretch.document_in_file, stretch.document, ""});
    documents.back().text += stretch.text;
    EXPECT_EQ(stretch.document, documents.size() - 1);
  }
  return documents;
}

std::vector<std::string> texts_of(const Corpus& corpus) {
  std::vector<std::string> texts;
  for (const auto& document : documents_of(corpus)) texts.push_back(document.text);
  return texts;
}

TEST(Corpus, FilesAreSortedByNameFilteredAndNotHidden) {
  const Folder folder;
  for (const char* name : {"b.txt", "a/z.txt", "a.txt", "c.md", ".git/x.txt", ".hidden.txt", "a/y.txt"})
    folder.write(name, name);
  const auto corpus = Corpus::list({{folder.path()}, "*.txt", ""});
  EXPECT_EQ(texts_of(corpus), (std::vector<std::string>{"a.txt", "a/y.txt", "a/z.txt", "b.txt"}));
}

TEST(Corpus, AFileReachedTwiceCountsOnce) {
  const Folder folder;
  const auto file = folder.write("a.txt", "x");
  EXPECT_EQ(Corpus::list({{folder.path(), file}, "", ""}).files.size(), 1u);
}

TEST(Corpus, EmptyFilesAndEmptyLinesAreNoDocuments) {
  const Folder folder;
  folder.write("1.txt", "");
  folder.write("2.txt", "\n\none\n\ntwo\n\n");
  folder.write("3.txt", "three");
  const auto corpus = Corpus::list({{folder.path()}, "", "\n"});
  EXPECT_EQ(texts_of(corpus), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(documents_of(corpus)[2].in_file, 0u);
}

TEST(Corpus, LongSeparatorsSplitDocuments) {
  const Folder folder;
  const auto file = folder.write("1.txt", "one\n<|end|>two<|en<|end|><|end|>three");
  EXPECT_EQ(texts_of(Corpus::list({{file}, "", "<|end|>"})),
            (std::vector<std::string>{"one\n", "two<|en", "three"}));
}

TEST(Corpus, ALongDocumentComesInStretchesThatCutNoCharacter) {
  const Folder folder;
  std::mt19937 random(fresh_seed());
  std::string words, glyphs;
  while (words.size() < 9000000) words += random_text(random, 3) + (random() % 9 ? " " : "\n");
  while (glyphs.size() < 9000000) glyphs += "✅";
  for (const auto& text : {words, glyphs}) {
    const auto corpus = Corpus::list({{folder.write("1.txt", text)}, "", ""});
    EXPECT_EQ(texts_of(corpus), std::vector<std::string>{text});
  }
  const auto corpus = Corpus::list({{folder.path()}, "", ""});
  CorpusReader reader(corpus);
  for (Stretch stretch; reader.next(stretch);) EXPECT_TRUE(is_utf8(stretch.text));
}

TEST(Corpus, AReaderGoesOnFromAnyPlace) {
  const Folder folder;
  folder.write("1.txt", "one\ntwo\nthree");
  folder.write("2.txt", std::string(10000000, 'x') + "\nfour");
  const auto corpus = Corpus::list({{folder.path()}, "", "\n"});
  CorpusReader straight(corpus);
  CorpusPlace place = straight.place();
  int stretches = 0;
  for (Stretch expected; straight.next(expected); place = straight.place()) {
    CorpusReader resumed(corpus, place);
    Stretch found;
    ASSERT_TRUE(resumed.next(found));
    EXPECT_EQ(found.text, expected.text);
    EXPECT_EQ(found.document, expected.document);
    EXPECT_EQ(found.starts_document, expected.starts_document);
    EXPECT_EQ(found.ends_document, expected.ends_document);
    stretches++;
  }
  EXPECT_EQ(stretches, 3 + 3 + 1);
}

TEST(Corpus, RefusesWhatIsMissingOrHasChanged) {
  const Folder folder;
  EXPECT_THROW(Corpus::list({{folder.path()}, "", ""}), Error);
  EXPECT_THROW(Corpus::list({{folder.path() / "none"}, "", ""}), Error);
  EXPECT_THROW(Corpus::list({{"/dev/null"}, "", ""}), Error);
  const auto corpus = Corpus::list({{folder.write("1.txt", "one")}, "", ""});
  folder.write("1.txt", "longer");
  CorpusReader reader(corpus);
  Stretch stretch;
  EXPECT_THROW(reader.next(stretch), Error);
}

}  // namespace
}  // namespace onceover
