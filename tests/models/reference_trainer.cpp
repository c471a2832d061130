#include "tests/support/reference_trainer.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/parameter_layout.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

using namespace hydra;
using namespace hydra::test;

namespace {

reference_options language_job(const gpt2_options& model, std::uint32_t steps) {
  const auto data = open_data({synthetic_language{.symbols = 16, .order = 2, .tokens = 20000}}, model.context);
  return {.model = gpt2(model).build(*data),
          .data = data,
          .batch_size = 8,
          .steps = steps,
          .update = adamw({.learning_rate = 5e-3})};
}

const gpt2_options small{.layers = 1, .width = 16, .heads = 2, .context = 16};

/// Sample 0 as a batch of one.
std::pair<at::Tensor, at::Tensor> first_sample(const data_source& data) {
  const at::Tensor input = zeros({1, 16}, at::kLong), target = zeros({1, 16}, at::kLong);
  const auto bytes = [](const at::Tensor& t) {
    return std::span{static_cast<std::byte*>(t.mutable_data_ptr()), t.nbytes()};
  };
  data.read(split::train, 0, bytes(input), bytes(target));
  return {input, target};
}

/// The gradient of wte.weight at the start, on sample 0, of a tied model as torch's users write it: one leaf used
/// twice.
at::Tensor shared_gradient(const reference_options& job) {
  const parameter_layout layout{job.model, 0, job.model.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), job.model, job.seed);
  const at::Tensor shared = layout.views(flat, 0)[0].detach().set_requires_grad(true);
  auto [x, target] = first_sample(*job.data);
  for (std::size_t i = 0; i < job.model.size(); ++i) {
    std::vector<at::Tensor> parameters = layout.views(flat, i);
    for (at::Tensor& p : parameters)
      if (same_bits(p, shared)) p = shared;
    x = job.model.at(i).body->forward(parameters, x, {});
  }
  job.model.objective().sum(x, target).div(16.0).backward();
  return shared.grad();
}

}  // namespace

TEST_CASE("a small gpt2 learns a synthetic language") {
  const reference_options job = language_job({.layers = 2, .width = 32, .heads = 4, .context = 32}, 300);
  const auto losses = train_reference(job).losses;
  const double late = std::accumulate(losses.end() - 20, losses.end(), 0.0) / 20;
  CHECK(losses[0] == Approx(std::log(16)).margin(0.1));
  CHECK(late < 0.85 * std::log(16));
  CHECK(late > 0.95 * job.data->floor(split::train, 625).value().entropy);
}

TEST_CASE("an mlp learns its classes") {
  const auto data = open_data({synthetic_classes{.features = 8, .classes = 4, .noise = 0.5}}, 0);
  const auto losses = train_reference({.model = mlp({.width = 16}).build(*data),
                                       .data = data,
                                       .batch_size = 32,
                                       .steps = 60,
                                       .update = sgd({.learning_rate = 0.1, .momentum = 0.9})})
                          .losses;
  CHECK(losses.back() < 0.3f * losses.front());
}

TEST_CASE("the reference gives the same bits again") {
  const reference_options job = language_job(small, 5);
  const reference_result a = train_reference(job), b = train_reference(job);
  CHECK(a.losses == b.losses);
  CHECK(a.digest == b.digest);
}

TEST_CASE("seeds of model and data, dropout and the update all affect the reference") {
  reference_options job = language_job(small, 3), other = job;
  const std::string digest = train_reference(job).digest;
  other.seed = 1;
  CHECK(train_reference(other).digest != digest);
  other = job, other.data_seed = 1;
  CHECK(train_reference(other).digest != digest);
  other = job, other.update.clip_norm = 0.1;
  CHECK(train_reference(other).digest != digest);
  gpt2_options dropping = small;
  dropping.dropout = 0.1;
  CHECK(train_reference(language_job(dropping, 3)).digest != digest);
}

TEST_CASE("micro-batches change only the order of summation") {
  reference_options job = language_job(small, 3);
  const auto whole = train_reference(job).losses;
  job.micro_batches = 4;
  const auto split = train_reference(job).losses;
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(split[i] == Approx(whole[i]).epsilon(1e-4));
}

TEST_CASE("a tied copy equals its owner at the end") {
  const auto parameters = train_reference(language_job(small, 2)).parameters;
  CHECK(parameters.at("lm_head.weight") == parameters.at("wte.weight"));
}

TEST_CASE("a tied weight is updated with the gradients of both its uses") {
  reference_options job = language_job(small, 1);
  job.batch_size = 1, job.shuffle = false, job.update = sgd({.learning_rate = 0});
  const std::vector<float> start = train_reference(job).parameters.at("wte.weight");
  job.update.learning_rate = 0.5;
  const std::vector<float> end = train_reference(job).parameters.at("wte.weight");
  const at::Tensor gradient = shared_gradient(job);
  for (std::size_t i = 0; i < start.size(); ++i) REQUIRE(end[i] == std::fma(-0.5f, values(gradient)[i], start[i]));
}

TEST_CASE("clipping records the norm of every step and bounds the gradient") {
  reference_options job = language_job(small, 2);
  CHECK(train_reference(job).grad_norms.empty());
  job.update = sgd({.learning_rate = 1, .clip_norm = 0.01});
  job.steps = 1;
  const reference_result r = train_reference(job);
  REQUIRE(r.grad_norms.size() == 1);
  CHECK(r.grad_norms[0] > 0.01f);
  job.update.learning_rate = 0;
  double moved = 0;
  for (const auto& [name, start] : train_reference(job).parameters)
    for (std::size_t i = 0; i < start.size() && name != "lm_head.weight"; ++i)
      moved += std::pow(r.parameters.at(name)[i] - start[i], 2);
  CHECK(std::sqrt(moved) == Approx(0.01).epsilon(1e-3));
}
