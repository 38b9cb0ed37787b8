// Text from a prompt: feed, sample, show, until something ends it.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "execution/engine.h"
#include "generate/sampler.h"
#include "text/tokenizer.h"

namespace onceover {

struct GenerateRequest {
  std::vector<int32_t> prompt;  // at least one token
  std::vector<int32_t> before;  // what the engine holds already: the repetition penalty counts it too
  int64_t max_tokens = 256;
  int64_t context =
      std::numeric_limits<int64_t>::max();       // tokens of before, prompt and text together, at most
  TextPosition position = TextPosition::Inside;  // Start when no text stands before what is generated
  std::vector<std::string> stops;
  std::vector<int32_t> ends;  // tokens that end the text beside the tokeniser's
  bool ignore_eos = false;
  SamplerSettings sampler;
};

// The end token or a stop string; max_tokens; the context is full.
enum class FinishReason { Stop, Length, Context };

// "stop", "length", "the model's context".
const char* finish_name(FinishReason finish);

struct GenerateResult {
  std::vector<int32_t> tokens;  // without the end token
  FinishReason finish = FinishReason::Length;
  double prompt_seconds = 0, seconds = 0;  // of feeding the prompt; of everything after
};

// Continues `engine`'s sequence. `show` receives text as soon as it is certain, whole characters at a time;
// false ends the text there. Rows that a model's vocabulary has beyond the tokeniser's are never drawn.
// Errors as in Engine, Sampler and StopStrings.
GenerateResult generate(Engine& engine, const Tokenizer& tokenizer, const GenerateRequest& request,
                        const std::function<bool(const std::string&)>& show);

}  // namespace onceover
