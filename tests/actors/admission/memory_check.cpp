#include "actors/admission/memory_check.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/lora.hpp"
#include "partition/plan/least_memory.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;

namespace {

/// A checkpoint that has all parameters, with zeros.
struct zero_weights final : weight_source {
  bool read(const parameter_spec&, std::span<float> values) const override {
    std::ranges::fill(values, 0.0f);
    return true;
  }
  std::string identity() const override { return "zeros"; }
  std::string origin(const std::string& parameter) const override { return parameter; }
};

chain with_random_weights() {
  const auto data = open_data({synthetic_language{.symbols = 11}}, 8);
  return gpt2({.layers = 4, .width = 64, .heads = 2, .context = 8, .vocabulary = 64, .tied = false}).build(*data);
}

chain from_checkpoint() { return with_random_weights().begin_with(std::make_shared<zero_weights>()); }

model_description described() {
  model_description m;
  m.name = "m";
  m.optimizer = adamw({});
  return m;
}

byte_count host_of(const chain& model, const update_options& rule = adamw({})) {
  return least_memory_of(model, rule, 1, 2).host();
}

chain with_adapter() { return adapt(from_checkpoint(), {.rank = 16}); }

std::string refusal(const chain& model, byte_count host) {
  try {
    check_least_memory(described(), model, host, 2);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::does_not_fit);
    return e.what_happened().text;
  }
  return {};
}

}  // namespace

TEST_CASE("what a model needs at least is its parameters, gradients of them and of lost attempts, and moments") {
  const auto model = from_checkpoint();
  const auto needs = least_memory_of(model, adamw({}), 1, 2);
  CHECK(needs.state == needs.parameters * 2);
  CHECK(needs.gradients > needs.parameters);
  CHECK(least_memory_of(model, adamw({}), 3, 2).gradients == needs.gradients + needs.parameters * 2);
  CHECK(least_memory_of(model, sgd({}), 1, 2).state == byte_count{});
}

TEST_CASE("a model that fits is not refused, and one byte less refuses it") {
  const auto model = from_checkpoint();
  CHECK(refusal(model, host_of(model)) == "");
  CHECK_THAT(refusal(model, host_of(model) - 1_B),
             Contains("model 'm' alone needs at least") && Contains("[host] memory allows"));
}

TEST_CASE("who is refused reads which other settings fit, with their bytes") {
  const auto model = from_checkpoint();
  const auto narrow = refusal(model, host_of(model) - 1_B);
  CHECK_THAT(narrow, Contains("what would fit: optimizer = { kind = \"adamw8bit\", ... } (at least") &&
                         Contains("adapter = { kind = \"lora\", rank = 16 } (at least"));
  const auto adapted = refusal(model, host_of(with_adapter()));
  CHECK_THAT(adapted, Contains("what would fit: adapter = { kind = \"lora\", rank = 16 } (at least") &&
                          Contains("rank = 16 } and base = \"nf4\" (at least") && !Contains("adamw8bit"));
  const auto none = refusal(model, 1_KiB);
  CHECK_THAT(none, Contains("give the run more memory, or make the model smaller; these need less, but still too much"));
}

TEST_CASE("an adapter is offered for models that begin with a checkpoint, and 4 bits for what is frozen") {
  const auto random = with_random_weights();
  CHECK_THAT(refusal(random, host_of(random) - 1_B), !Contains("adapter"));
  const auto adapted = with_adapter();
  CHECK_THAT(refusal(adapted, host_of(adapted) - 1_B),
             Contains("base = \"nf4\" (at least") && !Contains("adapter"));
}
