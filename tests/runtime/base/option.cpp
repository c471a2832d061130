#include "runtime/base/option.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;
using namespace hydra::literals;

namespace option_test {

const std::vector<option> known{
    {.name = "width", .standard = std::int64_t{0}, .required = true, .help = "of a layer", .range = {.least = 1}},
    {.name = "dropout", .standard = 0.1, .range = {.least = 0, .most = 1, .open_most = true}},
    {.name = "tied", .standard = true},
    {.name = "head", .standard = "causal", .choices = {"causal", "masked"}},
    {.name = "memory", .standard = byte_count{}, .otherwise = "all that is free"},
    {.name = "rate", .standard = 2_MiB_per_s},
    {.name = "delay", .standard = duration{5'000'000}}};

std::string refusal(const option_values& given) {
  try {
    complete("net", given, known);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what_happened().text;
  }
  return "accepted";
}

option_values with(const std::string& name, option_value value) {
  return {{"width", std::int64_t{8}}, {name, std::move(value)}};
}

TEST_CASE("options that are not given have their defaults, but for those that no value can express") {
  const auto all = complete("net", {{"width", std::int64_t{8}}}, known);
  CHECK(all.size() == 6);
  CHECK(get<std::int64_t>(all, "width") == 8);
  CHECK(get<double>(all, "dropout") == 0.1);
  CHECK(get<bool>(all, "tied"));
  CHECK(get<std::string>(all, "head") == "causal");
  CHECK_FALSE(all.contains("memory"));
  CHECK(get<byte_count>(complete("net", with("memory", 1_MiB), known), "memory") == 1_MiB);
  CHECK(complete("net", all, known) == all);
}

TEST_CASE("an integer is taken where a number is expected, and nothing else is converted") {
  CHECK(get<double>(complete("net", with("dropout", std::int64_t{0}), known), "dropout") == 0.0);
  CHECK(refusal({{"width", 8.0}}) == "net: option width must be an integer of at least 1, got 8");
  CHECK(refusal(with("tied", std::int64_t{1})) == "net: option tied must be true or false, got 1");
  CHECK(refusal(with("memory", "1MiB")) == "net: option memory must be a size, got \"1MiB\"");
  CHECK(refusal(with("rate", duration{1})) == "net: option rate must be a rate, got 1 ns");
}

TEST_CASE("values that are not allowed are refused with those that are") {
  CHECK(refusal({{"width", std::int64_t{0}}}) == "net: option width must be an integer of at least 1, got 0");
  CHECK(refusal(with("dropout", 1.0)) == "net: option dropout must be a number of at least 0 and below 1, got 1");
  CHECK(refusal(with("dropout", std::numeric_limits<double>::quiet_NaN())) != "accepted");
  CHECK(refusal(with("head", "mask")) == "net: option head must be one of \"causal\", \"masked\", got \"mask\"");
}

TEST_CASE("unknown and missing options are named") {
  CHECK(refusal(with("dropuot", 0.1)) ==
        "net: there is no option \"dropuot\"; did you mean \"dropout\"? (known: width, dropout, tied, head, memory, "
        "rate, delay)");
  CHECK(refusal({}) == "net: option width (of a layer) is missing");
}

TEST_CASE("a default is printed as a value of the option, or as what holds instead") {
  std::vector<std::string> texts;
  for (const auto& o : known) {
    texts.push_back(default_text(o));
  }
  CHECK(texts == std::vector<std::string>{"", "0.1", "true", "causal", "all that is free", "2.0 MiB/s", "5.0 ms"});
}

}  // namespace option_test
