// The table of a SentencePiece normaliser (precompiled_charsmap): short texts, and what each is to be.
//
// Byte format: the size of the keys' tree in bytes (u32), the tree, the replacements, each ended by a NUL.
// All little endian. The tree is a double array of Darts-clone (Yata), a u32 a unit: bit 8 says that a key
// ends here, bits 0 to 7 and 31 are the byte that leads here, bits 9 to 31 where the next units are. The unit
// of a key's end holds its replacement's place in bits 0 to 30.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

class CharacterMap {
 public:
  static constexpr size_t max_bytes = size_t{4} << 20;
  static constexpr size_t max_key_bytes = 256, max_replacement_bytes = 256;

  CharacterMap() = default;

  // Error when the table leads outside itself, in a circle or to what is not UTF-8, or passes the limits
  // above. `where` names the file.
  CharacterMap(std::string_view table, const std::string& where);

  struct Match {
    size_t bytes = 0;  // of the key; 0 when there is none
    std::string_view replacement;
  };

  // The longest key that `text` begins with. The match is valid as long as the map.
  Match longest(std::string_view text) const;

 private:
  uint32_t next_units(uint32_t unit) const;
  bool ends_key(uint32_t unit) const { return (units_[unit] & 0x100) != 0; }
  std::string_view replacement_at(uint32_t unit) const;
  void check(const std::string& where) const;
  void check_unit(uint32_t unit, const std::string& where) const;
  void check_replacement(uint32_t unit, const std::string& where) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace onceover
