#include "train/state_json.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/hex.h"

namespace onceover {
namespace {

std::string check_of(const nlohmann::json& members) { return to_hex(hash64(members.dump())); }

// Calls f(name, member) for every member.
template <class S, class F>
void for_state(S& s, F f) {
  f("step", s.step);
  f("sequences", s.sequences);
  f("tokens", s.tokens);
  f("flops", s.flops);
  f("wall_seconds", s.wall_seconds);
  f("seed", s.seed);
  f("data_seed", s.data_seed);
  f("sequence_length", s.sequence_length);
  f("data_fingerprint", s.data_fingerprint);
  f("plan_fingerprint", s.plan_fingerprint);
}

void require(bool holds) {
  if (!holds) throw Error("another type or range");
}

void read_member(const nlohmann::json& json, uint64_t& out) {
  out = from_hex(json.get_ref<const std::string&>(), "");
}

void read_member(const nlohmann::json& json, int64_t& out) {
  require(json.is_number_integer());
  require(json.is_number_unsigned() ? std::in_range<int64_t>(json.get<uint64_t>())
                                    : json.get<int64_t>() >= 0);
  out = json.get<int64_t>();
}

void read_member(const nlohmann::json& json, double& out) {
  require(json.is_number() && json.get<double>() >= 0);
  out = json.get<double>();
}

}  // namespace

nlohmann::json state_to_json(const RunState& state) {
  nlohmann::json json = nlohmann::json::object();
  for_state(state, [&](const char* name, const auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, uint64_t>) {
      json[name] = to_hex(member);
    } else {
      json[name] = member;
    }
  });
  json["check"] = check_of(json);
  return json;
}

RunState state_from_json(const nlohmann::json& json, const std::string& where) {
  if (!json.contains("check"))
    throw Error("{}: not the state of a training run: it has no member 'check'", where);
  nlohmann::json members = json;
  members.erase("check");
  const std::string expected = check_of(members);
  if (json["check"] != expected) throw Error("{}: damaged: its members do not fit their check", where);
  RunState state;
  for_state(state, [&](const char* name, auto& member) {
    try {
      read_member(members.at(name), member);
    } catch (const std::exception&) {
      throw Error("{}: member '{}' is missing, of another type or out of range", where, name);
    }
  });
  return state;
}

}  // namespace onceover
