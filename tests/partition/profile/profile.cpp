#include "partition/profile/profile.hpp"

#include "models/layers/head.hpp"
#include "models/parameter_layout.hpp"
#include "partition/profile/footprint.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "tests/support/other_device.hpp"
#include "tests/support/small_models.hpp"

#include <ATen/ops/mul.h>
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <string_view>

using namespace hydra;
using namespace hydra::test;

/// Each reading of the clock takes 100 us, each reading of the bytes returns 512 more; the peak is 4 KiB above them.

namespace profile_test {

class scripted_meter final : public work_meter {
 public:
  time_point now() override { return time_point{std::chrono::microseconds{100} * ++looks_}; }
  byte_count used() const noexcept override { return byte_count{512} * ++readings_; }
  byte_count peak() const noexcept override { return byte_count{512} * readings_ + byte_count{4096}; }
  void reset_peak() noexcept override {}

 private:
  int looks_ = 0;
  mutable std::uint64_t readings_ = 0;
};

/// x * a scalar; records where its tensors are.
class probe final : public layer {
 public:
  explicit probe(std::shared_ptr<std::set<std::string>> places) : places_(std::move(places)) {}
  std::vector<parameter_spec> parameters() const override { return {{"scale", {1}, {}, {}}}; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  std::string signature() const override { return "probe"; }
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context&) const override {
    for (const auto& t : {p[0], x}) places_->insert(t.device().str());
    return x.mul(p[0]);
  }

 private:
  std::shared_ptr<std::set<std::string>> places_;
};

const small_model& gpt() {
  static const small_model m = small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1});
  return m;
}

TEST_CASE("a profile knows every layer's parameters, input and output by their size") {
  const auto profile = profile_of(gpt(), 3);
  const auto outputs = gpt().body->outputs(3);
  REQUIRE(profile.layers.size() == gpt().body->size());
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const auto& layer = profile.layers[i];
    CHECK(layer.parameters == charged_bytes(parameter_layout(*gpt().body, i, i + 1).bytes()));
    CHECK(layer.output_spec == outputs[i]);
    CHECK(layer.output == charged_bytes(outputs[i].bytes()));
    CHECK(layer.input_spec == (i == 0 ? batched(gpt().body->sample_input(), 3) : outputs[i - 1]));
  }
  CHECK(profile.targets == charged_bytes(batched(gpt().data->sample_target(), 3).bytes()));
  CHECK(profile.samples == 3);
}

TEST_CASE("equal layers on equal inputs cost the same in a profile: they are measured once") {
  const auto profile = profile_of(gpt(), 2);
  CHECK(profile.layers[1].saved == profile.layers[2].saved);
  CHECK(profile.layers[1].backward == profile.layers[2].backward);
}

TEST_CASE("what a layer saves holds its output and grows with the samples") {
  const auto few = profile_of(gpt(), 2);
  const auto many = profile_of(gpt(), 32);
  for (std::size_t i = 0; i < few.layers.size(); ++i) {
    CHECK(few.layers[i].saved >= few.layers[i].output);
    CHECK(many.layers[i].saved > few.layers[i].saved);
  }
  CHECK(many.loss_saved + many.loss_transient > few.loss_saved + few.loss_transient);
}

TEST_CASE("a profile has the time of every layer") {
  for (const auto& layer : profile_of(gpt(), 2).layers) {
    CHECK(layer.forward > duration{});
    CHECK(layer.backward > duration{});
  }
}

TEST_CASE("measuring leaves no bytes behind") {
  memory_account account(byte_count{1ull << 40});
  {
    const charge_to charged(account);
    profile_of(gpt(), 2);
  }
  CHECK(account.used() == byte_count{});
  CHECK(account.peak() == byte_count{});  // the pilot has an account of its own
}

