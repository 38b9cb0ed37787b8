#include "gguf/ggml_type.h"

#include <algorithm>
#include <array>

namespace onceover {
namespace {

struct Row {
  GgmlType type;
  std::string_view name;
  int64_t elements, bytes;  // of one block
};

constexpr std::array rows{
    Row{GgmlType::F32, "F32", 1, 4},
    Row{GgmlType::F16, "F16", 1, 2},
    Row{GgmlType::Q4_0, "Q4_0", 32, 18},
    Row{GgmlType::Q4_1, "Q4_1", 32, 20},
    Row{GgmlType::Q5_0, "Q5_0", 32, 22},
    Row{GgmlType::Q5_1, "Q5_1", 32, 24},
    Row{GgmlType::Q8_0, "Q8_0", 32, 34},
    Row{GgmlType::Q2_K, "Q2_K", 256, 84},
    Row{GgmlType::Q3_K, "Q3_K", 256, 110},
    Row{GgmlType::Q4_K, "Q4_K", 256, 144},
    Row{GgmlType::Q5_K, "Q5_K", 256, 176},
    Row{GgmlType::Q6_K, "Q6_K", 256, 210},
    Row{GgmlType::IQ2_XXS, "IQ2_XXS", 256, 66},
    Row{GgmlType::IQ2_XS, "IQ2_XS", 256, 74},
    Row{GgmlType::IQ3_XXS, "IQ3_XXS", 256, 98},
    Row{GgmlType::IQ1_S, "IQ1_S", 256, 50},
    Row{GgmlType::IQ4_NL, "IQ4_NL", 32, 18},
    Row{GgmlType::IQ3_S, "IQ3_S", 256, 110},
    Row{GgmlType::IQ2_S, "IQ2_S", 256, 82},
    Row{GgmlType::IQ4_XS, "IQ4_XS", 256, 136},
    Row{GgmlType::I8, "I8", 1, 1},
    Row{GgmlType::I16, "I16", 1, 2},
    Row{GgmlType::I32, "I32", 1, 4},
    Row{GgmlType::I64, "I64", 1, 8},
    Row{GgmlType::F64, "F64", 1, 8},
    Row{GgmlType::IQ1_M, "IQ1_M", 256, 56},
    Row{GgmlType::BF16, "BF16", 1, 2},
    Row{GgmlType::TQ1_0, "TQ1_0", 256, 54},
    Row{GgmlType::TQ2_0, "TQ2_0", 256, 66},
    Row{GgmlType::MXFP4, "MXFP4", 32, 17},
};

const Row* find_row(uint32_t number) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& row) { return static_cast<uint32_t>(row.type) == number; });
  return found == rows.end() ? nullptr : found;
}

const Row& row_of(GgmlType type) { return *find_row(static_cast<uint32_t>(type)); }

}  // namespace

std::optional<GgmlType> ggml_type_from_number(uint32_t number) {
  const Row* row = find_row(number);
  return row == nullptr ? std::nullopt : std::optional(row->type);
}

std::string_view ggml_type_name(GgmlType type) { return row_of(type).name; }
int64_t block_elements(GgmlType type) { return row_of(type).elements; }
int64_t block_bytes(GgmlType type) { return row_of(type).bytes; }

}  // namespace onceover
