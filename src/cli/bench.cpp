// `onceover bench`: tokens a second of reading prompts and of writing, in the manner of llama-bench, on
// random weights in any model's shape; beside it the machine's own ceilings.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "analysis/cost.h"
#include "architectures/registry.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/model_source.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "cpu/batch_engine.h"
#include "cpu/ceilings.h"

namespace onceover {
namespace {

struct BenchFlags {
  std::vector<std::string> models, weights = {"q8"}, kv = {"f16"}, prompts = {"512"}, depths;
  std::vector<std::string> written = {"128"};
  std::vector<int> loops = {0}, sequences = {1}, threads;
  int repetitions = 5;
  std::string output = "md";
  bool no_ceilings = false;
};

// One engine to measure.
struct Setup {
  std::string model, weights, kv;
  int loops, threads;
  Config config;
};

// A row of the table: so many tokens read or written on top of `depth`.
struct Test {
  bool writes;
  int64_t tokens, depth, sequences;

  std::string name() const {
    std::string text = fmt::format("{}{}", writes ? "tg" : "pp", tokens);
    if (depth > 0) text += fmt::format(" @ d{}", depth);
    if (sequences > 1) text += fmt::format(" x {}", sequences);
    return text;
  }
};

class Bench {
 public:
  explicit Bench(const Setup& setup)
      : setup_(setup),
        plan_(build(setup.config, Run{setup.loops})),
        analysis_(analyse(plan_)),
        weights_(cpu::InferenceWeights::random(plan_, cpu::weight_format(setup.weights))) {
    cpu::EngineOptions options;
    options.kv = cpu::kv_type(setup.kv);
    options.chunk_tokens = 512;
    const Plan& plan = plan_;
    engine_ = std::make_unique<cpu::BatchEngine>([plan](int) { return plan; }, weights_, options);
  }

  std::vector<nlohmann::ordered_json> measure(const Test& test, int repetitions, bool with_ceilings) {
    std::vector<double> rates, shares;
    int64_t kv_bytes = 0;
    run(test, std::min<int64_t>(test.tokens, test.writes ? 2 : 64), kv_bytes);
    for (int i = 0; i < repetitions; ++i) {
      const cpu::Ceilings ceilings =
          with_ceilings ? cpu::measure_ceilings(setup_.threads) : cpu::Ceilings{NAN, NAN};
      rates.push_back(static_cast<double>(test.tokens) / run(test, test.tokens, kv_bytes));
      shares.push_back(rates.back() * (test.writes ? bytes_a_step(test) / ceilings.bytes
                                                   : flops_a_token(test) / ceilings.flops));
    }
    return row(test, rates, shares, kv_bytes);
  }

 private:
  // Seconds that `tokens` tokens of every sequence take.
  double run(const Test& test, int64_t tokens, int64_t& kv_bytes) {
    std::vector<cpu::SequenceId> sequences;
    for (int64_t i = 0; i < test.sequences; ++i) {
      sequences.push_back(engine_->open());
      engine_->pretend(sequences.back(), test.depth);
    }
    const int64_t at_once = test.writes ? 1 : tokens;
    std::vector<int32_t> text(static_cast<size_t>(at_once));
    for (size_t i = 0; i < text.size(); ++i)
      text[i] = static_cast<int32_t>(i * 7 % static_cast<size_t>(engine_->vocabulary()));
    std::vector<cpu::BatchEngine::Part> parts;
    for (const cpu::SequenceId id : sequences) parts.push_back({id, text, 1});
    const double start = steady_seconds();
    for (int64_t done = 0; done < tokens; done += at_once) engine_->run(parts);
    const double took = steady_seconds() - start;
    kv_bytes = engine_->kv_bytes();
    for (const cpu::SequenceId id : sequences) engine_->close(id);
    return took;
  }

  // Bytes that writing one token of every sequence must read, at the middle of the test.
  double bytes_a_step(const Test& test) const {
    const double table = embedding_bytes();
    const Cost cost = onceover::cost(plan_, analysis_, test.depth + test.tokens / 2, 1, 1);
    const double kv = cost.state_elements_read.total() * kv_bytes_an_element();
    return static_cast<double>(weights_->bytes()) - table + kv * static_cast<double>(test.sequences);
  }

  double flops_a_token(const Test& test) const {
    return static_cast<double>(test.sequences) *
           onceover::cost(plan_, analysis_, test.depth, test.tokens, 1).flops.total() /
           static_cast<double>(test.tokens);
  }

  double kv_bytes_an_element() const {
    const KvType type = cpu::kv_type(setup_.kv);
    return type == KvType::F32 ? 4 : type == KvType::F16 ? 2 : 1 + 4.0 / kernels::scale_columns;
  }

  // Of a table that is looked up alone; a tied one is read whole by the logits.
  double embedding_bytes() const {
    double bytes = 0;
    for (const Step& step : plan_.steps) {
      const auto* embed = std::get_if<Embed>(&step.op);
      if (!embed || std::get<Logits>(plan_.steps[plan_.logits].op).weight == embed->table) continue;
      bytes += static_cast<double>(weights_->table().packed[embed->table].bytes());
    }
    return bytes;
  }

