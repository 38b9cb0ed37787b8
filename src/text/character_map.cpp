#include "text/character_map.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"

namespace onceover {
namespace {

uint32_t label(uint32_t unit) { return unit & 0x800000FF; }

[[noreturn]] void refuse(const std::string& where, const std::string& found) {
  throw Error("{}: the normalisation table (precompiled_charsmap) {}", where, found);
}

}  // namespace

CharacterMap::CharacterMap(std::string_view table, const std::string& where) {
  if (table.empty()) return;
  if (table.size() > max_bytes)
    refuse(where, fmt::format("has {} bytes, expected at most {}", table.size(), max_bytes));
  uint32_t tree = 0;
  if (table.size() >= sizeof tree) std::memcpy(&tree, table.data(), sizeof tree);
  if (tree == 0 || tree % sizeof(uint32_t) != 0 || tree > table.size() - sizeof tree)
    refuse(where, fmt::format("of {} bytes says that its tree has {}", table.size(), tree));
  units_.resize(tree / sizeof(uint32_t));
  std::memcpy(units_.data(), table.data() + sizeof tree, tree);
  replacements_ = table.substr(sizeof tree + tree);
  check(where);
}

uint32_t CharacterMap::next_units(uint32_t unit) const {
  return unit ^ ((units_[unit] >> 10) << ((units_[unit] >> 6) & 8));
}

std::string_view CharacterMap::replacement_at(uint32_t unit) const {
  const std::string_view rest = std::string_view(replacements_).substr(units_[next_units(unit)] & 0x7FFFFFFF);
  return rest.substr(0, rest.find('\0'));
}

CharacterMap::Match CharacterMap::longest(std::string_view text) const {
  Match match;
  if (units_.empty()) return match;
  uint32_t unit = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const uint32_t next = next_units(unit) ^ byte;
    if (label(units_[next]) != byte) break;
    unit = next;
    if (ends_key(unit)) match = {i + 1, replacement_at(unit)};
  }
  return match;
}

// Every walk from the root, each unit once: what is below it does not depend on the way to it.
void CharacterMap::check(const std::string& where) const {
  constexpr uint32_t unseen = UINT32_MAX, on_the_way = UINT32_MAX - 1;
  struct Visit {
    uint32_t unit, byte = 0, longest = 0;  // bytes of the longest walk from here
  };
  std::vector<uint32_t> longest(units_.size(), unseen);
  std::vector<Visit> way = {{0}};
  check_unit(0, where);
  longest[0] = on_the_way;
  while (!way.empty()) {
    Visit& visit = way.back();
    if (visit.longest > max_key_bytes || way.size() > max_key_bytes + 1)
      refuse(where, fmt::format("has keys of more than {} bytes", max_key_bytes));
    if (visit.byte == 256) {
      longest[visit.unit] = visit.longest;
      const uint32_t walked = visit.longest + 1;
      way.pop_back();
      if (!way.empty()) way.back().longest = std::max(way.back().longest, walked);
      continue;
    }
    const uint32_t byte = visit.byte++, next = next_units(visit.unit) ^ byte;
    if (label(units_[next]) != byte) continue;
    if (longest[next] == on_the_way) refuse(where, "leads in a circle");
    if (longest[next] != unseen) {
      visit.longest = std::max(visit.longest, longest[next] + 1);
      continue;
    }
    check_unit(next, where);
    if (ends_key(next)) check_replacement(next, where);
    longest[next] = on_the_way;
    way.push_back({next});
  }
}

void CharacterMap::check_unit(uint32_t unit, const std::string& where) const {
  if ((next_units(unit) | 0xFF) >= units_.size()) refuse(where, "leads outside its tree");
}

void CharacterMap::check_replacement(uint32_t unit, const std::string& where) const {
  const uint32_t at = units_[next_units(unit)] & 0x7FFFFFFF;
  const size_t end = at < replacements_.size() ? replacements_.find('\0', at) : std::string::npos;
  if (end == std::string::npos) refuse(where, "has a replacement without an end");
  if (end - at > max_replacement_bytes)
    refuse(where, fmt::format("has a replacement of more than {} bytes", max_replacement_bytes));
  if (!is_utf8(replacement_at(unit))) refuse(where, "has a replacement that is not UTF-8");
}

}  // namespace onceover