TEST_CASE("each different layer is announced once, before it is measured") {
  const auto meter = make_host_meter();
  std::vector<std::size_t> layers, kinds;
  const auto note = [&](std::string_view work, std::size_t layer, std::size_t kind, std::size_t of) {
    CHECK(work == "measuring");
    layers.push_back(layer);
    kinds.push_back(kind);
    CHECK(of == 3);
  };
  const auto model = small_mlp({.layers = 4, .width = 16});
  sample_costs(*model.body, {model.data->sample_target(), 2, 1, note}, {*meter});
  CHECK(layers == std::vector<std::size_t>{0, 1, 4});  // from the features, hidden ones, to the classes
  CHECK(kinds == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("the pilot repeats a layer as often as two training steps visit it, at least once, never for long") {
  using namespace std::chrono_literals;
  const duration slow = 200ms, fast = 10us;
  CHECK(timed_repeats(2, slow) == 1);
  CHECK(timed_repeats(6, slow) == 5);
  CHECK(timed_repeats(1000, slow) == 9);
  CHECK(timed_repeats(2, fast) == 3);  // costs nothing
  CHECK(timed_repeats(0, slow) == 1);
  CHECK(timed_repeats(1000, 500ms) == 4);  // two seconds
  CHECK(timed_repeats(1000, 1s) == 0);     // the warm-up counts
}

TEST_CASE("a profile of several devices has the median of all their times and their largest bytes") {
  const auto meter = make_host_meter();
  auto a = sample_costs(*gpt().body, {gpt().data->sample_target(), 2}, {*meter});
  auto b = a;
  const auto ms = [](int n) { return duration{std::chrono::milliseconds(n)}; };
  a.times[0].forward = {ms(1), ms(9)};
  b.times[0].forward = {ms(4)};
  a.times[1].backward = {ms(5)};
  b.times[1].backward = {ms(6), ms(7)};
  b.profile.layers[1].saved += byte_count{512};
  const chain_samples both[] = {a, b};
  const auto merged = merge(both);
  CHECK(merged.layers[0].forward == ms(4));
  CHECK(merged.layers[1].backward == ms(6));
  CHECK(merged.layers[2].backward == ms(6));  // the second block is of the same kind
  CHECK(merged.layers[1].saved == a.profile.layers[1].saved + byte_count{512});
}

TEST_CASE("times and bytes of a profile are the meter's, its tensors are on the meter's device") {
  const auto places = std::make_shared<std::set<std::string>>();
  chain model("probe", {{3}, element::f32}, mse());
  model.add("0.", std::make_shared<probe>(places));
  scripted_meter meter;
  const auto costs = sample_costs(model, {{{3}, element::f32}, 2}, {meter, other_device});
  CHECK(*places == std::set<std::string>{other_device});
  const std::vector<duration> one(3, std::chrono::microseconds(100)), two(3, std::chrono::microseconds(200));
  CHECK(costs.times.at(0).forward == one);   // from the start of the forward to its end
  CHECK(costs.times.at(0).backward == two);  // and of the backward
  CHECK(costs.loss.backward == two);
  const auto& layer = costs.profile.layers.at(0);
  CHECK(layer.saved == byte_count{512});
  CHECK(layer.backward_transient == byte_count{4096});
  CHECK(layer.forward_transient == byte_count{4096});
  CHECK(costs.profile.loss_saved == byte_count{512});
}

namespace {

/// Its logits are most of what the head's visit needs.
chain_profile profile_in_chunks(std::int64_t rows, precision numbers = precision::fp32) {
  chain model("head", {{256, 16}, element::f32}, cross_entropy());
  model.add("", std::make_shared<head>(head_options{.vocabulary = 2000, .width = 16}))
      .chunk_loss(rows)
      .compute_in(numbers);
  return profile_of(model, {{256}, element::i64}, 8);
}

}  // namespace

TEST_CASE("in 16 chunks the visit of a language model's head needs an eighth of the memory", "[loss-chunk]") {
  for (const auto numbers : {precision::fp32, precision::bf16}) {
    const auto whole = profile_in_chunks(0, numbers), chunks = profile_in_chunks(8 * 256 / 16, numbers);
    for (const auto way : {direction::backward, direction::evaluate}) {
      const auto all = footprint_of(whole, 0, 1, way).working, part = footprint_of(chunks, 0, 1, way).working;
      CAPTURE(to_string(all), to_string(part), to_string(numbers));
      CHECK(part.value() * 8 <= all.value());
    }
    CHECK(chunks.layers[0].output_spec == whole.layers[0].output_spec);
    CHECK(chunks.layers[0].input == whole.layers[0].input);
  }
}

TEST_CASE("one chunk has the profile of none", "[loss-chunk]") {
  const auto whole = profile_in_chunks(0), one = profile_in_chunks(8 * 256);
  CHECK(one.layers[0].output == whole.layers[0].output);
  CHECK(one.layers[0].saved == whole.layers[0].saved);
  CHECK(one.loss_saved == whole.loss_saved);
  CHECK(one.loss_transient == whole.loss_transient);
}

}  // namespace profile_test
