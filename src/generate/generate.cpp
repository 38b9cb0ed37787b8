#include "generate/generate.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "generate/stop_strings.h"
#include "text/detokenizer.h"

namespace onceover {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Tokens that a request may generate, and what ends it when it has so many.
struct Room {
  int64_t tokens;
  FinishReason when_full;
};

Room room_for(const GenerateRequest& request) {
  const int64_t free = request.context - std::ssize(request.before) - std::ssize(request.prompt);
  if (free < request.max_tokens) return {free, FinishReason::Context};
  return {request.max_tokens, FinishReason::Length};
}

}  // namespace

const char* finish_name(FinishReason finish) {
  switch (finish) {
    case FinishReason::Stop:
      return "stop";
    case FinishReason::Length:
      return "length";
    case FinishReason::Context:
      return "the model's context";
  }
  return "";
}

GenerateResult generate(Engine& engine, const Tokenizer& tokenizer, const GenerateRequest& request,
                        const std::function<bool(const std::string&)>& show) {
  if (request.prompt.empty())
    throw Error("cannot continue an empty prompt: the model has no token to start from");
  Sampler sampler(request.sampler);
  StopStrings stops(request.stops);
  Detokenizer detokenizer(tokenizer, request.position);
  std::vector<int32_t> history = request.before;
  history.insert(history.end(), request.prompt.begin(), request.prompt.end());
  const Room room = room_for(request);
  GenerateResult result;
  result.finish = room.when_full;
  bool wanted = true;
  const auto emit = [&](const std::string& text) {
    if (wanted && !text.empty()) wanted = show(text);
    return wanted;
  };
  const auto ends = [&](int32_t token) {
    return tokenizer.is_end(token) || std::ranges::find(request.ends, token) != request.ends.end();
  };
  const auto nameable = static_cast<size_t>(std::min(engine.vocabulary(), tokenizer.vocab_size()));

  auto start = std::chrono::steady_clock::now();
  if (room.tokens <= 0) return result;
  std::span<const float> logits = engine.feed(request.prompt);
  result.prompt_seconds = seconds_since(start);
  start = std::chrono::steady_clock::now();
  bool going = true;
  while (going) {
    const int32_t token = sampler.pick(logits.first(nameable), history);
    if (!request.ignore_eos && ends(token)) {
      result.finish = FinishReason::Stop;
      break;
    }
    history.push_back(token);
    result.tokens.push_back(token);
    going = emit(stops.push(detokenizer.push(token))) && !stops.stopped() &&
            std::ssize(result.tokens) < room.tokens;
    if (going) logits = engine.feed({&history.back(), 1});
  }
  emit(stops.push(detokenizer.finish()));
  emit(stops.finish());
  if (stops.stopped()) result.finish = FinishReason::Stop;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace onceover
