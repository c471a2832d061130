// Every family's layers and losses on a device whose tensors are not on the CPU.

#include "models/data/data_catalog.hpp"
#include "models/decode_memory.hpp"
#include "models/families/catalog.hpp"
#include "models/parameter_layout.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/other_device.hpp"

#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <set>
#include <span>

using namespace hydra;
using namespace hydra::test;

namespace any_device_test {

using options = std::map<std::string, option_value>;

std::int64_t number(std::int64_t n) { return n; }

/// Small shapes; everything that can have dropout has it.
struct small_family {
  std::string name;
  options with{};
  std::shared_ptr<const data_source> data{};
};

std::shared_ptr<const data_source> language() {
  return open_data({synthetic_language{.symbols = 11, .order = 1, .tokens = 500, .validation_tokens = 0}}, 6);
}

std::shared_ptr<const data_source> images() {
  return open_data({synthetic_classes{.shape = {3, 32, 32}, .classes = 3, .samples = 8, .validation_samples = 0}}, 0);
}

std::vector<small_family> small_families() {
  const options text{{"layers", number(2)}, {"width", number(8)}, {"heads", number(2)}, {"context", number(6)}};
  const options capped{{"hidden", number(12)}, {"window", number(4)}, {"score_cap", 0.5}, {"logit_cap", 0.5}};
  const options dropped{{"dropout", 0.3}, {"attention_dropout", 0.3}};
  const auto all_of = [](options a, const options& b) {
    a.insert(b.begin(), b.end());
    return a;
  };
  const auto masked = std::make_shared<masked_samples>(masked_samples_options{});
  const auto labelled = std::make_shared<masked_samples>(masked_samples_options{.classes = 3});
  const options vit{{"layers", number(1)}, {"width", number(8)}, {"heads", number(2)}, {"patch", number(16)}};
  return {
      {"bert", all_of(text, dropped), masked},
      {"bert", all_of(text, {{"head", std::string{"classification"}}, {"vocabulary", number(11)}}), labelled},
      {"cnn", {{"width", number(8)}, {"stages", number(2)}, {"blocks", number(1)}}, images()},
      {"gemma", all_of(text, capped), language()},
      {"gpt2", all_of(text, dropped), language()},
      {"gpt2", text, language()},
      {"llama", all_of(text, {{"hidden", number(12)}, {"kv_heads", number(1)}, {"qk_norm", true}}), language()},
      {"mlp", {{"width", number(8)}, {"dropout", 0.3}}, open_data({synthetic_classes{.features = 5, .classes = 3}}, 0)},
      {"phi3", all_of(text, {{"hidden", number(12)}, {"rotated", number(2)}}), language()},
      {"resnet",
       {{"depths", std::string{"1,1"}}, {"hidden_sizes", std::string{"8,16"}}, {"embedding_size", number(4)}},
       images()},
      {"vit", all_of(vit, dropped), images()},
      {"vit", vit, images()}};
}

struct samples {
  at::Tensor inputs, targets;
};

samples read_samples(const data_source& data, std::int64_t n) {
  const auto empty = [&](const tensor_spec& one) {
    return zeros(batched(one, n).shape, one.type == element::f32 ? at::kFloat : at::kLong);
  };
  samples all{empty(data.sample_input()), empty(data.sample_target())};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bytes = [&](const at::Tensor& t) {
      const at::Tensor one = t.select(0, i);
      return std::span{static_cast<std::byte*>(one.mutable_data_ptr()), one.nbytes()};
    };
    data.read(split::train, static_cast<std::size_t>(i), bytes(all.inputs), bytes(all.targets));
  }
  return all;
}

/// Results of training and evaluation: gradients, loss, number of right predictions.
using outcome = std::vector<at::Tensor>;

/// A chain with its parameters, on any device.
class placed_chain {
 public:
  placed_chain(const chain& model, const at::Tensor& flat) : model_{model}, layout_{model, 0, model.size()} {
    for (std::size_t i = 0; i < model.size(); ++i) {
      leaves_.push_back(layout_.views(flat, i));
      for (at::Tensor& leaf : leaves_.back()) leaf = leaf.detach().set_requires_grad(true);
    }
  }

  outcome train(const samples& batch) const {
    const at::Tensor loss = model_.objective().sum(forward(batch.inputs, true), batch.targets);
    loss.backward();
    outcome all{loss.detach()};
    for (const auto& layer : leaves_)
      for (const at::Tensor& leaf : layer) all.push_back(leaf.grad());
    return all;
  }

