#include "cli/sampling.h"

#include <random>

#include "cli/usage.h"
#include "generate/stop_strings.h"

namespace onceover {
namespace {

void declare_sampler(CLI::App& app, SamplerSettings& s) {
  app.add_option("--temperature", s.temperature, "0 takes the likeliest token")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--top-k", s.top_k, "draw from the K likeliest tokens; 0 = all")
      ->check(whole_number(0, 1 << 30))
      ->type_name("K")
      ->capture_default_str();
  app.add_option("--top-p", s.top_p,
                 "draw from the likeliest tokens that have this much probability together")
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--min-p", s.min_p, "leave out tokens below this share of the likeliest one's probability")
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--repetition-penalty", s.repetition_penalty, "above 1 makes tokens met before less likely")
      ->type_name("X")
      ->capture_default_str();
}

}  // namespace

void add_sampling_options(CLI::App& app, GenerateRequest& request) {
  app.add_option("--max-tokens", request.max_tokens,
                 "tokens to generate at most; a full context ends a text sooner")
      ->check(whole_number(0, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--stop", request.stops, "end at this text; may be given more than once")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  declare_sampler(app, request.sampler);
  request.sampler.seed = std::random_device{}();
  app.add_option("--seed", request.sampler.seed,
                 "equal seeds give equal texts; another each time when left out")
      ->check(whole_number())
      ->type_name("N");
  check_usage(app, [&request] {
    check_settings(request.sampler);
    StopStrings{request.stops};
  });
}

}  // namespace onceover
