// The folder while work goes on: prepare.json holds the settings, unit_NNNNN.json marks a finished unit. Both
// are removed once meta.json is there.
#include "data/prepare.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/new_folder.h"
#include "data/prepare_unit.h"
#include "data/shard.h"

namespace onceover {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json optional_id(const std::optional<int>& id) { return id ? Json(*id) : Json(nullptr); }

Json settings_of(const Tokenizer& tokenizer, const Corpus& corpus, const PrepareOptions& options) {
  return {{"tokenizer", to_hex(tokenizer.fingerprint())},
          {"vocab_size", tokenizer.vocab_size()},
          {"eos", optional_id(tokenizer.specials().eos)},
          {"bos", options.bos ? optional_id(tokenizer.specials().bos) : Json(nullptr)},
          {"corpus", to_hex(corpus.fingerprint())},
          {"corpus_files", corpus.files.size()},
          {"corpus_bytes", corpus.bytes()},
          {"separator", options.corpus.separator},
          {"held_out_fraction", options.held_out.fraction},
          {"held_out_every", options.held_out.every},
          {"held_out_seed", options.held_out.seed},
          {"shard_source_bytes", options.shard_source_bytes}};
}

void check(const Tokenizer& tokenizer, const PrepareOptions& options) {
  options.held_out.check();
  if (!tokenizer.specials().eos)
    throw Error("prepare: the tokeniser has no end-of-text token to put between documents");
  if (options.bos && !tokenizer.specials().bos)
    throw Error("prepare: the tokeniser has no begin-of-text token");
  if (options.threads < 0 || options.threads > 1024)
    throw Error("prepare: threads = {}, expected 0 to 1024", options.threads);
  if (options.shard_source_bytes == 0) throw Error("prepare: shard_source_bytes = 0, expected at least 1");
  for (const auto& input : options.corpus.inputs) {
    const auto within = fs::weakly_canonical(options.output).lexically_relative(fs::weakly_canonical(input));
    if (within.empty() || *within.begin() == "..") continue;
    throw Error("prepare: the output {} lies inside the input {}", options.output.string(), input.string());
  }
}

// Keeps other processes out of the folder until it goes; a killed process lets go by itself.
FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) throw Error("{}: cannot be opened: {}", folder.string(), std::strerror(errno));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error("{}: another process prepares shards here", folder.string());
  return lock;
}

bool made_of(const std::string& name, const char* front, const char* back) {
  return name.starts_with(front) && name.ends_with(back);
}

bool is_trace(const std::string& name) { return name == "prepare.json" || made_of(name, "unit_", ".json"); }

bool is_result(const std::string& name) {
  return name == "meta.json" || made_of(name, "train_", ".bin") || made_of(name, "heldout_", ".bin");
}

void remove_files(const fs::path& folder, bool (*chosen)(const std::string&)) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (chosen(entry.path().filename().string())) paths.push_back(entry.path());
  }
  for (const auto& path : paths) fs::remove(path);
}

void remove_all_of_ours(const fs::path& folder) {
  fs::remove(folder / "meta.json");  // first: a kill half way must not leave a folder that looks complete
  remove_files(folder, is_trace);
  remove_files(folder, is_result);
}

void require_same_settings(const Json& found, const Json& wanted, const fs::path& folder) {
  for (const auto& [key, value] : wanted.items()) {
    const Json other = found.is_object() ? found.value(key, Json(nullptr)) : Json(nullptr);
    if (other == value) continue;
    throw Error("{}: holds shards of other settings: {} was {}, is now {}; use another folder or --restart",
                folder.string(), key, other.dump(), value.dump());
  }
}

class Preparation {
 public:
  Preparation(const Tokenizer& tokenizer, const PrepareOptions& options, const Corpus& corpus)
      : tokenizer_(tokenizer),
        options_(options),
        corpus_(corpus),
        units_(plan_units(corpus, options.shard_source_bytes)) {
    if (units_.empty()) throw Error("prepare: the corpus's {} file(s) hold no text", corpus.files.size());
    results_.resize(units_.size());
    progress_.units_in_all = units_.size();
    for (const Unit& unit : units_) progress_.bytes_in_all += unit.bytes;
  }

