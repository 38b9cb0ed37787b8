// The tables of arXiv 2604.01220 that follow from plans alone, computed from plans: 1 (complexity), 7
// (sizes), 10 (KV).
#pragma once
#include <string>
#include <vector>

#include "cli/explain.h"
#include "cli/table.h"

namespace onceover {

// Error unless the table, its format and the architectures of `options` are known.
void check_table_options(const ExplainOptions& options);

// `options.table`: "kv", "complexity" or "sizes"; `options.architectures` narrows "sizes". They must have
// passed check_table_options.
std::vector<Table> explain_tables(const ExplainOptions& options);

}  // namespace onceover
