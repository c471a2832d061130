#include "models/layers/packed_tokens.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/record_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

at::Tensor integers(const std::vector<std::int64_t>& all) {
  const at::Tensor t = zeros({static_cast<std::int64_t>(all.size())}, at::kLong);
  std::ranges::copy(all, t.mutable_data_ptr<std::int64_t>());
  return t;
}

at::Tensor starts(const std::vector<std::int64_t>& values) { return integers(values).unsqueeze(0); }

}  // namespace

TEST_CASE("positions start again with each record") {
  CHECK(same_bits(positions_in_records(starts({1, 0, 0, 1, 1, 0})), starts({0, 1, 2, 0, 0, 1})));
  CHECK(same_bits(positions_in_records(starts({0, 0, 1, 0})), starts({0, 1, 0, 1})));
}

TEST_CASE("a token sees itself and the tokens before it in its record") {
  const at::Tensor seen = visible_in_records(starts({1, 0, 1, 0})).to(at::kLong);
  CHECK(seen.sizes() == at::IntArrayRef{1, 1, 4, 4});
  CHECK(same_bits(seen.reshape({16}), integers({1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1})));
}

namespace {

struct result {
  double loss = 0;
  std::size_t targets = 0;
  at::Tensor gradient;
};

/// Summed over all samples, in one batch each.
result of_all_samples(const chain& model, const data_source& data) {
  const parameter_layout layout{model, 0, model.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), model, 1);
  flat.set_requires_grad(true);
  result sum;
  const auto bytes = [](const at::Tensor& t) {
    return std::span{static_cast<std::byte*>(t.mutable_data_ptr()), t.nbytes()};
  };
  for (std::size_t i = 0; i < data.samples(split::train); ++i) {
    at::Tensor x = zeros(batched(data.sample_input(), 1).shape, at::kLong);
    const at::Tensor target = zeros(batched(data.sample_target(), 1).shape, at::kLong);
    sum.targets += data.read(split::train, i, bytes(x), bytes(target));
    for (std::size_t layer = 0; layer < model.size(); ++layer)
      x = model.forward(layer, layout.views(flat, layer), x, {.seed = 1, .training = false});
    const at::Tensor loss = model.objective().sum(x, target);
    sum.loss += number(loss);
    loss.backward();
  }
  sum.gradient = flat.grad();
  return sum;
}

void check_packed_equals_alone(const chain_description& family) {
  const temporary_folder folder;
  jsonl_files files{.train = folder.write("r.jsonl", question_lines(60)), .prompt = "q", .answer = "a"};
  const auto alone = open_data(jsonl(files), 32);
  files.packing = true;
  const auto packed = open_data(jsonl(files), 32);
  CHECK(packed->samples(split::train) < alone->samples(split::train));
  const result a = of_all_samples(family.build(*alone), *alone), b = of_all_samples(family.build(*packed), *packed);
  CHECK(a.targets == b.targets);
  CHECK(std::abs(a.loss - b.loss) / static_cast<double>(a.targets) < 1e-6);
  CHECK(distance(a.gradient, b.gradient) / static_cast<double>(a.targets) < 1e-6);
  CHECK(number(a.gradient.abs().max()) / static_cast<double>(a.targets) > 1e-3);
}

}  // namespace

TEST_CASE("packed records have the loss and the gradients of records alone") {
  check_packed_equals_alone(gpt2({.layers = 2, .width = 32, .heads = 2, .context = 32}));
  check_packed_equals_alone(gpt2({.layers = 2, .width = 32, .heads = 2, .context = 32, .attention_dropout = 0.1}));
  check_packed_equals_alone(
      llama({.layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 48, .context = 32, .qk_norm = true}));
  check_packed_equals_alone(gemma({.layers = 2,
                                   .width = 32,
                                   .heads = 4,
                                   .hidden = 48,
                                   .context = 32,
                                   .window = 4,
                                   .full_layers = {1},
                                   .score_cap = 2,
                                   .logit_cap = 5}));
  check_packed_equals_alone(phi3({.layers = 2, .width = 32, .heads = 4, .hidden = 48, .context = 32, .rotated = 4}));
}

TEST_CASE("samples with another number of rows are refused") {
  CHECK_THROWS_WITH(embedded("embedding", {{1, 3, 4}, element::i64}, 8, 2),
                    Contains("2 rows (ids, 1 where a record starts)"));
  CHECK_THROWS_WITH(embedded("embedding", {{1, 2, 9}, element::i64}, 8, 2), Contains("9"));
  CHECK_THROWS_WITH(require_packed_tokens("head", {{1, 4, 4}, element::f32}, 2), Contains("head"));
}
