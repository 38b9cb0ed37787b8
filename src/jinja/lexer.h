// A template as a row of tokens, white space between tags already stripped as Hugging Face has it:
// trim_blocks and lstrip_blocks on, one newline at the template's end dropped, every newline "\n".
//
// Source of the method: the lexer of Jinja 3.1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jinja/text.h"

namespace onceover::jinja {

// Counted from 1; columns in characters.
struct Position {
  int line = 1, column = 1;
};

struct Token {
  enum class Kind {
    Data,
    BlockBegin,
    BlockEnd,
    OutputBegin,
    OutputEnd,
    Name,
    String,
    Integer,
    Float,
    Operator,
    End
  };

  Kind kind;
  Position at;
  std::string word;  // of Name and Operator
  Text text = {};    // of Data and String
  int64_t integer = 0;
  double number = 0;
};

// Error with "WHERE:line:column: " before it.
std::vector<Token> tokens_of(std::string_view source, const std::string& where);

}  // namespace onceover::jinja
