// The names of the formats that keys and values are kept in.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cpu/kernels/page.h"

namespace onceover::cpu {

// "f32", "f16" or "q8"; Error for another name, naming these.
KvType kv_type(std::string_view name);
std::string_view kv_type_name(KvType type);
const std::vector<std::string>& kv_type_names();

}  // namespace onceover::cpu
