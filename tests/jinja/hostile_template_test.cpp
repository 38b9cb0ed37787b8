// Templates that mean harm, and inputs that do.
#include <gtest/gtest.h>

#include "jinja/oracle.h"
#include "support/errors.h"

namespace onceover {
namespace {

std::string repeated(const std::string& part, int count) {
  std::string all;
  for (int i = 0; i < count; i++) all += part;
  return all;
}

std::string refusal(const std::string& source, const OrderedJson& context = OrderedJson::object()) {
  return error_of([&] { render(source, context); });
}

TEST(HostileTemplate, EndsALoopOfATrillionRounds) {
  const std::string loop = "{% for i in range(10000) %}", end = "{% endfor %}";
  EXPECT_TRUE(contains(refusal(loop + loop + loop + "x" + end + end + end), "takes too long"));
  EXPECT_TRUE(contains(refusal("{% for i in range(10 ** 12) %}{% endfor %}"), "range of more than"));
  EXPECT_TRUE(contains(refusal("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}"), "nests deeper"));
}

TEST(HostileTemplate, RefusesToNestTenThousandDeep) {
  const int deep = 10'000;
  for (const auto& [open, close] :
       std::vector<std::pair<std::string, std::string>>{{"{% if 1 %}", "{% endif %}"},
                                                        {"{% for x in y %}", "{% endfor %}"},
                                                        {"{% set x %}", "{% endset %}"}})
    EXPECT_TRUE(contains(refusal(repeated(open, deep) + repeated(close, deep)), "nested deeper")) << open;
  for (const char* open : {"(", "[", "{1:", "-", "not ", "x(", "x[", "1 if ", "1 if 1 else ", "1 ** ("})
    EXPECT_FALSE(refusal("{{ " + repeated(open, deep) + " }}").empty()) << open;
  for (const char* more : {".a", "[0]", "()", "|upper", " + 1", " ~ 1", " and 1", "[:]"})
    EXPECT_TRUE(contains(refusal("{{ x" + repeated(more, deep) + " }}"), "deeper")) << more;
}

TEST(HostileTemplate, BoundsTheSizeOfTexts) {
  EXPECT_FALSE(refusal("{{ 'abcdefghij' * 10 ** 9 }}").empty());
  EXPECT_FALSE(refusal("{{ [0] * 10 ** 12 }}").empty());
  EXPECT_FALSE(refusal("{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}"
                       "{% endfor %}")
                   .empty());
  EXPECT_FALSE(refusal("{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}"
                       "{% endfor %}")
                   .empty());
  EXPECT_FALSE(refusal("{{ 'a'.replace('', 'b' * 30000000) }}").empty());
  EXPECT_FALSE(refusal("{% set x = 'ab' * 1000000 %}{% for i in range(99999) %}{{ x == x ~ '' }}{% endfor %}")
                   .empty());
  EXPECT_FALSE(refusal(std::string(5 << 20, 'x')).empty());
}

TEST(HostileTemplate, BoundsTheDepthOfValues) {
  EXPECT_TRUE(
      contains(refusal("{% set ns = namespace(x=1) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}"
                       "{% endfor %}"),
               "nested deeper"));
  // What holds a value that is no list: its method, and a loop over it.
  EXPECT_TRUE(
      contains(refusal("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x.copy] %}"
                       "{% endfor %}"),
               "nested deeper"));
  EXPECT_TRUE(contains(refusal("{% set ns = namespace(x=1) %}{% for i in range(1000) %}{% for j in [ns.x] %}"
                               "{% set ns.x = loop %}{% endfor %}{% endfor %}"),
                       "nested deeper"));
  OrderedJson deep = 1;
  for (int i = 0; i < 1000; i++) deep = OrderedJson::array({deep});
  EXPECT_FALSE(refusal("", {{"x", deep}}).empty());
  // What a shared part spells is written as often as it is there.
  EXPECT_FALSE(refusal("{% set ns = namespace(x=none) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}"
                       "{% endfor %}{{ ns.x }}")
                   .empty());
}

TEST(HostileTemplate, NamespacesAndLoopsThatHoldThemselvesAreNoTrap) {
  EXPECT_FALSE(refusal("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me.me }}").empty());
  EXPECT_FALSE(refusal("{% set ns = namespace() %}{% set ns.l = [ns] %}{{ ns.l | tojson }}").empty());
  EXPECT_EQ(render("{% for i in [1, 2] %}{{ loop.changed(loop) }}{% endfor %}").text, "TrueFalse");
  EXPECT_FALSE(refusal("{% set ns = namespace() %}{% for i in [1] %}{% macro m() %}{{ i }}{% endmacro %}"
                       "{% set ns.m = m %}{% endfor %}{{ ns.m() }}")
                   .empty());
}

// Each would run for hours, or fill the memory, if it were paid for by its length alone.
TEST(HostileTemplate, BoundsWhatASingleOperationCosts) {
  EXPECT_EQ(render("{{ ('a' * 500000 ~ 'b') in 'a' * 1000000 }}").text, "False");
  EXPECT_EQ(render("{{ ('a' * 1000000).rfind('b' ~ 'a' * 500000) }}").text, "-1");
  EXPECT_EQ(render("{{ ('a,' * 100000).rsplit(',') | length }}").text, "100001");
  EXPECT_FALSE(refusal("{{ ('a' * 1000000) | trim('b' * 100000 ~ 'a') }}").empty());
  EXPECT_FALSE(refusal("{{ range(10000) | list | tojson(separators=('x' * 1000000, ':')) }}").empty());
  EXPECT_FALSE(refusal("{{ ('&' * 8000000) | e }}").empty());
  std::string dict = "{% set d = {";
  for (int i = 0; i < 50'000; i++) dict += fmt::format("{}: 1,", i);
  const std::string copies = dict + "} %}{% for i in range(100000) %}{% set e = dict(d) %}{% endfor %}";
  EXPECT_TRUE(contains(refusal(copies), "takes too long"));
  std::string values = "{{ range(100000) | map('string', ";
  for (int i = 0; i < 300; i++) values += fmt::format("a{}=1,", i);
  EXPECT_TRUE(contains(refusal(values + ") }}"), "more than 250 arguments"));
  EXPECT_TRUE(contains(refusal("{{ " + std::string(1000, 'a') + " }}"), "a name of 1000 characters"));
}

TEST(HostileTemplate, ArithmeticThatOverflowsIsAnError) {
  for (const char* sum :
       {"9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775807 * 2",
        "(-9223372036854775807 - 1) // -1", "-(-9223372036854775807 - 1)", "10 ** 30", "99999999999999999999",
        "1 // 0", "1 % 0", "1.0 % 0", "(-9223372036854775807 - 1) | abs", "1e300 | int",
        "'9223372036854775808' | int", "0 ** -1", "0.0 ** -1", "10.0 ** 400", "(-8) ** 0.5"})
    EXPECT_FALSE(refusal(fmt::format("{{{{ {} }}}}", sum)).empty()) << sum;
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) % -1 }}").text, "0");
  EXPECT_EQ(render("{{ 'abc'[9223372036854775807:] }}{{ 'abc'[::-9223372036854775807] }}").text, "c");
}

