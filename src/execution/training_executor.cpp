#include "execution/training_executor.h"

#include "base/error.h"

namespace onceover {

void check_tokens(const TokenBatch& batch, int64_t vocabulary) {
  const auto expected = static_cast<size_t>(batch.sequences * batch.length);
  if (batch.inputs.size() != expected || batch.targets.size() != expected) {
    throw Error("batch of {} x {} tokens has {} inputs and {} targets", batch.sequences, batch.length,
                batch.inputs.size(), batch.targets.size());
  }
  for (int32_t token : batch.inputs) {
    if (token < 0 || token >= vocabulary)
      throw Error("token {} is outside the vocabulary of {}", token, vocabulary);
  }
  for (int32_t token : batch.targets) {
    if (token >= vocabulary)
      throw Error("target token {} is outside the vocabulary of {}", token, vocabulary);
  }
}

}  // namespace onceover
