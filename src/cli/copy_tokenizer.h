// The tokeniser of a model, written beside its weights.
#pragma once
#include "models/model_file.h"
#include "weights/checkpoint.h"

namespace onceover {

// The files of a checkpoint as they are; what a GGUF file has inside, or lies beside llama2.c's, in the form
// of a checkpoint. None where there is none.
void copy_tokenizer(const ModelFile& file, CheckpointWriter& writer);

}  // namespace onceover
