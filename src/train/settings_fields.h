// The one table of settings: reading, overriding, writing and docs/training.md all walk it.
#pragma once
#include <vector>

#include "train/settings.h"

namespace onceover {

// Both ends included.
struct SettingRange {
  double low, high;
};

template <class E>
struct Named {
  E value;
  const char* name;
};

// Names of an enum's values, in a settings file.
inline const auto& named_values(ScheduleShape) {
  static const std::vector<Named<ScheduleShape>> all = {
      {ScheduleShape::Cosine, "cosine"}, {ScheduleShape::Linear, "linear"}, {ScheduleShape::Wsd, "wsd"}};
  return all;
}
inline const auto& named_values(LoopSampling) {
  static const std::vector<Named<LoopSampling>> all = {{LoopSampling::Fixed, "fixed"},
                                                       {LoopSampling::Binomial, "binomial"}};
  return all;
}
inline const auto& named_values(Precision) {
  static const std::vector<Named<Precision>> all = {{Precision::F32, "f32"}, {Precision::Bf16, "bf16"}};
  return all;
}
inline const auto& named_values(Recompute) {
  static const std::vector<Named<Recompute>> all = {
      {Recompute::None, "none"}, {Recompute::Layers, "layers"}, {Recompute::Iterations, "iterations"}};
  return all;
}

inline const auto& named_values(DataTask) {
  static const std::vector<Named<DataTask>> all = {{DataTask::Text, "text"}, {DataTask::Swaps, "swaps"}};
  return all;
}

// Each calls f(section, key, member, range, meaning) for its keys.
template <class S, class F>
void for_input_settings(S& s, F f) {
  constexpr SettingRange any{0, 0}, seed{0, 9007199254740991.0};
  f("model", "config", s.model.config, any,
    "a preset, a config.json or a model's folder: fresh weights of that shape");
  f("model", "init", s.model.init, any,
    "a model to go on from, instead (docs/imported-models.md): its shape and weights");
  f("model", "loops", s.model.loops, SettingRange{0, 1024},
    "how often the repeated layers run; 0 = as the model says");
  f("data", "task", s.data.task, any,
    "text: token shards; swaps: a state to track, made on the spot (section swaps)");
  f("data", "shards", s.data.shards, any, "folder of token shards, as onceover prepare makes it");
  f("data", "sequence_length", s.data.sequence_length, SettingRange{1, 1 << 24},
    "tokens of one training sequence");
  f("data", "seed", s.data.seed, seed, "of the order of the sequences");
  f("data", "mask_document_starts", s.data.mask_document_starts, any,
    "do not score a document's first token, which the one before cannot foretell");
  f("swaps", "places", s.swaps.places, SettingRange{2, 64}, "that things change between");
  f("batch", "tokens", s.batch.tokens, SettingRange{1, 1 << 26}, "of one step, over all micro-batches");
  f("batch", "micro_sequences", s.batch.micro_sequences, SettingRange{1, 1 << 20},
    "sequences worked on at once; the rest of a step is accumulated");
}

template <class S, class F>
void for_optimisation_settings(S& s, F f) {
  constexpr SettingRange any{0, 0}, share{0, 1}, count{0, 9007199254740991.0};
  auto& o = s.optimiser;
  f("optimiser", "learning_rate", o.learning_rate, SettingRange{0, 1e3}, "the highest of the schedule");
  f("optimiser", "beta1", o.beta1, SettingRange{0, 0.9999999}, "AdamW: decay of the first moment");
  f("optimiser", "beta2", o.beta2, SettingRange{0, 0.9999999}, "AdamW: decay of the second moment");
  f("optimiser", "epsilon", o.epsilon, SettingRange{1e-30, 1},
    "AdamW: added to the root of the second moment");
  f("optimiser", "weight_decay", o.weight_decay, SettingRange{0, 1e3}, "AdamW: times the learning rate");
  f("optimiser", "clip", o.clip, SettingRange{0, 1e30},
    "largest norm of the gradient over all weights; 0 = no limit");
  f("optimiser", "decay_norms", o.decay_norms, any, "weight decay also for norms and scalars");
  f("optimiser", "decay_embeddings", o.decay_embeddings, any, "weight decay also for embedding tables");
  auto& c = s.schedule;
  f("schedule", "shape", c.shape, any,
    "of the learning rate: cosine, linear or wsd (warm-up, stable, decay)");
  f("schedule", "warmup_steps", c.warmup_steps, count, "rising linearly from 0");
  f("schedule", "final_fraction", c.final_fraction, share, "of the learning rate, reached at the last step");
  f("schedule", "decay_fraction", c.decay_fraction, share,
    "wsd: the share of all steps that decays, linearly");
  f("schedule", "steps", c.steps, count, "budget; give exactly one of the three");
  f("schedule", "tokens", c.tokens, count, "budget; the last step may pass it");
  f("schedule", "flops", c.flops, SettingRange{0, 1e40},
    "budget, training being 3 forward passes; the last step may pass it");
  f("loops", "sampling", s.loops.sampling, any,
    "fixed, or binomial: 1 + Binomial(loops - 1, probability) a step");
  f("loops", "probability", s.loops.probability, share, "of each further loop, for binomial");
  f("loops", "gradient_loops", s.loops.gradient_loops, SettingRange{0, 1024},
    "gradients flow through this many of the last loops; 0 = all");
}

template <class S, class F>
void for_run_settings(S& s, F f) {
  constexpr SettingRange any{0, 0}, count{0, 9007199254740991.0};
  f("validation", "every", s.validation.every, count, "steps; 0 = after the last step only");
  f("validation", "batches", s.validation.batches, SettingRange{1, 1e9},
    "micro-batches of held-out text, at most");
  f("checkpoint", "every", s.checkpoint.every, count, "steps; 0 = after the last step only");
  f("checkpoint", "keep_last", s.checkpoint.keep_last, SettingRange{1, 1e9}, "older checkpoints are removed");
  f("checkpoint", "resume", s.checkpoint.resume, any, "auto, never, or a checkpoint folder");
  f("run", "folder", s.run.folder, any, "checkpoints and logs; empty = nothing is kept");
  f("run", "seed", s.run.seed, count, "of fresh weights and of sampled loops");
  f("run", "threads", s.run.threads, SettingRange{0, 4096}, "0 = one a core");
  f("run", "log_every", s.run.log_every, SettingRange{1, 9007199254740991.0}, "steps between records");
  f("run", "tensorboard", s.run.tensorboard, any, "event files beside the JSON lines");
  f("run", "peak_gflops", s.run.peak_gflops, SettingRange{0, 1e12},
    "what the machine can do at most, in 1e9 FLOPs a second: the base of mfu; 0 = measured by the CPU "
    "executor, else unknown");
  f("run", "precision", s.run.precision, any,
    "of products of matrices: f32, or bf16 with --executor torch; weights and sums stay f32");
  f("memory", "recompute", s.memory.recompute, any,
    "none, or keep only what passes between layers, or between iterations of the loop; compute the rest "
    "twice");
}

template <class S, class F>
void for_train_settings(S& s, F f) {
  for_input_settings(s, f);
  for_optimisation_settings(s, f);
  for_run_settings(s, f);
}

}  // namespace onceover
