// Devices that differ in where their tensors are and what host memory they copy from train to the same bits.

#include "runtime/base/bytes.hpp"
#include "tests/support/other_device.hpp"
#include "tests/support/outfitted_device.hpp"
#include "tests/support/recorded_locker.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// What the lockers of a session's devices have done at the end of the devices.
struct lock_record {
  std::mutex mutex;
  std::vector<byte_count> locked;   ///< by each device, in the order of their ends
  std::size_t left = 0, strangers = 0;
};

/// Devices with a locker of their own.
run_options locking(const std::shared_ptr<lock_record>& record, std::size_t devices) {
  const auto note = [record](page_locker* locker) {
    const auto& l = static_cast<const recorded_locker&>(*locker);
    const std::lock_guard lock{record->mutex};
    byte_count all;
    for (const auto& pages : l.locks()) all += byte_count{pages.size()};
    record->locked.push_back(all);
    record->left += l.held().size();
    record->strangers += l.strangers();
  };
  run_options o{.devices = std::vector(devices, cpu_device{.memory = 98_KiB})};
  o.around = [note](std::unique_ptr<device> d) -> std::unique_ptr<device> {
    return std::make_unique<outfitted_device>(std::move(d),
                                              outfit{.at_end = note, .locker = std::make_unique<recorded_locker>()});
  };
  return o;
}

exact_case small_text() {
  auto c = tiny_gpt(0.1, true);
  c.cuts = {0, 1, 2, 3, 4};
  c.micro_batches = 2;
  c.optimizer.clip_norm = 0.5;
  return c;
}

/// Layers that compute the same bits wherever their tensors are.
exact_case small_classes() {
  exact_case c;
  c.chain = mlp({.layers = 3, .width = 16, .dropout = 0.2});
  c.data =
      open_data({synthetic_classes{.features = 8, .classes = 3, .samples = 40, .validation_samples = 10}, true}, 0);
  c.cuts = {0, 2, 3};
  c.micro_batches = 2;
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

}  // namespace

TEST_CASE("training from locked host memory equals plain training bit for bit, and gives every page back") {
  for (const std::size_t devices : {1, 2}) {
    const auto record = std::make_shared<lock_record>();
    const auto o = locking(record, devices);
    const auto c = small_text();
    const auto run = train_spilled({c, c}, o);
    for (const std::size_t model : {0, 1}) CHECK(difference(train_plain(c), run, model) == "");
    CHECK(record->left == 0);
    CHECK(record->strangers == 0);
    const auto planned = round_up(planned_transfers({c, c}, o), 4096);
    CHECK(std::ranges::count(record->locked, planned) == static_cast<std::ptrdiff_t>(devices));  // those of the run
  }
}

TEST_CASE("training with the least host memory in a pinned pool equals plain training bit for bit") {
  const auto record = std::make_shared<lock_record>();
  auto o = locking(record, 2);
  const auto c = small_text();
  o.host_memory = planned_host_memory({c}, o);
  const auto run = train_spilled({c}, o);
  CHECK(difference(train_plain(c), run, 0) == "");
  CHECK(run.summary.host_peak <= o.host_memory);
  const auto space = round_up(planned_transfers({c}, o), 4096);
  CHECK(std::ranges::count(record->locked, space) == 2);  // by both devices of the run
  CHECK(record->left == 0);
  CHECK(record->strangers == 0);
}

TEST_CASE(
    "training on devices whose tensors are elsewhere equals plain training bit for bit, without waiting for them") {
  run_options o{.devices = std::vector(2, cpu_device{.memory = 1_MiB})};
  o.around = [](std::unique_ptr<device> d) -> std::unique_ptr<device> {
    return std::make_unique<outfitted_device>(std::move(d), outfit{.torch_device = other_device});
  };
  const auto c = small_classes();
  const auto plain = train_plain(c);
  const no_waiting strict;
  CHECK(difference(plain, train_spilled({c}, o), 0) == "");
}
