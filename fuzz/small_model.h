// A YOCO-U so small that an engine for it is made in no time. The seeds of sequence_state and packed_weights
// were made with it.
#pragma once
#include "architectures/registry.h"

namespace onceover {

inline Config small_config() {
  Config c;
  c.architecture = "yoco-u";
  find_architecture(c.architecture, "small").defaults(c);
  c.vocab_size = 29;
  c.hidden_size = 16;
  c.num_hidden_layers = 2;
  c.num_attention_heads = 2;
  c.num_key_value_heads = 1;
  c.head_dim = 8;
  c.intermediate_size = 16;
  c.sliding_window = 5;
  return c;
}

}  // namespace onceover
