// What a plan implies: which rows are needed, which values outlive a call, what a run costs.
//
// Everything here is derived from the plan's steps; nothing knows an architecture. Pure functions of
// immutable plans, safe from any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace onceover {

// Which rows of a value anybody needs.
enum class Rows : uint8_t {
  None,    // never computed
  Logits,  // only rows whose logits are asked for
  All,     // every row, because later rows read it as history
};

// How many rows that is, of `fresh` new ones of which the last `logit_rows` get logits.
inline int64_t demanded_rows(Rows demand, int64_t fresh, int64_t logit_rows) {
  return demand == Rows::All ? fresh : demand == Rows::Logits ? logit_rows : 0;
}

// How much of a state value lives on after a call.
struct Retention {
  enum class Kind : uint8_t {
    Every,   // every row: grows with the sequence
    Window,  // the last `window` rows: a ring
    Matrix,  // one matrix per sequence: a recurrence
  };
  Kind kind = Kind::Every;
  int window = 0;  // rows a ring holds: what its widest reader sees, the row being made included

  int64_t rows(int64_t tokens) const;  // rows that live after `tokens` tokens; 1 for a matrix
};

// A value that outlives the call: a k or v operand of Attend (its rows), or the matrix of a Retain step.
struct Slot {
  ValueId value = -1;  // the step that makes the rows, or the Retain step that owns the matrix
  int64_t width = 0;   // elements a row; elements of the whole matrix for Kind::Matrix
  Retention keep;
  int64_t elements(int64_t tokens) const { return keep.rows(tokens) * width; }
};

struct Analysis {
  std::vector<Rows> demand;  // by value
  std::vector<Slot> slots;   // in order of value
  std::vector<int> slot_of;  // by value; -1 = none

  // Of one sequence that holds `tokens` tokens. Error beyond 2^63.
  int64_t state_elements(int64_t tokens) const;
};

// Which rows get logits: those asked for, or every row (log-probs of a whole prompt, training).
enum class LogitRows : uint8_t { Asked, Every };

// Demand flows backwards from the logits: an input inherits the demand of the step that reads it, except that
// a demanded Attend or Retain needs every row of its history. A value read by several Attends keeps the most
// that one of them sees. A step that nobody demands is not run and leaves no slot.
Analysis analyse(const Plan& plan, LogitRows logits = LogitRows::Asked);

// Elements of the matrix that a Retain step carries: heads * k_head_dim * v_head_dim.
int64_t matrix_elements(const Plan& plan, const Retain& retain);

}  // namespace onceover
