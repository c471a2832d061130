#include "models/jinja/program.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace jinja_program_test {

const jinja::value talk = jinja::value::of_list(
    {jinja::value::of_map({{"role", "user"}, {"content", " Hi\n"}}),
     jinja::value::of_map({{"role", "assistant"}, {"content", "<think>\nhm\n</think>\n\nH\u00e9 you"}})});

jinja::rendering rendered(const std::string& source) {
  return jinja::program{"t.jinja", source}.render(
      {{"messages", talk}, {"bos_token", "<s>"}, {"tools", jinja::none_type{}}});
}

std::string text_by(const std::string& source) { return rendered(source).text; }

std::string refusal(const std::string& source) try {
  rendered(source);
  return {};
} catch (const fault_error& e) {
  CHECK(e.what_happened().code == fault_code::bad_input);
  return e.what_happened().text;
}

TEST_CASE("a tag takes the line that it stands on, a sign the white space beside it, as transformers sets Jinja up") {
  CHECK(text_by("a\n  {% if true %}\n  b\n  {% endif %}\nc\n") == "a\n  b\nc");
  CHECK(text_by("a {# no #}\nb\n {#- no -#} \n c") == "a bc");
  CHECK(text_by("a\n  {%+ if true %}b{% endif +%}\nc") == "a\n  b\nc");
  CHECK(text_by("a \n {{- 'b' -}} \n c{{ 'd' }}\n e\r\nf") == "abcd\n e\nf");
  CHECK(text_by("x {% if true %} y {% endif %} z") == "x  y  z");
}

TEST_CASE("an expression gives what it gives in Python") {
  CHECK(text_by("{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 5 }} {{ 1 + 2 * 3 }} {{ 10 - 2 - 3 }}") ==
        "3 -4 2 3.5 32 7 5");
  CHECK(text_by("{{ 'a' ~ 1 ~ none ~ true }} {{ 'ab' * 2 }} {{ [1] + [2] }} {{ (1, 'x') }} {{ {'k': \"it's\"} }}") ==
        "a1NoneTrue abab [1, 2] (1, 'x') {'k': \"it's\"}");
  CHECK(text_by("{{ 1 < 2 < 3 }} {{ 'a' in 'cat' and 'z' not in ['y'] }} {{ not '' or 0 }} {{ 0 or 'x' }}") ==
        "True True True x");
  CHECK(text_by("{{ 'd\u00e9f'[1:] }} {{ 'd\u00e9f'[-2] }} {{ [1, 2, 3][::-1] }} {{ messages[0].role }} {{ messages[9] "
                "}}|") == "\u00e9f \u00e9 [3, 2, 1] user |");
  CHECK(text_by(R"({{ 'a\n\x41\u00e9\'' "b" }})") == "a\nA\u00e9'b");
  CHECK(text_by("{{ 'yes' if messages else 'no' }}{{ 'x' if false }}{{ 'a' | upper + 'b' }}") == "yesAb");
}

TEST_CASE("loops know their places, have conditions, and end early") {
  CHECK(text_by("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ loop.index }}{{ k }}{{ v }}{{ ',' if not loop.last }}{% "
                "endfor %}") == "1a1,2b2");
  CHECK(text_by("{% for i in range(9) if i % 2 %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{{ loop.length }}{% "
                "endfor %}") == "1434");
  CHECK(text_by("{% for i in range(3) %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% else %}none{% endfor %}") ==
        "02");
  CHECK(text_by("{% for i in nothing %}{% else %}none{% endfor %}") == "none");
}

TEST_CASE("what is set in a loop ends with its turn; a namespace keeps it") {
  CHECK(text_by("{% set x = 1 %}{% for i in range(3) %}{{ x }}{% set x = 5 %}{% endfor %}{{ x }}") == "1111");
  CHECK(text_by("{% set n = namespace(x=1) %}{% for i in range(3) %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}") ==
        "4");
  CHECK(text_by("{% set a, b = 1, 2 %}{% set c %}[{{ a }}{{ b }}]{% endset %}{{ c }}") == "[12]");
}

TEST_CASE("a macro has arguments with values of their own, and may call itself") {
  CHECK(text_by("{% macro m(a, b='x') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=2) }}") == "1x12");
  CHECK(text_by("{% macro d(n) %}{{ n }}{% if n %}{{ d(n - 1) }}{% endif %}{% endmacro %}{{ d(3) }}") == "3210");
}

TEST_CASE("methods, filters and tests are Python's and Jinja's") {
  CHECK(text_by("{{ messages[1].content.split('</think>')[-1].lstrip('\n') }}|{{ messages[0]['content'] | trim }}|") ==
        "H\u00e9 you|Hi|");
  CHECK(text_by("{{ messages | map(attribute='role') | join('+') }} {{ messages | selectattr('role', 'equalto', "
                "'user') | list | length }}") == "user+assistant 1");
  CHECK(text_by(R"({{ {'b': [1, 2.0], 'a': "<é>\n"} | tojson }}{{ [1] | tojson(indent=2) }})") ==
        "{\"b\": [1, 2.0], \"a\": \"<\u00e9>\\n\"}[\n  1\n]");
  CHECK(text_by("{{ tools is none }}{{ x is defined }}{{ 'a' is string }}{{ messages is iterable and messages[0] is "
                "mapping }}") == "TrueFalseTrueTrue");
  CHECK(
      text_by(
          "{{ x | default('d') }}{{ '' | default('e', true) }}{{ 'a-b c' | title }}{{ messages[0].get('y', 'z') }}") ==
      "deA-B Cz");
}

