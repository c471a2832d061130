#include "models/row_chunks.hpp"

#include "models/families/gpt2/gpt2.hpp"
#include "models/layers/head.hpp"
#include "models/layers/linear.hpp"
#include "models/lora.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

chain with_head(std::shared_ptr<const layer> last, std::vector<std::int64_t> sample = {5, 3}) {
  chain c{"test", {std::move(sample), element::f32}, cross_entropy()};
  c.add("out.", std::move(last)).chunk_loss(2);
  return c;
}

}  // namespace

TEST_CASE("chunks of rows cover all rows in order, the last one may be smaller", "[loss-chunk]") {
  const auto counts = [](std::int64_t rows, std::int64_t each) {
    std::vector<std::int64_t> all;
    std::int64_t next = 0;
    for (const row_range& r : row_chunks(rows, each)) {
      CHECK(r.begin == next);
      next += r.count;
      all.push_back(r.count);
    }
    CHECK(next == rows);
    return all;
  };
  using list = std::vector<std::int64_t>;
  CHECK(counts(7, 3) == list{3, 3, 1});
  CHECK(counts(6, 3) == list{3, 3});
  CHECK(counts(6, 0) == list{6});
  CHECK(counts(6, 6) == list{6});
  CHECK(counts(6, 100) == list{6});
}

TEST_CASE("rows are views of a tensor of samples and tokens", "[loss-chunk]") {
  const at::Tensor x = random_tensor({2, 3, 4}, 1);
  const at::Tensor two = rows_of(x, {2, 2});
  CHECK(same_bits(two, x.view({6, 4}).narrow(0, 2, 2).unsqueeze(0).contiguous()));
  CHECK(rows_of(x) == 6);
}

TEST_CASE("heads of language models compute each row alone: a chunk has the rows of the whole", "[loss-chunk]") {
  const head gpt{{.vocabulary = 7, .width = 4}};
  const head llama{{.vocabulary = 7, .width = 4, .rms = true}};
  for (const layer* const l : {static_cast<const layer*>(&gpt), static_cast<const layer*>(&llama)}) {
    CHECK(l->is_row_wise());
    std::vector<at::Tensor> parameters;
    for (const parameter_spec& p : l->parameters()) parameters.push_back(random_tensor(p.shape, 2));
    const at::Tensor x = random_tensor({2, 3, 4}, 1), whole = l->forward(parameters, x, {});
    const at::Tensor some = l->forward(parameters, rows_of(x, {1, 4}), {});
    const auto a = copy_of(some), b = copy_of(rows_of(whole, {1, 4}).contiguous());
    CHECK(std::ranges::equal(a, b, [](float u, float v) { return u == Approx(v).margin(1e-6); }));
  }
}

TEST_CASE("a last layer that does not compute each row alone is refused by name", "[loss-chunk]") {
  CHECK_NOTHROW(with_head(std::make_shared<head>(head_options{.vocabulary = 7, .width = 3})).validate());
  const auto other = std::make_shared<linear>(linear_options{.in = 3, .out = 7});
  CHECK_THROWS_WITH(with_head(other, {3}).validate(), Contains("\"loss_chunk\" is for heads") && Contains("out."));
  CHECK_NOTHROW(with_head(other, {3}).chunk_loss(0).validate());
  CHECK_THROWS_WITH(with_head(other, {3}).chunk_loss(-1).validate(), Contains("\"loss_chunk\" is -1"));
}

TEST_CASE("an adapter's dropout on the head is drawn for all rows at once: no chunks", "[loss-chunk][adapters]") {
  const auto adapted = [](double dropout) {
    return adapt(with_head(std::make_shared<head>(head_options{.vocabulary = 7, .width = 3})),
                 {.rank = 2, .dropout = dropout, .targets = {"lm_head"}});
  };
  CHECK_NOTHROW(adapted(0).validate());
  CHECK_THROWS_WITH(adapted(0.1).validate(), Contains("\"loss_chunk\""));
}
