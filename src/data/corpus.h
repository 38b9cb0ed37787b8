// Plain text on disk as a row of documents, in an order that depends on names only.
//
// A corpus is files and folders. Folders are searched to the bottom; hidden names (".git") are skipped, links
// to folders not followed. Files are taken in the order of their names relative to the input that holds them,
// input by input. A file is one document, or, with a separator, the documents between separators. Empty
// documents do not count.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace onceover {

struct CorpusOptions {
  std::vector<std::filesystem::path> inputs;  // files or folders
  std::string pattern;  // of file names inside folders, as the shell's: "*.txt"; empty = every file
  std::string
      separator;  // between documents of one file: "\n" = one document a line; empty = one document a file
};

struct CorpusFile {
  std::filesystem::path path;
  std::string name;  // the input's own name and the path below it, with '/'
  uint64_t bytes;
  int64_t modified_ns;  // since the file clock's epoch
};

struct Corpus {
  CorpusOptions options;
  std::vector<CorpusFile> files;

  // Lists the files now. Error for an input that is missing or neither file nor folder, and when no file is
  // found.
  static Corpus list(const CorpusOptions& options);

  uint64_t bytes() const;

  // Changes with any file's name, size or time of change.
  uint64_t fingerprint() const;
};

// A place between two stretches of a corpus; from it a reader can start.
struct CorpusPlace {
  size_t file = 0;
  uint64_t offset = 0;            // bytes in the file
  bool inside_document = false;   // the document of `offset` began earlier
  uint64_t document_in_file = 0;  // of the document at, or next after, `offset`
  uint64_t document = 0;          // the same over the whole corpus
};

// A document or, if that is longer than max_stretch_bytes, a part of it.
struct Stretch {
  std::string_view text;  // valid until the reader's next call
  size_t file;
  uint64_t document_in_file, document;
  bool starts_document, ends_document;
};

// Reads a corpus from a place on. Long documents are cut after a newline where one is near, else at a space,
// else between two characters; where depends on the text alone. Error when a file has changed since it was
// listed.
class CorpusReader {
 public:
  static constexpr size_t max_stretch_bytes = size_t{4} << 20;

  // The corpus must outlive the reader.
  explicit CorpusReader(const Corpus& corpus, const CorpusPlace& place = {});

  bool next(Stretch& stretch);
  const CorpusPlace& place() const { return place_; }

 private:
  bool open_file();
  void leave_file();
  uint64_t document_end(uint64_t from) const;

  const Corpus& corpus_;
  CorpusPlace place_;
  std::optional<MappedFile> file_;
  uint64_t document_end_ = 0;  // of the document that place_ is inside
};

}  // namespace onceover
