#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace onceover {
namespace {

using Json = nlohmann::json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

Json explain_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "explain");
  arguments.push_back("--json");
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

std::string complaint(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "explain");
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  return result.err;
}

std::string misuse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "explain");
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  return result.err;
}

TEST(Explain, NeedsLittleMemoryForALargeModel) {
  const ProgramResult result = run_program({"explain", "yoco-u-6.4b", "--slots", "--plan"});
  EXPECT_EQ(result.status, 0) << result.err;
  if (sanitized) GTEST_SKIP() << "sanitizers use memory of their own";
  EXPECT_LT(result.peak_rss_kib, 64 * 1024);
}

TEST(Explain, SaysWhatAModelIs) {
  const std::string text = run_program({"explain", "yoco-u-1.3b"}).out;
  for (const char* part :
       {"yoco-u: YOCO with its self-decoder looped", "layer applications    40",
        "30 rings of 512 rows x 2 x 512", "1 cache of every row x 2 x 512", "2048 bytes a token",
        "layers 0-9, loops 0-2     8192  x 30 applications", "layers 10-19              1  x 10 applications",
        " GFLOP (linear", "46.0 MiB   48234496"})
    EXPECT_TRUE(contains(text, part)) << "lacks '" << part << "'\n" << text;
}

TEST(Explain, PrintsTheSameFactsForPrograms) {
  const Json json = explain_json({"yoco-u-1.3b"});
  const int64_t d = 2560, kv = 512, ffn = 6912, cross_layer = 2 * d * d + 3 * d * ffn + 2 * d;
  EXPECT_EQ(json["parameters"]["total"], 32000 * d + 20 * cross_layer + 11 * 2 * d * kv + 2 * d);
  EXPECT_EQ(json["layer_applications"], 40);
  EXPECT_EQ(json["loops"], 3);
  EXPECT_EQ(json["state"]["contexts"][0], (Json{{"tokens", 8192}, {"bytes", 46.0 * 1048576}}));
  EXPECT_EQ(json["state"]["bytes_per_token"], 2048.0);
  EXPECT_EQ(json["state"]["slots"].size(), 62u);
  EXPECT_EQ(json["weights"]["bytes"], 2.0 * json["parameters"]["total"].get<double>());
  EXPECT_GT(json["flops_per_token"]["training"], json["flops_per_token"]["prefill"]);
}

TEST(Explain, LoopsContextsAndTypesChangeTheFigures) {
  const Json json = explain_json({"yoco-u-tiny", "--loops", "5", "--contexts", "1K,2m", "--kv-dtype", "f32",
                                  "--dtype", "q8_0", "--context", "16"});
  EXPECT_EQ(json["loops"], 5);
  EXPECT_EQ(json["layer_applications"], 12);
  EXPECT_EQ(json["context"], 16);
  EXPECT_EQ(json["state"]["bytes_per_token"], 2.0 * 32 * 4);
  EXPECT_EQ(json["state"]["contexts"][1]["tokens"], 2 * 1048576);
  EXPECT_LT(json["weights"]["bytes"], 1.2 * json["parameters"]["total"].get<double>());
}

TEST(Explain, ReadsConfigFilesAndCheckpointFolders) {
  const TemporaryFolder folder;
  const std::string config = R"({"architecture": "yoco", "hidden_size": 64, "num_attention_heads": 2,
    "num_hidden_layers": 4, "intermediate_size": 96, "vocab_size": 100, "self_mixer": "retention"})";
  const std::string path = (folder / "config.json").string();
  write_bytes(path, config);
  const Json from_file = explain_json({path}), from_folder = explain_json({folder.path().string()});
  EXPECT_EQ(from_file["fingerprint"], from_folder["fingerprint"]);
  EXPECT_EQ(from_file["state"]["groups"][0]["kind"], "every");
  EXPECT_EQ(from_file["state"]["groups"][1]["kind"], "matrix");
  // 2 matrices of 64 x 64 in f32 and 2 x 64 wide rows in bf16.
  EXPECT_EQ(from_file["state"]["contexts"][0]["bytes"], 2 * 64 * 64 * 4 + 8192.0 * 2 * 64 * 2);
}

