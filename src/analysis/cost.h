// What a call costs, counted from the plan's steps: arithmetic, weights read, state read and written.
//
// A multiply-add is 2 FLOPs. Counts are doubles: exact up to 2^53, and no flag can overflow them. Nothing
// here knows an architecture; only rows that are demanded count. Pure functions, safe from any thread.
#pragma once
#include <cstdint>

#include "analysis/analysis.h"
#include "plan/plan.h"

namespace onceover {

// FLOPs by kind of work. Attention is the two products q kᵀ and p v over exactly the pairs that the mask lets
// through; its softmax counts as other.
struct Flops {
  double linear = 0;
  double attention_full = 0;    // masks without a window
  double attention_window = 0;  // masks with one
  double retention = 0;
  double experts = 0;  // router, and the products of the experts that run
  double logits = 0;
  double other = 0;  // norms, rotary, SwiGLU, sums, softmax: a few FLOPs an element (cost.cpp)

  double attention() const { return attention_full + attention_window; }
  double total() const { return linear + attention() + retention + experts + logits + other; }
};

// A count split by the retention of the state it belongs to.
struct ByRetention {
  double every = 0, window = 0, matrix = 0;
  double total() const { return every + window + matrix; }
  double& of(Retention::Kind kind) {
    return kind == Retention::Kind::Every ? every : kind == Retention::Kind::Window ? window : matrix;
  }
};

struct Cost {
  Flops flops;
  // Weight elements touched. Distinct: each once, however often a loop applies it. Read: once an application,
  // as when the caches hold no weight until its next use. Of an embedding only the rows looked up; of a stack
  // of experts at most min(experts, rows * active).
  double weight_elements_distinct = 0;
  double weight_elements_read = 0;
  // State elements. Read: rows of keys and values that the demanded rows see, each once a call and Attend
  // step (the rows made in this call included), and matrices once a call. Written: the rows that outlive the
  // call.
  ByRetention state_elements_read;
  ByRetention state_elements_written;
};

// `fresh` tokens on top of `past`; the last `logit_rows` of the fresh ones get logits (every fresh row when
// the analysis was made with LogitRows::Every). Error when a count is negative, when logit_rows > fresh, or
// beyond 2^30 tokens.
Cost cost(const Plan& plan, const Analysis& analysis, int64_t past, int64_t fresh, int64_t logit_rows);

// Three times the forward pass with every row's logits, over sequences of `context` tokens.
double training_flops_per_token(const Plan& plan, int64_t context);

// Parameters, each weight once. Error beyond 2^63.
struct ParameterCount {
  int64_t total = 0;
  int64_t active = 0;     // a token's share of each stack of experts, everything else in full
  int64_t embedding = 0;  // tables whose rows are looked up
  int64_t non_embedding() const { return total - embedding; }
};
ParameterCount count_parameters(const Plan& plan);

// How many layers a token passes: distinct pairs of loop and layer among the steps' scopes.
int64_t layer_applications(const Plan& plan);

// Pairs (row, seen row) for rows first .. end-1; window 0 = every earlier row.
int64_t attended_pairs(int64_t first, int64_t end, int window);

}  // namespace onceover