TEST(HostileTemplate, ErrorsTellLineAndColumn) {
  EXPECT_TRUE(refusal("a\n  {% if x %}\n{{ 1 + }}").starts_with("template:3:8: expected an expression"));
  EXPECT_TRUE(refusal("\n\n{{ a.b }}").starts_with("template:3:5: 'a' is undefined"));
  EXPECT_TRUE(
      refusal("{% for x in y %}\n{{ raise_exception('roles must alternate') }}{% endfor %}", {{"y", {1}}})
          .starts_with("template:2:19: roles must alternate"));
}

TEST(HostileTemplate, WhatIsNotSupportedIsNamedWhenItIsParsed) {
  const auto parse = [](const std::string& source) {
    return error_of([&] { jinja::Template(source, "t"); });
  };
  EXPECT_EQ(parse("{% include 'x' %}"), "t:1:4: tag 'include' is not supported here");
  EXPECT_EQ(parse("{% if false %}{{ x | wordwrap(3) }}{% endif %}"),
            "t:1:22: filter 'wordwrap' is not supported");
  EXPECT_EQ(parse("{{ x is escaped }}"), "t:1:9: test 'escaped' is not supported");
  EXPECT_EQ(parse("{% for x in y recursive %}{% endfor %}"), "t:1:15: a recursive loop is not supported");
  EXPECT_EQ(parse("{{ f(*x) }}"), "t:1:6: * before an argument is not supported");
  EXPECT_EQ(parse("{{ 0x10 }}"), "t:1:4: a number of this form is not supported");
  EXPECT_EQ(parse("{% for x in y %}{% set z %}{% break %}{% endset %}{% endfor %}"),
            "t:1:31: break and continue belong into a loop");
}

TEST(HostileTemplate, KeepsInvalidBytesOfTheInput) {
  const OrderedJson context = {{"x", "a\xFF\xC3"}};
  EXPECT_EQ(render("{{ x }}", context).text, "a\xFF\xC3");
  EXPECT_EQ(render("{{ x[1:] | upper }}{{ x | length }}", context).text,
            "\xFF\xC3"
            "3");
}

}  // namespace
}  // namespace onceover