TEST_CASE("what an assistant writes is marked by its place") {
  const jinja::rendering r =
      rendered("{{ bos_token }}{% for m in messages %}{% generation %}{{ m.role }}{% endgeneration %};{% endfor %}");
  CHECK(r.text == "<s>user;assistant;");
  CHECK(r.generated == std::vector<jinja::text_range>{{3, 7}, {8, 17}});
  CHECK(jinja::program{"t", "{% if x %}{% generation %}{% endgeneration %}{% endif %}"}.marks_generation());
  CHECK_FALSE(jinja::program{"t", "{{ 'generation' }}"}.marks_generation());
}

TEST_CASE("a template gets no date of today: each day would be another training") {
  CHECK(text_by("{{ strftime_now('%d %b') if strftime_now is defined else 'its own' }}") == "its own");
  CHECK(text_by("{{ strftime_now('%Y-%m-%d, %A') }}") == "2024-07-26, Friday");
}

TEST_CASE("what the subset does not have is refused with the file and the line") {
  CHECK(refusal("a\n{% include 'x' %}").starts_with("t.jinja: line 2: {% include %} is not supported"));
  CHECK_THAT(refusal("{{ 1\n | wordwrap }}"), Contains("line 2: there is no filter \"wordwrap\" here"));
  CHECK_THAT(refusal("{{ 1 is prime }}"), Contains("there is no test \"prime\" here"));
  CHECK_THAT(refusal("{{ 'a'.encode() }}"), Contains("a text has no method \"encode\" here"));
  CHECK_THAT(refusal("{% for m in messages recursive %}{% endfor %}"), Contains("recursive loops are not supported"));
  CHECK_THAT(refusal("\n\n{{ x.y }}"), Contains("line 3: \"y\" of what is not defined (\"x\")"));
  CHECK_THAT(refusal("{{ raise_exception('roles must alternate') }}"),
             Contains("the template refuses the conversation: roles must alternate"));
  for (const char* const broken :
       {"{{", "{% if a %}", "{{ 'a }}", "{% endif %}", "{{ a b }}", "{{ (1 }}", "{# a", "{% set %}", "{{ a[ }}",
        "{% for x %}", "{{ -}}", "{{ 1 + }}", "{% macro f( %}", "{% break %}"})
    CHECK(refusal(broken).starts_with("t.jinja: line 1: "));
}

TEST_CASE("a template can neither run for ever nor fill the memory or the stack") {
  std::string asked = "a";
  for (int i = 0; i < 60; ++i) asked += " and a";
  const std::string often = "{% for a in range(1, 90000) %}{% for b in range(9) %}{% if " + asked + " %}{% endif %}";
  CHECK_THAT(refusal(often + "{% endfor %}{% endfor %}"), Contains("more than 10 million steps"));
  CHECK_THAT(refusal("{% set n = namespace(t='ab') %}{% for i in range(99) %}{% set n.t = n.t + n.t %}{% endfor %}"),
             Contains("more than 256 MiB"));
  CHECK_THAT(refusal("{{ 'x' * 1000000000000 }}"), Contains("a text is repeated too often"));
  CHECK_THAT(refusal("{{ range(10000000) }}"), Contains("more than 100000 numbers"));
  CHECK_THAT(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), Contains("more than 400 levels deep"));
  CHECK_THAT(refusal("{{ " + std::string(9999, '(') + "1" + std::string(9999, ')') + " }}"),
             Contains("too many levels"));
  CHECK_THAT(refusal("{{ 1" + std::string(9999, '+') + "1 }}"), Contains("too many levels"));
  std::string sum = "1";
  for (int i = 0; i < 999; ++i) sum += "+1";
  CHECK_THAT(refusal("{{ " + sum + " }}"), Contains("more than 100 parts within each other"));
  CHECK_THAT(refusal("{% set n = namespace(l=[1]) %}{% for i in range(99) %}{% set n.l = [n.l] %}{% endfor %}"),
             Contains("more than 60 levels deep"));
  CHECK_THAT(
      refusal("{% set n = namespace(l=[1]) %}{% for i in range(50) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}"),
      Contains("more than 256 MiB"));
  CHECK_THAT(refusal("{% set n = namespace() %}{% set n.n = n %}"), Contains("a namespace is put into another value"));
  CHECK_THAT(refusal("{% set a = 'a' * 3000000 %}{{ ('a' * 1000000 + 'b') in a }}"),
             Contains("more than 10 million steps"));
}

}  // namespace jinja_program_test
