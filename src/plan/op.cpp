#include "plan/op.h"

#include <fmt/format.h>

namespace onceover {

const char* op_name(const Op& op) {
  return std::visit(Overload{
                        [](const Embed&) { return "embed"; },
                        [](const Norm&) { return "norm"; },
                        [](const Linear&) { return "linear"; },
                        [](const Rope&) { return "rope"; },
                        [](const Attend&) { return "attend"; },
                        [](const Retain&) { return "retain"; },
                        [](const Swiglu&) { return "swiglu"; },
                        [](const Activate&) { return "activate"; },
                        [](const Experts&) { return "experts"; },
                        [](const Add&) { return "add"; },
                        [](const Mix&) { return "mix"; },
                        [](const Logits&) { return "logits"; },
                    },
                    op);
}

std::string op_settings(const Op& op) {
  return std::visit(
      Overload{
          [](const Embed& o) {
            if (o.by == Lookup::Row) return fmt::format("scale={} by row", o.scale);
            return o.scale == 1 ? std::string() : fmt::format("scale={}", o.scale);
          },
          [](const Norm& o) {
            return fmt::format("groups={} eps={}{}{}", o.groups, o.eps, o.centred ? " centred" : "",
                               o.shared ? " shared" : "");
          },
          [](const Rope& o) { return fmt::format("heads={} {}", o.heads, rope_angles_text(o.angles)); },
          [](const Activate& o) {
            return std::string(o.function == Activation::Gelu ? "gelu" : "gelu_tanh");
          },
          [](const Attend& o) {
            const std::string window = o.mask.window == 0 ? "all" : std::to_string(o.mask.window);
            return fmt::format("heads={}/{} window={} scale={}", o.heads, o.kv_heads, window, o.scale);
          },
          [](const Retain& o) {
            return fmt::format("heads={} temperature={} scale={}", o.heads, o.temperature, o.scale);
          },
          [](const Experts& o) {
            return fmt::format("active={} normalise={} balance={}", o.active, o.normalise, o.balance);
          },
          [](const Mix& o) { return fmt::format("scale={}", o.scale); },
          [](const auto&) { return std::string(); },
      },
      op);
}

}  // namespace onceover