  // `rates`: steps a second of every sequence at once; `shares`: of the ceiling measured just before.
  std::vector<nlohmann::ordered_json> row(const Test& test, const std::vector<double>& rates,
                                          std::vector<double> shares, int64_t kv_bytes) const {
    double mean = 0, squares = 0;
    for (const double rate : rates) mean += rate / static_cast<double>(rates.size());
    for (const double rate : rates) squares += (rate - mean) * (rate - mean);
    const double deviation =
        rates.size() > 1 ? std::sqrt(squares / static_cast<double>(rates.size() - 1)) : 0;
    const auto middle = shares.begin() + static_cast<int64_t>(shares.size() / 2);
    std::nth_element(shares.begin(), middle, shares.end());
    const std::string share = std::isnan(*middle) ? "-" : fmt::format("{:.2f}", *middle);
    const auto sequences = static_cast<double>(test.sequences);
    return {setup_.model,
            plan_loops(),
            setup_.weights,
            format_bytes(static_cast<double>(weights_->bytes())),
            format_count(static_cast<double>(count_parameters(plan_).total)),
            setup_.kv,
            setup_.threads,
            test.name(),
            fmt::format("{:.2f} ± {:.2f}", mean * sequences, deviation * sequences),
            test.writes ? "-" : share,
            test.writes ? share : "-",
            format_bytes(static_cast<double>(kv_bytes))};
  }

  int plan_loops() const { return setup_.loops > 0 ? setup_.loops : setup_.config.num_loops; }

  const Setup& setup_;
  Plan plan_;
  Analysis analysis_;
  std::shared_ptr<const cpu::InferenceWeights> weights_;
  std::unique_ptr<cpu::BatchEngine> engine_;
};

std::vector<int64_t> counts(const std::vector<std::string>& texts, const char* option) {
  std::vector<int64_t> numbers;
  for (const std::string& text : texts) {
    if (text != "0") numbers.push_back(parse_tokens(text, option));
  }
  return numbers;
}

std::vector<Test> tests_of(const BenchFlags& flags) {
  std::vector<int64_t> depths = counts(flags.depths, "--n-depth");
  if (depths.size() < flags.depths.size() || depths.empty()) depths.insert(depths.begin(), 0);
  std::vector<Test> tests;
  for (const int64_t depth : depths) {
    for (const int sequences : flags.sequences) {
      for (const int64_t n : counts(flags.prompts, "--n-prompt"))
        tests.push_back({false, n, depth, sequences});
      for (const int64_t n : counts(flags.written, "--n-gen")) tests.push_back({true, n, depth, sequences});
    }
  }
  return tests;
}

std::vector<Setup> setups_of(const BenchFlags& flags) {
  std::vector<Setup> setups;
  for (const std::string& model : flags.models) {
    const Config config = find_model(model);
    for (const int loops : flags.loops) {
      for (const std::string& weights : flags.weights) {
        for (const std::string& kv : flags.kv) {
          for (const int threads : flags.threads)
            setups.push_back({model, weights, kv, loops, threads, config});
        }
      }
    }
  }
  return setups;
}

void bench(const BenchFlags& flags) {
  const std::vector<Test> tests = tests_of(flags);
  if (tests.empty()) throw Error("nothing to measure: --n-prompt and --n-gen are both 0");
  Table table{"tokens a second",
              {"model", "loops", "weights", "size", "params", "kv", "threads", "test", "t/s", "of peak",
               "of bandwidth", "kv held"},
              {}};
  for (const Setup& setup : setups_of(flags)) {
    omp_set_num_threads(setup.threads);
    Bench bench(setup);
    for (const Test& test : tests) {
      table.rows.push_back(bench.measure(test, flags.repetitions, !flags.no_ceilings));
      fmt::print(stderr, "{} {} {}: {}\n", setup.model, setup.weights, test.name(),
                 table.rows.back()[8].get<std::string>());
    }
  }
  fmt::print("{}", format_tables({table}, flags.output));
}

}  // namespace

Action bench_verb(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  flags->threads = {omp_get_max_threads()};
  app.add_option("-m,--model", flags->models,
                 "presets, config.json files or checkpoint directories; weights are random")
      ->delimiter(',')
      ->type_name("MODEL,...")
      ->required();
  app.add_option("-w,--weights", flags->weights, "weight formats: f32, bf16, f16, q8, q4")
      ->delimiter(',')
      ->check(CLI::IsMember(cpu::weight_format_names()).description(""))
      ->type_name("FORMAT,...")
      ->capture_default_str();
  app.add_option("--kv", flags->kv, "formats of keys and values: f32, f16, q8")
      ->delimiter(',')
      ->check(CLI::IsMember(cpu::kv_type_names()).description(""))
      ->type_name("FORMAT,...")
      ->capture_default_str();
  app.add_option("-p,--n-prompt", flags->prompts, "lengths of prompts to read: 512, 8K; 0 = none")
      ->delimiter(',')
      ->type_name("N,...")
      ->capture_default_str();
  app.add_option("-n,--n-gen", flags->written, "tokens to write, one by one; 0 = none")
      ->delimiter(',')
      ->type_name("N,...")
      ->capture_default_str();
  app.add_option("-d,--n-depth", flags->depths,
                 "tokens that stand before; their state is made up, not computed")
      ->delimiter(',')
      ->type_name("N,...");
  app.add_option("--loops", flags->loops, "how often the repeated layers run; 0 = the config's number")
      ->delimiter(',')
      ->type_name("T,...");
  app.add_option("--sequences", flags->sequences, "sequences that run in one call")
      ->delimiter(',')
      ->check(whole_number(1, 1 << 16))
      ->type_name("N,...");
  app.add_option("-t,--threads", flags->threads, "threads")
      ->delimiter(',')
      ->check(whole_number(1, 1024))
      ->type_name("N,...")
      ->capture_default_str();
  app.add_option("-r,--repetitions", flags->repetitions, "runs of each test")
      ->check(whole_number(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-o,--output", flags->output, "text, md, csv or json")
      ->check(CLI::IsMember({"text", "md", "csv", "json"}).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_flag("--no-ceilings", flags->no_ceilings, "do not measure the machine beside each test");
  return [flags] { bench(*flags); };
}

}  // namespace onceover
