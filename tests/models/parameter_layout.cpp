#include "models/parameter_layout.hpp"

#include "models/layers/embedding.hpp"
#include "models/layers/head.hpp"
#include "models/layers/linear.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

/// Odd sizes, so that padding matters; the last layer is tied to the first one's weights.

namespace parameter_layout_test {

chain tied_model() {
  chain c{"test", {{5}, element::i64}, cross_entropy()};
  c.add("", std::make_shared<embedding>(embedding_options{.vocabulary = 7, .context = 5, .width = 3}));
  c.add("middle.", std::make_shared<linear>(linear_options{.in = 3, .out = 3}));
  c.add("", std::make_shared<head>(head_options{.vocabulary = 7, .width = 3, .tied_to = "wte.weight"}));
  return c;
}

std::vector<float> initial_values(const chain& model, std::size_t first, std::size_t last, std::uint64_t seed = 1) {
  const parameter_layout layout{model, first, last};
  std::vector<float> flat(layout.elements(), -1.0f);
  layout.initialise(flat, model, seed);
  return flat;
}

placed_parameter named(const parameter_layout& layout, const std::string& name) {
  return *std::ranges::find(layout.parameters(), name, &placed_parameter::name);
}

TEST_CASE("every parameter starts at a multiple of 256 bytes and none overlap") {
  const parameter_layout layout{tied_model(), 0, 3};
  std::size_t end = 0;
  for (const placed_parameter& p : layout.parameters()) {
    CHECK(p.offset % 64 == 0);
    CHECK(p.offset >= end);
    end = p.offset + p.elements;
  }
  CHECK(layout.elements() >= end);
  CHECK(layout.elements() % 64 == 0);
  CHECK(layout.bytes() == byte_count{layout.elements() * 4});
}

TEST_CASE("moments leave out tied copies") {
  const parameter_layout layout{tied_model(), 0, 3};
  CHECK(layout.elements() - layout.state_elements() == 64);  // lm_head.weight: 21 padded
  CHECK(named(layout, "lm_head.weight").tied_to == "wte.weight");
  CHECK(named(layout, "ln_f.weight").state_offset == named(layout, "ln_f.weight").offset);
}

TEST_CASE("initial values do not depend on the cut") {
  const chain model = tied_model();
  std::vector<float> pieces = initial_values(model, 0, 1);
  for (const auto& piece : {initial_values(model, 1, 2), initial_values(model, 2, 3)})
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  CHECK(pieces == initial_values(model, 0, 3));
}

TEST_CASE("a tied copy is initialised like its owner, wherever the owner is") {
  const chain model = tied_model();
  const std::vector<float> first = initial_values(model, 0, 1), last = initial_values(model, 2, 3);
  const placed_parameter tied_copy = named(parameter_layout{model, 2, 3}, "lm_head.weight");
  CHECK(std::equal(first.begin(), first.begin() + 21, last.begin() + static_cast<std::ptrdiff_t>(tied_copy.offset)));
}

TEST_CASE("initial values depend on the seed and fill the padding with zeros") {
  const std::vector<float> flat = initial_values(tied_model(), 0, 1);
  CHECK(flat != initial_values(tied_model(), 0, 1, 2));
  CHECK(std::count(flat.begin() + 21, flat.begin() + 64, 0.0f) == 43);
  CHECK(std::count(flat.begin(), flat.begin() + 21, 0.0f) == 0);
}

TEST_CASE("initial values follow their kind") {
  const std::vector<float> middle = initial_values(tied_model(), 1, 2);
  const double bound = 1 / std::sqrt(3.0);
  CHECK(std::ranges::all_of(middle, [&](float x) { return std::abs(x) <= bound; }));
  CHECK(std::ranges::any_of(middle, [&](float x) { return x < 0; }));
  const chain model = tied_model();
  const std::vector<float> last = initial_values(model, 2, 3);
  CHECK(last[0] == 1.0f);   // ln_f.weight
  CHECK(last[64] == 0.0f);  // ln_f.bias
}

TEST_CASE("views share the flat buffer and have the layer's shapes") {
  const chain model = tied_model();
  const parameter_layout layout{model, 1, 3};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  const auto views = layout.views(flat, 1);
  REQUIRE(views.size() == 2);
  CHECK(views[0].sizes() == at::IntArrayRef({3, 3}));
  values(views[1])[2] = 5;
  CHECK(values(flat)[named(layout, "middle.bias").offset + 2] == 5);
}

TEST_CASE("gradients of detached views are accumulated in the flat gradient buffer") {
  const chain model = tied_model();
  const parameter_layout layout{model, 1, 2};
  const auto n = static_cast<std::int64_t>(layout.elements());
  const at::Tensor flat = random_tensor({n}, 1), gradients = zeros({n});
  std::vector<at::Tensor> leaves = layout.views(flat, 1), slots = layout.views(gradients, 1);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i] = leaves[i].detach().set_requires_grad(true);
    leaves[i].mutable_grad() = slots[i];
  }
  model.at(1).body->forward(leaves, random_tensor({2, 3}, 3), {}).sum().backward();
  CHECK(same_bits(slots[1], zeros({3}).fill_(2)));  // d(sum)/d(bias) = samples
  CHECK(distance(slots[0], zeros({3, 3})) > 0);
}

}  // namespace parameter_layout_test
