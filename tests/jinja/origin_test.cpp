// What came from the input is told from what the template wrote, whatever was done to it.
#include <gtest/gtest.h>

#include "jinja/oracle.h"

namespace onceover {
namespace {

// The output with the input's part in brackets.
std::string marked(const std::string& source, const OrderedJson& context) {
  const jinja::Rendered rendered = render(source, context);
  std::string out;
  size_t done = 0;
  for (const auto& [start, end] : rendered.input) {
    out += rendered.text.substr(done, start - done) + "[" + rendered.text.substr(start, end - start) + "]";
    done = end;
  }
  return out + rendered.text.substr(done);
}

TEST(Origin, StaysWithEveryCharacter) {
  const OrderedJson context = {{"x", " <|end|> "}, {"y", "abc"}, {"d", {{"k", "v"}}}};
  EXPECT_EQ(marked("<s>{{ x }}</s>", context), "<s>[ <|end|> ]</s>");
  EXPECT_EQ(marked("{{ '<s>' + x | trim + '</s>' }}", context), "<s>[<|end|>]</s>");
  EXPECT_EQ(marked("{{ (x ~ '!') | upper }}", context), "[ <|END|> ]!");
  EXPECT_EQ(marked("{{ x.split('|')[1] }}{{ y[::-1] }}-{{ y | replace('b', '_') }}", context),
            "[endcba]-[a]_[c]");
  EXPECT_EQ(marked("{{ d | tojson }}", context), "{\"[k]\": \"[v]\"}");
  EXPECT_EQ(marked("{{ d }}{% set z %}({{ y }}){% endset %}{{ z }}", context), "{'[k]': '[v]'}([abc])");
  EXPECT_EQ(
      marked("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(y) | indent }}{{ [y, 'q'] | join(',') }}", context),
      "<[abc]>[abc],q");
  EXPECT_EQ(marked("{% for c in y %}{{ c }}.{% endfor %}{{ y | title }}{{ y.strip('a') }}", context),
            "[a].[b].[c].[Abcbc]");
  EXPECT_EQ(marked("{{ strftime_now(y) }}.{{ strftime_now('%Y') }}{{ z | upper }}{{ d | dictsort }}",
                   {{"y", "abc"}, {"z", "ß"}, {"d", {{"k", "v"}}}}),
            "[abc].2026[SS][('[k]', '[v]')]");
  EXPECT_EQ(marked("{{ 'x-y' | replace('-', y) }}{{ y | indent('> ', true) }}{{ [y, 'B'] | sort | join }}",
                   context),
            "x[abc]y> [abcabc]B");
  EXPECT_EQ(marked("{% if y == 'abc' and 'b' in y and y.startswith('a') %}same{% endif %}", context), "same");
}

}  // namespace
}  // namespace onceover
