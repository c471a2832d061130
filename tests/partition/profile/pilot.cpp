#include "partition/profile/pilot.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/memory/host_arena.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/other_device.hpp"
#include "tests/support/outfitted_device.hpp"
#include "tests/support/recorded_locker.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/watched_device.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

constexpr duration long_enough = 5min;

const small_model& gpt() {
  static const auto m = small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6});
  return m;
}

chain_profile measured_on(std::vector<device*> devices) {
  return pilot(devices, long_enough).measure(gpt().body, {gpt().data->sample_target(), 2, 1});
}

/// True if the bytes are equal; times may differ.
void check_same_bytes(chain_profile a, chain_profile b) {
  for (auto* p : {&a, &b}) {
    for (auto& layer : p->layers) layer.forward = layer.backward = {};
  }
  CHECK(a == b);
}

}  // namespace

TEST_CASE("a pilot on several devices sees the bytes that a thread by itself sees, and times") {
  const auto first = make_cpu_device("cpu:0", {.memory = 1_MiB}), second = make_cpu_device("cpu:1", {.memory = 1_MiB});
  const auto profile = measured_on({first.get(), second.get()});
  check_same_bytes(profile, profile_of(gpt(), 2));
  for (const auto& layer : profile.layers) {
    CHECK(layer.forward > duration{});
    CHECK(layer.backward > duration{});
  }
}

TEST_CASE("who waits for a pilot hears of each layer before it is checked, which can take long, and measured") {
  const auto machine = make_cpu_device("cpu:0", {.memory = 1_MiB});
  device* const devices[] = {machine.get()};
  std::vector<std::string> heard;
  const auto note = [&](std::string_view work, std::size_t layer, std::size_t kind, std::size_t kinds) {
    heard.push_back(fmt::format("{} {}: {} of {}", work, layer, kind, kinds));
  };
  pilot(devices, long_enough).measure(gpt().body, {gpt().data->sample_target(), 2, 1, note});
  CHECK(heard == std::vector<std::string>{"checking 0: 1 of 3", "checking 1: 2 of 3", "checking 3: 3 of 3",
                                          "measuring 0: 1 of 3", "measuring 1: 2 of 3", "measuring 3: 3 of 3"});
}

TEST_CASE("a pilot needs no memory of its device's budget") {
  const auto tiny = make_cpu_device("cpu:0", {.memory = 1_KiB});
  check_same_bytes(measured_on({tiny.get()}), profile_of(gpt(), 2));
  CHECK(tiny->memory().peak == 0_B);
}

TEST_CASE("a device that dies in the pilot is left out; if all do, the fault is reported") {
  const auto alive = make_cpu_device("cpu:0", {.memory = 1_MiB});
  watched_device dead(make_cpu_device("cpu:1", {.memory = 1_MiB}), dies(0));
  check_same_bytes(measured_on({alive.get(), &dead}), profile_of(gpt(), 2));
  watched_device also_dead(make_cpu_device("cpu:2", {.memory = 1_MiB}), dies(0));
  CHECK_THROWS_WITH(measured_on({&also_dead}), Contains("the device has died"));
}

TEST_CASE("a device that never answers is not awaited beyond the limit") {
  fake_device silent(fake_info(1_MiB), fake_device::drive::by_hand);
  device* const devices[] = {&silent};
  CHECK_THROWS_WITH(pilot(devices, 1ns).setting(), Contains("has not ended within"));
  silent.stop({});
  silent.drain();
}

TEST_CASE("a device that was late is excluded: its later completions are not results of another measurement") {
  fake_device slow(fake_info(1_MiB), fake_device::drive::by_hand);
  device* const devices[] = {&slow};
  pilot measures(devices, 1ns);
  CHECK_THROWS_WITH(measures.setting(), Contains("has not ended within"));
  slow.drain();
  CHECK_THROWS_WITH(measures.measure(gpt().body, {gpt().data->sample_target(), 2, 1}), Contains("has not ended within"));
}

TEST_CASE("a layer's fault in the pilot is reported unchanged") {
  const auto machine = make_cpu_device("cpu:0", {.memory = 1_MiB});
  device* const devices[] = {machine.get()};
  pilot measures(devices, long_enough);
  CHECK_THROWS_AS(measures.measure(gpt().body, {tensor_spec{{3}, element::i64}, 2, 1}), fault_error);
}

TEST_CASE("the setting of a pilot names kinds and models of devices, their threads and LibTorch, each once") {
  const auto one = make_cpu_device("cpu:0", {.memory = 1_MiB}),
             two = make_cpu_device("cpu:1", {.memory = 1_MiB, .threads = 2}),
             more = make_cpu_device("cpu:2", {.memory = 1_MiB});
  device* const equal[] = {one.get(), more.get()};
  const auto text = pilot(equal, long_enough).setting();
  CHECK_THAT(text, Contains("cpu with threads = 1; Hydra"));
  device* const other[] = {two.get()};
  CHECK_THAT(pilot(other, long_enough).setting(), Contains("cpu with threads = 2; Hydra"));
  outfitted_device named(make_cpu_device("cpu:3", {.memory = 1_MiB}), {.model = "NVIDIA H200, tf32"});
  device* const of_a_model[] = {&named};
  CHECK_THAT(pilot(of_a_model, long_enough).setting(), Contains("cpu (NVIDIA H200, tf32) with threads = 1; Hydra"));
}