TEST(Explain, MistakesAreAnsweredWithWhatWasExpected) {
  EXPECT_TRUE(contains(complaint({"yoco-u-1.3c"}), "did you mean 'yoco-u-1.3b'"));
  EXPECT_TRUE(contains(complaint({"yoco-u"}), "add a size: yoco-u-tiny"));
  EXPECT_TRUE(contains(complaint({"./nowhere"}), "no such file"));
  EXPECT_TRUE(contains(complaint({"transformer-tiny", "--loops", "2"}), "has no loop"));
}

TEST(Explain, ValuesThatNoOptionKnowsAreMisuse) {
  EXPECT_TRUE(contains(misuse({"yoco-u-tiny", "--dtype", "bf17"}), "did you mean 'bf16'"));
  EXPECT_TRUE(contains(misuse({"--table", "sizs"}), "did you mean 'sizes'"));
  EXPECT_TRUE(contains(misuse({"--table", "kv", "--format", "xml"}), "one of text, md, csv, json"));
  EXPECT_TRUE(contains(misuse({"--table", "sizes", "--architecture", "yoko"}), "did you mean 'yoco'"));
  EXPECT_TRUE(contains(misuse({}), "needs a MODEL"));
  for (const char* tokens : {"0", "-1", "8X", "K", "", "1.5K", "99999999999999999999", "1025M", "8K8"})
    EXPECT_TRUE(contains(misuse({"yoco-tiny", "--context", tokens}), "--context must be")) << tokens;
  misuse({"yoco-tiny", "--loops", "many"});
  misuse({"yoco-tiny", "--no-such"});
}

TEST(Explain, OptionsThatWouldHaveNoEffectAreMisuse) {
  const std::vector<std::string> cases[] = {
      {"yoco-tiny", "--table", "kv"},
      {"--table", "kv", "--plan"},
      {"--table", "sizes", "--slots"},
      {"--table", "complexity", "--loops", "2"},
      {"yoco-tiny", "--format", "md"},
      {"--table", "kv", "--architecture", "yoco"},
      {"--table", "kv", "--json", "--format", "csv"},
      {"--table", "sizes", "--contexts", "8K"},
      {"--table", "complexity", "--kv-dtype", "f32"},
      {"--table", "kv", "--dtype", "f32"},
      {"--list", "yoco-tiny"},
      {"--list", "--table", "kv"},
  };
  for (const auto& arguments : cases) {
    const std::string text = misuse(arguments);
    EXPECT_TRUE(contains(text, "means nothing with") || contains(text, "not both")) << text;
  }
}

TEST(Explain, ListsOfValuesLeaveTheModelAlone) {
  const Json json = explain_json({"--contexts", "1,2", "yoco-u-tiny"});
  EXPECT_EQ(json["model"], "yoco-u-tiny");
  EXPECT_EQ(json["state"]["contexts"].size(), 2u);
  EXPECT_EQ(explain_json({"--contexts", "1", "--contexts", "2K", "yoco-u-tiny"})["state"]["contexts"].size(),
            2u);
  EXPECT_TRUE(
      contains(misuse({"--table", "sizes", "--architecture", "yoco", "yoco-tiny"}), "MODEL means nothing"));
}

std::vector<std::string> steps_of(const std::string& model) {
  std::vector<std::string> steps;
  const Json json = explain_json({model});
  for (const Json& row : json["rows"]) {
    if (row["applications"] > 0) steps.push_back(row["steps"]);
  }
  return steps;
}

TEST(Explain, RowGroupsNameEveryLayerApplicationOnce) {
  using Steps = std::vector<std::string>;
  EXPECT_EQ(steps_of("rins-1.3b"), (Steps{"layers 0-9, loops 0-2", "layers 10-18", "layer 19"}));
  EXPECT_EQ(steps_of("universal-tiny"),
            (Steps{"layers 0-3, loop 0", "layers 0-2, loop 1", "layer 3, loop 1"}));
  EXPECT_EQ(steps_of("transformer-tiny"), (Steps{"layers 0-2", "layer 3"}));
  for (const char* model :
       {"rins-tiny", "universal-small", "yoco-u-tiny", "yoco-plus-tiny", "yoco-upper-loop-tiny"}) {
    const Json json = explain_json({model});
    int64_t applications = 0;
    for (const Json& row : json["rows"]) applications += row["applications"].get<int64_t>();
    EXPECT_EQ(applications, json["layer_applications"]) << model;
  }
}

TEST(Explain, SpeaksOfRingsOnlyWhereThereAreSome) {
  EXPECT_TRUE(contains(run_program({"explain", "yoco-tiny"}).out, "once the rings are full"));
  EXPECT_FALSE(contains(run_program({"explain", "transformer-tiny"}).out, "rings"));
}