  void run() {
    resume();
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const size_t threads =
        std::min(options_.threads > 0 ? static_cast<size_t>(options_.threads) : cores, units_.size());
    std::vector<std::thread> workers;
    for (size_t i = 0; i < threads; i++) workers.emplace_back([this] { work(); });
    for (auto& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  ShardSet finish(const Json& settings) const {
    ShardSet set{settings, {}, {}};
    for (const auto& result : results_) {
      if (result->train) set.train.shards.push_back(*result->train);
      if (result->held_out) set.held_out.shards.push_back(*result->held_out);
    }
    set.write(options_.output);
    return set;
  }

 private:
  void resume() {
    for (size_t i = 0; i < units_.size(); i++) {
      results_[i] = read_unit_mark(options_.output, i);
      if (!results_[i]) continue;
      progress_.units_resumed++;
      count(i);
    }
    report();
  }

  void work() {
    try {
      for (size_t i = next_++; i < units_.size() && !stop_; i = next_++) {
        if (results_[i]) continue;
        const UnitResult result =
            write_unit(corpus_, units_[i], i, tokenizer_, options_.held_out, options_.bos, options_.output);
        mark_unit(options_.output, i, result);
        const std::lock_guard lock(mutex_);
        results_[i] = result;
        count(i);
        report();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  void count(size_t unit) {
    progress_.units++;
    progress_.bytes += units_[unit].bytes;
    for (const auto* split : {&results_[unit]->train, &results_[unit]->held_out}) {
      if (!*split) continue;
      progress_.tokens += (*split)->tokens;
      progress_.documents += (*split)->documents;
    }
  }

  void report() const {
    if (options_.progress) options_.progress(progress_);
  }

  const Tokenizer& tokenizer_;
  const PrepareOptions& options_;
  const Corpus& corpus_;
  std::vector<Unit> units_;
  std::vector<std::optional<UnitResult>> results_;  // a worker reads only entries that no other worker writes
  PrepareProgress progress_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards progress_, failure_ and the writing of results_
  std::exception_ptr failure_;
};

void require_whole(const fs::path& folder, const ShardListing& listing) {
  constexpr const char* mend = "--restart makes all shards again";
  bool same;
  try {
    same = Shard(folder / listing.file).hash() == listing.hash;
  } catch (const Error& e) {
    throw Error("{} ({})", e.what(), mend);
  }
  if (!same)
    throw Error("{}: {} is not the shard that meta.json names ({})", folder.string(), listing.file, mend);
}

std::optional<ShardSet> complete_set(const fs::path& folder) {
  if (!fs::exists(folder / "meta.json")) return {};
  ShardSet set = ShardSet::read(folder);
  for (const auto* split : {&set.train, &set.held_out}) {
    for (const auto& listing : split->shards) require_whole(folder, listing);
  }
  return set;
}

ShardSet prepare(const Tokenizer& tokenizer, const PrepareOptions& options) {
  check(tokenizer, options);
  const Corpus corpus = Corpus::list(options.corpus);
  const Json settings = settings_of(tokenizer, corpus, options);
  const NewFolder folder(options.output);
  const FileDescriptor lock = lock_folder(options.output);
  if (options.restart) remove_all_of_ours(options.output);
  if (auto done = complete_set(options.output)) {
    require_same_settings(done->settings, settings, options.output);
    remove_files(options.output, is_trace);
    return *done;
  }
  const auto begun = options.output / "prepare.json";
  if (fs::exists(begun)) {
    const auto found = parse_json(read_text_file(begun, size_t{1} << 20), begun.string());
    require_same_settings(Json(found), settings, options.output);
  }
  Preparation preparation(tokenizer, options, corpus);
  tokenizer.save(options.output);
  write_text_file(begun, settings.dump(2) + "\n");
  preparation.run();
  const ShardSet set = preparation.finish(settings);
  remove_files(options.output, is_trace);
  return set;
}

}  // namespace

ShardSet prepare_shards(const Tokenizer& tokenizer, const PrepareOptions& options) try {
  return prepare(tokenizer, options);
} catch (const fs::filesystem_error& e) {
  throw Error("prepare: {}", e.what());
}

}  // namespace onceover