  outcome score(const samples& batch) const {
    const at::NoGradGuard no_grad;
    const at::Tensor y = forward(batch.inputs, false);
    outcome all{y, model_.objective().sum(y, batch.targets)};
    if (const auto right = model_.objective().correct(y, batch.targets)) all.push_back(*right);
    return all;
  }

 private:
  at::Tensor forward(at::Tensor x, bool training) const {
    for (std::uint32_t i = 0; i < model_.size(); ++i)
      x = model_.at(i).body->forward(leaves_[i], x, {.seed = 3, .layer = i, .training = training}).contiguous();
    return x;
  }

  const chain& model_;
  parameter_layout layout_;
  std::vector<std::vector<at::Tensor>> leaves_;
};

outcome run(const chain& model, const at::Tensor& flat, const samples& batch) {
  const placed_chain placed{model, flat};
  outcome all = placed.train(batch);
  for (const at::Tensor& t : placed.score(batch)) all.push_back(t);
  return all;
}

at::Tensor initial_values(const chain& model) {
  const parameter_layout layout{model, 0, model.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), model, 5);
  return flat;
}

outcome run_elsewhere(const chain& model, const at::Tensor& flat, const samples& batch) {
  const at::Tensor parameters = to_other_device(flat);
  const samples moved{to_other_device(batch.inputs), to_other_device(batch.targets)};
  outcome all;
  {
    const no_waiting strict;
    all = run(model, parameters, moved);
  }
  for (at::Tensor& t : all) t = to_cpu(t);
  return all;
}

/// Means of layer norms and the like may be summed in another order there.
void check_equal(const outcome& a, const outcome& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    REQUIRE(a[i].sizes() == b[i].sizes());
    CHECK(distance(a[i], b[i]) <= 1e-4 * (1 + distance(a[i], a[i].mul(0))));
  }
}

TEST_CASE("the layers and the loss of every family compute on their input's device, without synchronizing") {
  std::set<std::string> seen;
  for (const small_family& f : small_families()) {
    seen.insert(f.name);
    for (const auto& objective : {cross_entropy(), mse()}) {
      CAPTURE(f.name, f.with.size(), objective->name());
      const chain model = with_loss(describe_chain(f.name, f.with), objective).build(*f.data);
      const samples batch = read_samples(*f.data, 2);
      const at::Tensor flat = initial_values(model);
      check_equal(run_elsewhere(model, flat, batch), run(model, flat, batch));
    }
  }
  for (const family& f : families()) CHECK(seen.contains(f.name));
}

TEST_CASE("language models generate token by token on their input's device") {
  for (const small_family& f : small_families()) {
    if (!std::set<std::string>{"gemma", "gpt2", "llama", "phi3"}.contains(f.name)) continue;
    const chain model = describe_chain(f.name, f.with).build(*f.data);
    const at::Tensor flat = initial_values(model), ids = read_samples(*f.data, 1).inputs;
    const auto write = [&](const at::Tensor& parameters, const at::Tensor& text) {
      const parameter_layout layout{model, 0, model.size()};
      std::vector<decode_memory> memories(model.size());
      at::Tensor x;
      for (const std::int64_t tokens : {3, 2, 1}) {
        x = text.narrow(1, memories[0].seen, tokens);
        for (std::size_t i = 0; i < model.size(); ++i) {
          x = model.at(i).body->decode(layout.views(parameters, i), x, {.training = false}, memories[i]).contiguous();
          memories[i].seen += tokens;
        }
      }
      return x;
    };
    const at::Tensor expected = write(flat, ids), parameters = to_other_device(flat), text = to_other_device(ids);
    const at::Tensor written = [&] {
      const no_waiting strict;
      return write(parameters, text);
    }();
    CHECK(distance(to_cpu(written), expected) < 1e-4);
  }
}

TEST_CASE("the stand-in for a device is strict") {
  const at::Tensor x = to_other_device(random_tensor({4}, 1)), y = random_tensor({4}, 2);
  CHECK_THROWS_WITH(x.add(y), Catch::Contains("device"));
  CHECK_THROWS_WITH(x.unsqueeze(0).matmul(y), Catch::Contains("device"));
  const no_waiting strict;
  CHECK_THROWS_WITH(x.sum().item(), Catch::Contains("wait"));
  CHECK_THROWS_WITH(to_cpu(x), Catch::Contains("wait"));
  CHECK_THROWS_WITH(x.masked_select(x.gt(0)), Catch::Contains("wait"));
  CHECK_NOTHROW(x.mul(2).add(x));
}

}  // namespace any_device_test