TEST(Explain, NamesThatAreNotUtf8AreShownInJson) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a\xff.json").string();
  write_bytes(path, R"({"architecture": "yoco"})");
  EXPECT_TRUE(contains(explain_json({path})["model"].get<std::string>(), "a\uFFFD.json"));
}

TEST(Explain, FaultyFilesAreNamed) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(complaint({folder.path().string()}), "config.json"));
  const std::string path = (folder / "config.json").string();
  write_bytes(path, R"({"architecture": "yoco", "num_loop": 2})");
  EXPECT_TRUE(contains(complaint({path}), path + ": unknown key 'num_loop'"));
  write_bytes(path, std::string(2 << 20, ' '));
  EXPECT_TRUE(contains(complaint({folder.path().string()}), "expected at most 1.0 MiB"));
}

TEST(Explain, LargestShapesAreCountedOrRefusedNotCrashed) {
  const TemporaryFolder folder;
  const std::string path = (folder / "config.json").string();
  write_bytes(path, R"({"architecture": "yoco-u", "hidden_size": 1048576, "num_attention_heads": 1024,
      "head_dim": 4096, "num_hidden_layers": 1024, "num_loops": 16, "vocab_size": 16777216, "num_experts": 4096,
      "num_experts_per_tok": 4096, "moe_intermediate_size": 4194304, "sliding_window": 1073741824})");
  EXPECT_TRUE(contains(complaint({path, "--context", "1024M"}), "parameters"));
}

TEST(ExplainTable, KvMemoryIsThatOfThePaperInEveryCell) {
  const Json tables = explain_json({"--table", "kv"});
  const Json expected = Json::parse(R"([
    {"model": "transformer", "8K": 320, "16K": 640, "32K": 1280, "64K": 2560, "128K": 5120, "256K": 10240},
    {"model": "rins", "8K": 640, "16K": 1280, "32K": 2560, "64K": 5120, "128K": 10240, "256K": 20480},
    {"model": "yoco", "8K": 26, "16K": 42, "32K": 74, "64K": 138, "128K": 266, "256K": 522},
    {"model": "yoco-u", "8K": 46, "16K": 62, "32K": 94, "64K": 158, "128K": 286, "256K": 542}])");
  EXPECT_EQ(tables[0]["rows"], expected);
}

TEST(ExplainTable, ComplexityShowsFittedGrowthBesideThePaper) {
  const Json rows = explain_json({"--table", "complexity"})[0]["rows"];
  ASSERT_EQ(rows.size(), 16u);
  EXPECT_EQ(rows[1]["fitted"], "N^2 L^1.00 D^1.00");
  EXPECT_EQ(rows[1]["paper"], "O(L N^2 D)");
  EXPECT_EQ(rows[12]["fitted"], "N^1 D^1.00 + N^0 L^1.00 T^1.00 W^1.00 D^1.00");
  EXPECT_EQ(rows[12]["paper"], "O((N + W T L) D)");
}

TEST(ExplainTable, SizesOfOneArchitectureInEveryFormat) {
  const auto table = [](const char* format) {
    return run_program({"explain", "--table", "sizes", "--architecture", "yoco-u", "--format", format}).out;
  };
  EXPECT_TRUE(contains(table("md"), "| yoco-u | 6.4b | 5120 | 24 | 40 | 4 | 13824 | 0.0003 | 6586624000 |"));
  EXPECT_TRUE(contains(table("csv"), "\r\nyoco-u,6.4b,5120,24,40,4,13824,0.0003,6586624000,"));
  EXPECT_TRUE(contains(table("text"), "6586624000"));
  EXPECT_TRUE(contains(table("csv"), "\r\nyoco-u,10b-moe,2560,20,20,4,1024,"));  // an expert's width
  EXPECT_EQ(Json::parse(table("json"))[0]["rows"].size(), 11u);
}

TEST(Explain, ListsPresetsAndArchitectures) {
  const Json json = explain_json({"--list"});
  EXPECT_EQ(json["architectures"].size(), 9u);
  EXPECT_EQ(json["presets"].size(), 9 * json["sizes"].size());
  EXPECT_TRUE(contains(run_program({"explain", "--list"}).out, "RINS, A^r B"));
}

}  // namespace
}  // namespace onceover
