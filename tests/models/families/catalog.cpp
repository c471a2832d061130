#include "models/families/catalog.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

std::int64_t number(std::int64_t n) { return n; }

option_values small_gpt2() {
  return {{"layers", number(2)}, {"width", number(8)}, {"heads", number(2)}, {"context", number(6)}};
}

option_values with(option_values o, const std::string& name, option_value value) {
  o[name] = std::move(value);
  return o;
}

}  // namespace

TEST_CASE("a family described by options builds its chain on the data") {
  const chain_description d = describe_chain("gpt2", small_gpt2());
  CHECK(d.family == "gpt2");
  CHECK(d.context == 6);
  const chain c =
      d.build(*open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, d.context));
  CHECK(c.size() == 4);
  CHECK(c.outputs(3).back() == tensor_spec{{3, 6, 9}, element::f32});
}

TEST_CASE("unknown families and options name the nearest known one") {
  CHECK_THROWS_WITH(describe_chain("gtp2", {}),
                    Contains("unknown family \"gtp2\"") && Contains("did you mean \"gpt2\""));
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "layer", number(1))),
                    Contains("there is no option \"layer\"") && Contains("did you mean \"layers\""));
}

TEST_CASE("options of the wrong type, missing or impossible are refused by name") {
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "width", "wide")),
                    Contains("gpt2: option width must be an integer, got \"wide\""));
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "width", 8.0)), Contains("must be an integer, got 8"));
  CHECK_THROWS_WITH(describe_chain("mlp", {}), Contains("option width (units of a hidden layer) is missing"));
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "heads", number(3))),
                    Contains("3 heads do not divide width 8"));
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "dropout", 1.0)), Contains("dropout is 1"));
  CHECK_THROWS_WITH(describe_chain("gpt2", with(small_gpt2(), "context", number(0))), Contains("context is 0"));
}

TEST_CASE("an integer is accepted where a real number is expected") {
  CHECK_NOTHROW(describe_chain("gpt2", with(small_gpt2(), "dropout", number(0))));
}

TEST_CASE("every option has a help text, and no required one has a usable default") {
  for (const family& f : families())
    for (const option& o : f.options) {
      CHECK_FALSE(o.help.empty());
      if (o.required) CHECK(o.standard == option_value{number(0)});
    }
}

TEST_CASE("a chain may be given another loss than its family's") {
  const auto data = open_data({synthetic_classes{}}, 0);
  const chain_description d = describe_chain("mlp", {{"width", number(4)}});
  CHECK(d.build(*data).objective().name() == "cross-entropy");
  CHECK(with_loss(d, mse()).build(*data).objective().name() == "mse");
  CHECK(with_loss(d, mse()).family == "mlp");
  CHECK_THROWS_WITH(with_loss(d, nullptr).build(*data), Contains("no loss"));
}
