#include "models/frozen/freezing.hpp"

#include "models/layers/embedding.hpp"
#include "models/layers/head.hpp"
#include "models/optimizer/bf16.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Passes its input on.
class stub final : public layer {
 public:
  explicit stub(std::vector<parameter_spec> parameters) : parameters_(std::move(parameters)) {}
  std::vector<parameter_spec> parameters() const override { return parameters_; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& input, const layer_context&) const override {
    return input;
  }
  std::string signature() const override { return "stub"; }

 private:
  std::vector<parameter_spec> parameters_;
};

parameter_spec parameter(const std::string& name, std::vector<std::int64_t> shape, double averaging = 0) {
  return {.name = name,
          .shape = std::move(shape),
          .initial = {initial_value::kind::normal, 1},
          .tied_to = {},
          .averaging = averaging};
}

/// The last layer is tied to the first one's weights.
chain small(std::vector<std::string> frozen) {
  const auto block = std::make_shared<stub>(std::vector{parameter("weight", {3, 3}), parameter("bias", {3})});
  chain c{"test", {{5}, element::i64}, cross_entropy()};
  c.add("", std::make_shared<embedding>(embedding_options{.vocabulary = 7, .context = 5, .width = 3}));
  c.add("h.0.", block).add("h.1.", block);
  c.add("", std::make_shared<head>(head_options{.vocabulary = 7, .width = 3, .tied_to = "wte.weight"}));
  c.freeze(freezing{std::move(frozen)});
  return c;
}

std::string refused(const chain& c) {
  try {
    c.validate();
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
  return "accepted";
}

std::map<std::string, bool> frozen_in(const chain& c) {
  std::map<std::string, bool> all;
  for (std::size_t i = 0; i < c.size(); ++i)
    for (const parameter_spec& p : c.parameters(i)) all[p.name] = p.frozen;
  return all;
}

}  // namespace

TEST_CASE("the last pattern that matches a name decides", "[freezing]") {
  const freezing f{{"*", "!head.*", "head.b?as"}};
  CHECK(f.matches("h.0.weight"));
  CHECK_FALSE(f.matches("head.weight"));
  CHECK(f.matches("head.bias"));
  CHECK_FALSE(freezing{}.matches("head.bias"));
  CHECK_FALSE(freezing{{"head"}}.matches("head.bias"));
}

TEST_CASE("a tied copy is frozen with its owner, whatever its own name", "[freezing]") {
  CHECK(frozen_in(small({"wte*"})).at("lm_head.weight"));
  CHECK(frozen_in(small({"*", "!lm_head*"})).at("lm_head.weight"));
  CHECK_FALSE(frozen_in(small({"*", "!wte*"})).at("lm_head.weight"));
}

TEST_CASE("a chain says in its layers' signatures what is frozen", "[freezing]") {
  const chain none = small({}), blocks = small({"h.*"}), some = small({"h.0.bias"});
  CHECK(blocks.parameter_count() == none.parameter_count());
  CHECK(blocks.signature(1) == none.signature(1) + " frozen");
  CHECK(some.signature(1) == none.signature(1) + " frozen=1");
  CHECK(some.signature(2) == none.signature(2));
}

TEST_CASE("what cannot be frozen is refused with what to do", "[freezing]") {
  CHECK(refused(small({"h.*"})) == "accepted");
  CHECK(refused(small({"h.0.*", "zzzzzzzz.*"})).starts_with(
      "\"freeze\" has \"zzzzzzzz.*\", which no parameter of the model matches; the nearest are \"wte.weight\", "));
  CHECK(refused(small({"*"})).find("leaves no parameter") != std::string::npos);
  CHECK(refused(small({"!h.*"})).find("freezes nothing") != std::string::npos);
  chain averaged = small({"h.*"});
  averaged.add("n.", std::make_shared<stub>(std::vector{parameter("mean", {3}, 0.1)}));
  CHECK(refused(averaged).find("has running averages") != std::string::npos);
}

TEST_CASE("frozen parameters have a buffer of their own, with the values that they have in one buffer", "[freezing]") {
  const chain whole = small({}), part = small({"wte*", "h.1.*"});
  for (const auto numbers : {precision::fp32, precision::bf16}) {
    chain rounded = part;
    rounded.compute_in(numbers);
    const parameter_layout all{whole, 0, whole.size()}, layout{rounded, 0, rounded.size()};
    std::vector<float> expected(all.elements()), trained(layout.elements());
    std::vector<std::byte> base(layout.base_bytes().value());
    all.initialise(expected, whole, 3);
    layout.initialise(trained, rounded, 3);
    layout.initialise_base(base, rounded, 3);
    for (std::size_t i = 0; i < all.parameters().size(); ++i) {
      const placed_parameter& p = layout.parameters()[i];
      const std::span<const float> values = std::span{expected}.subspan(all.parameters()[i].offset, p.elements);
      INFO(p.name);
      CHECK(p.frozen == (p.name == "wte.weight" || p.tied_to == "wte.weight" || p.name.starts_with("h.1.")));
      if (!p.frozen) {
        CHECK(std::ranges::equal(values, std::span{trained}.subspan(p.offset, p.elements)));
      } else if (numbers == precision::fp32) {
        CHECK(std::memcmp(values.data(), base.data() + p.offset, 4 * p.elements) == 0);
      } else {
        std::vector<std::uint16_t> halves(p.elements);
        std::ranges::transform(values, halves.begin(), [](float v) { return to_bf16(v); });
        CHECK(std::memcmp(halves.data(), base.data() + p.offset, 2 * p.elements) == 0);
      }
    }
  }
}
