#include "data/corpus.h"

#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"

namespace onceover {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

CorpusFile listed(const fs::path& path, std::string name) {
  return {path, std::move(name), fs::file_size(path), fs::last_write_time(path).time_since_epoch().count()};
}

std::vector<CorpusFile> list_folder(const fs::path& folder, const std::string& pattern) {
  const fs::path base = fs::absolute(folder).lexically_normal();
  const std::string own = (base.has_filename() ? base : base.parent_path()).filename().string();
  std::vector<CorpusFile> files;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator();
       ++entry) {
    const fs::path& path = entry->path();
    if (is_hidden(path)) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() &&
               (pattern.empty() || fnmatch(pattern.c_str(), path.filename().c_str(), 0) == 0)) {
      files.push_back(listed(path, own + "/" + path.lexically_relative(folder).generic_string()));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

std::vector<CorpusFile> list_input(const fs::path& input, const std::string& pattern) {
  if (fs::is_directory(input)) return list_folder(input, pattern);
  if (fs::is_regular_file(input)) return {listed(input, input.filename().string())};
  throw Error("corpus: {} is neither a file nor a folder", input.string());
}

// Where to end a stretch of a document that goes on: `text` is what is left of it.
size_t stretch_bytes(std::string_view text) {
  constexpr size_t limit = CorpusReader::max_stretch_bytes;
  if (text.size() <= limit) return text.size();
  const size_t newline = text.substr(0, limit).rfind('\n');
  if (newline != text.npos && newline >= limit / 2) return newline + 1;
  const size_t space = text.substr(0, limit).rfind(' ');
  if (space != text.npos && space >= limit / 2) return space;
  return utf8_cut(text, limit);
}

}  // namespace

Corpus Corpus::list(const CorpusOptions& options) {
  Corpus corpus{options, {}};
  std::set<fs::path> seen;
  try {
    for (const auto& input : options.inputs) {
      for (auto& file : list_input(input, options.pattern)) {
        if (seen.insert(fs::canonical(file.path)).second) corpus.files.push_back(std::move(file));
      }
    }
  } catch (const fs::filesystem_error& e) {
    throw Error("corpus: {}", e.what());
  }
  if (!corpus.files.empty()) return corpus;
  throw Error("corpus: no file found in {} input(s){}", options.inputs.size(),
              options.pattern.empty() ? "" : fmt::format(" with a name like '{}'", options.pattern));
}

uint64_t Corpus::bytes() const {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const CorpusFile& file) { return sum + file.bytes; });
}

uint64_t Corpus::fingerprint() const {
  uint64_t hash = hash64(options.separator);
  for (const auto& file : files)
    hash = hash64(fmt::format("{}\n{}\n{}", file.name, file.bytes, file.modified_ns), hash);
  return hash;
}

CorpusReader::CorpusReader(const Corpus& corpus, const CorpusPlace& place) : corpus_(corpus), place_(place) {
  if (place_.inside_document && open_file()) document_end_ = document_end(place_.offset);
}

bool CorpusReader::open_file() {
  if (file_) return true;
  if (place_.file >= corpus_.files.size()) return false;
  const CorpusFile& listing = corpus_.files[place_.file];
  file_.emplace(listing.path);
  if (file_->size() == listing.bytes) return true;
  throw Error("{}: has {} bytes, expected {}: it changed while the corpus was read", listing.path.string(),
              file_->size(), listing.bytes);
}

void CorpusReader::leave_file() {
  file_.reset();
  place_ = {place_.file + 1, 0, false, 0, place_.document};
}

uint64_t CorpusReader::document_end(uint64_t from) const {
  const std::string& separator = corpus_.options.separator;
  return separator.empty() ? file_->size() : std::min(file_->text().find(separator, from), file_->size());
}

bool CorpusReader::next(Stretch& stretch) {
  while (open_file()) {
    if (!place_.inside_document) document_end_ = document_end(place_.offset);
    if (place_.offset < document_end_) {
      const std::string_view rest = file_->text().substr(place_.offset, document_end_ - place_.offset);
      const size_t bytes = stretch_bytes(rest);
      const bool ends = bytes == rest.size();
      stretch = {rest.substr(0, bytes),   place_.file, place_.document_in_file, place_.document,
                 !place_.inside_document, ends};
      place_.offset += bytes;
      place_.inside_document = !ends;
      if (ends) place_.document++, place_.document_in_file++;
      if (ends && document_end_ < file_->size()) place_.offset += corpus_.options.separator.size();
      return true;
    }
    if (document_end_ == file_->size()) {
      leave_file();
    } else {
      place_.offset = document_end_ + corpus_.options.separator.size();
    }
  }
  return false;
}

}  // namespace onceover
