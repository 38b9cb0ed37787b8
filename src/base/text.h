// Small helpers for messages and tables.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onceover {

// The candidate with the smallest edit distance to `word`, or "" when none is near (more than a third of it
// differs).
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// ", did you mean 'x'?" for the nearest candidate; "" when there is none.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// 1536 -> "1.5 KiB". Powers of 1024.
std::string format_bytes(double bytes);

// 1300000000 -> "1.30B". Powers of 1000: K, M, B, T.
std::string format_count(double count);

// 18610000000 -> "18.61 GFLOP". Powers of 1000.
std::string format_flops(double flops);

// "[3, 4]".
std::string shape_text(const std::vector<int64_t>& shape);

// Columns padded to their widest cell; the first column left-aligned, the others right-aligned. No trailing
// spaces.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace onceover
