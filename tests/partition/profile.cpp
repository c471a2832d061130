#include "partition/profile.hpp"

#include "models/parameter_layout.hpp"
#include "runtime/accounting_allocator.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

const small_model& gpt() {
  static const small_model m = small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1});
  return m;
}

}  // namespace

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

TEST_CASE("the pilot repeats a layer as often as two training steps visit it, at least once, never for long") {
  const duration slow = std::chrono::seconds(1), fast = std::chrono::microseconds(10);
  CHECK(timed_repeats(2, slow) == 1);
  CHECK(timed_repeats(6, slow) == 5);
  CHECK(timed_repeats(1000, slow) == 9);
  CHECK(timed_repeats(2, fast) == 3);  // costs nothing
  CHECK(timed_repeats(0, slow) == 1);
}

TEST_CASE("a profile of several devices has the median of all their times and their largest bytes") {
  auto a = sample_costs(*gpt().body, gpt().data->sample_target(), 2, 1);
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