TEST_CASE("the rate of an emulated link is taken from the device, another one is measured") {
  const auto slow = make_cpu_device("cpu:0", {.memory = 1_KiB, .link = 10_GiB_per_s}),
             free = make_cpu_device("cpu:1", {.memory = 1_KiB});
  device* const devices[] = {slow.get(), free.get()};
  const auto rates = pilot(devices, long_enough).link_rates();
  CHECK(rates.at(0) == 10_GiB_per_s);
  CHECK(rates.at(1).limited());
}

TEST_CASE("a fingerprint distinguishes chains, samples and targets and counts equal neighbours") {
  const auto target = gpt().data->sample_target();
  const auto text = fingerprint(*gpt().body, target, 2);
  CHECK_THAT(text, Contains("; 2 x "));
  CHECK(text == fingerprint(*small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6}).body, target, 2));
  CHECK(text != fingerprint(*gpt().body, target, 3));
  CHECK(text != fingerprint(*small_gpt({.layers = 3, .width = 16, .heads = 2, .context = 6}).body, target, 2));
  CHECK(text != fingerprint(*small_gpt({.layers = 2, .width = 16, .heads = 4, .context = 6}).body, target, 2));
  CHECK(text != fingerprint(*gpt().body, tensor_spec{{7}, element::i64}, 2));
}

namespace {

/// The host's meter, with a clock that adds a second to each reading.
class slow_meter final : public work_meter {
 public:
  time_point now() override { return inside_->now() + std::chrono::seconds{++looks_}; }
  byte_count used() const noexcept override { return inside_->used(); }
  byte_count peak() const noexcept override { return inside_->peak(); }
  void reset_peak() noexcept override { inside_->reset_peak(); }

 private:
  std::unique_ptr<work_meter> inside_ = make_host_meter();
  int looks_ = 0;
};

/// A locker of a system that locks little.
class poor_locker final : public page_locker {
 public:
  void lock(std::span<std::byte> pages) override {
    asked.push_back(pages.size());
    if (byte_count{pages.size()} > 8_MiB) throw fault_error(fault_code::out_of_memory, "not so many");
  }
  void unlock(std::span<std::byte>) noexcept override {}

  std::vector<std::size_t> asked;
};

}  // namespace

TEST_CASE("a pilot measures with the device's own meter") {
  outfitted_device slow(make_cpu_device("cpu:0", {.memory = 1_MiB}),
                        {.meter = [] { return std::make_unique<slow_meter>(); }});
  const auto profile = measured_on({&slow});
  check_same_bytes(profile, profile_of(gpt(), 2));
  for (const auto& layer : profile.layers) {
    CHECK(layer.forward >= 1s);
    CHECK(layer.backward >= 2s);
  }
}

TEST_CASE("a link is measured with the device's own meter, by copies as large as its memory allows") {
  const auto copied_in_a_second = [](byte_count memory) {
    outfitted_device slow(make_cpu_device("cpu:0", {.memory = memory}),
                          {.meter = [] { return std::make_unique<slow_meter>(); }});
    device* const devices[] = {&slow};
    return pilot(devices, long_enough).link_rates().at(0).per_second() / (1 << 20);
  };
  const auto about = [](double mib, double seen) {
    return seen <= mib && seen > mib / 2;
  };  // a second, and what it takes
  CHECK(about(64, copied_in_a_second(1_GiB)));
  CHECK(about(16, copied_in_a_second(16_MiB)));
  CHECK(about(4, copied_in_a_second(1_KiB)));
}

TEST_CASE("a pilot measures layers and links of a device whose tensors are elsewhere") {
  outfitted_device there(make_cpu_device("cpu:0", {.memory = 1_MiB}), {.torch_device = other_device});
  const no_waiting strict;
  const auto profile = measured_on({&there});
  REQUIRE(profile.layers.size() == gpt().body->size());
  for (const auto& layer : profile.layers) CHECK(layer.backward > duration{});
}

TEST_CASE("the pilot's copies are from pages that the device has locked, and are given back") {
  auto made = std::make_unique<recorded_locker>();
  const auto& locker = *made;
  outfitted_device locks(make_cpu_device("cpu:0", {.memory = 1_KiB}),
                         {.torch_device = other_device, .locker = std::move(made)});
  device* const devices[] = {&locks};
  CHECK(pilot(devices, long_enough).link_rates().at(0).limited());
  REQUIRE(locker.locks().size() == 1);
  CHECK(byte_count{locker.locks()[0].size()} == round_up(host_charge(4_MiB), 4096));
  CHECK(locker.held().empty());
}

TEST_CASE("devices whose links are measured share the host memory for it, and take the least where no more is locked") {
  const auto size = [](byte_count probe_buffer) {
    return static_cast<std::size_t>(round_up(host_charge(probe_buffer), 4096).value());
  };
  auto made = std::make_unique<recorded_locker>();
  auto poor_made = std::make_unique<poor_locker>();
  const auto& locker = *made;
  const auto& poor = *poor_made;
  outfitted_device rich_device(make_cpu_device("cpu:0", {.memory = 1_GiB}),
                               {.torch_device = other_device, .locker = std::move(made)});
  outfitted_device poor_device(make_cpu_device("cpu:1", {.memory = 1_GiB}),
                               {.torch_device = other_device, .locker = std::move(poor_made)});
  const auto emulated = make_cpu_device("cpu:2", {.memory = 1_GiB, .link = 10_GiB_per_s});
  device* const devices[] = {&rich_device, &poor_device, emulated.get()};
  for (const auto rate : pilot(devices, long_enough).link_rates()) CHECK(rate.limited());
  REQUIRE(locker.locks().size() == 1);
  CHECK(locker.locks()[0].size() == size(32_MiB));
  CHECK(poor.asked == std::vector<std::size_t>{size(32_MiB), size(4_MiB)});
}
