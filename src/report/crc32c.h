// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as iSCSI (RFC 3720, B.4) and TFRecord files use it.
#pragma once
#include <cstdint>
#include <string_view>

namespace onceover {

uint32_t crc32c(std::string_view bytes);

// TFRecord stores a CRC rotated right by 15 bits plus 0xA282EAD8, so that a CRC over data holding CRCs stays
// sound.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace onceover
