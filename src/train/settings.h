// Everything a training run can be told: the sections and keys of its TOML file.
//
// A settings file is untrusted: an unknown section or key, a wrong type and a value out of range are Errors
// that name the file, the key and the nearest known one. docs/training.md lists every key.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "execution/training_executor.h"

namespace onceover {

enum class ScheduleShape { Cosine, Linear, Wsd };
enum class LoopSampling { Fixed, Binomial };
enum class DataTask { Text, Swaps };
enum class Precision { F32, Bf16 };

struct TrainSettings {
  struct Model {
    std::string config, init;
    int64_t loops = 0;
  } model;
  struct Data {
    DataTask task = DataTask::Text;
    std::string shards;
    int64_t sequence_length = 256, seed = 1;
    bool mask_document_starts = false;
  } data;
  struct Swaps {
    int64_t places = 5;
  } swaps;
  struct Batch {
    int64_t tokens = 8192, micro_sequences = 4;
  } batch;
  struct Optimiser {
    double learning_rate = 3e-4, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1, clip = 1;
    bool decay_norms = false, decay_embeddings = true;
  } optimiser;
  struct Schedule {
    ScheduleShape shape = ScheduleShape::Cosine;
    int64_t warmup_steps = 0;
    double final_fraction = 0.1, decay_fraction = 0.2;
    int64_t steps = 0, tokens = 0;
    double flops = 0;
  } schedule;
  struct Loops {
    LoopSampling sampling = LoopSampling::Fixed;
    double probability = 0.5;
    int64_t gradient_loops = 0;
  } loops;
  struct ValidationRuns {
    int64_t every = 0, batches = 10;
  } validation;
  struct Checkpoints {
    int64_t every = 0, keep_last = 3;
    std::string resume = "auto";
  } checkpoint;
  struct RunFolder {
    std::string folder;
    int64_t seed = 1, threads = 0, log_every = 1;
    bool tensorboard = true;
    double peak_gflops = 0;
    Precision precision = Precision::F32;
  } run;
  struct Memory {
    Recompute recompute = Recompute::None;
  } memory;
};

// Reads a settings file's text; `where` names it in errors. Keys left out keep their defaults.
TrainSettings train_settings_from_toml(std::string_view text, const std::string& where);

// Applies one "section.key=value" of the command line. Text needs no quotes.
void override_setting(TrainSettings& settings, std::string_view assignment);

// Every key with its meaning as a comment; reading it back gives the same settings.
std::string train_settings_to_toml(const TrainSettings& settings);

// Error, naming `where`, unless the settings fit together.
void check_train_settings(const TrainSettings& settings, const std::string& where);

// Micro-batches of one step.
inline int64_t accumulation(const TrainSettings& s) {
  return s.batch.tokens / (s.data.sequence_length * s.batch.micro_sequences);
}

}  // namespace onceover
