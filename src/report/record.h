// What is known of a training run at one step.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onceover {

// Measured on held-out text; the two come together or not at all.
struct Validation {
  double loss = 0;           // nats a token
  double bits_per_byte = 0;  // of the text before tokenisation
};

struct Record {
  int64_t step = 0;
  int64_t tokens = 0;       // trained on since the start of the run, this step included
  double flops = 0;         // spent since the start of the run
  double wall_seconds = 0;  // since the start of the run, over all its resumptions
  double loss = 0;          // nats a token, mean over the batch
  double learning_rate = 0;
  double grad_norm = 0;  // before clipping
  double tokens_per_second = 0;
  double mfu = 0;            // model flops utilisation, a share of 1
  int64_t memory_bytes = 0;  // peak, of the process or device
  std::optional<Validation> validation;
  std::map<std::string, double> extra;  // whatever else an experiment measures; no name of a field above
};

// The names and values of a record in their fixed order; validation_loss and bits_per_byte only where
// measured; extra last.
std::vector<std::pair<std::string, double>> fields(const Record& record);

// One flat JSON object. Every key of its kind is present: a value that is not finite is null. Error when an
// extra key is the name of a field, or a count is negative.
nlohmann::ordered_json to_json(const Record& record);

// The opposite: null reads as NaN, unknown keys as extra. Errors name `where` and the key.
Record record_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace onceover
