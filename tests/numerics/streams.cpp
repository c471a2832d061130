// Training on devices whose queues are streams: closures run ahead of the device, in pages of a fixed arena.

#include "runtime/device/streams/arena_memory.hpp"
#include "runtime/device/streams/stream_device.hpp"
#include "tests/support/host_pages.hpp"
#include "tests/support/host_streams.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <thread>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// Streams that lag behind what is launched, by varying times.
host_stream_options lagging(std::uint32_t seed) {
  return {.before_work = [turn = std::make_shared<std::atomic<std::uint32_t>>(seed)](queue_kind) {
    for (std::uint32_t i = (turn->fetch_add(7919) * 2654435761u) >> 29; i > 0; --i) {
      std::this_thread::yield();
    }
  }};
}

/// Tensors of the host have a header before their bytes: memory for the headers of all that exist at a time.
constexpr byte_count headers = 128_KiB;

std::unique_ptr<device> stream_device_of(const std::string& name, byte_count budget, std::uint32_t seed) {
  constexpr auto page = 4_KiB;
  const auto pages = (budget + byte_count{budget.value() / 32} + headers).value() / page.value();
  device_info info;
  info.name = name;
  info.kind = "cpu";
  info.memory = budget;
  return make_stream_device(std::move(info), make_host_streams(lagging(seed)),
                            std::make_shared<arena_memory>(make_host_pages(page, pages)));
}

exact_case larger_gpt() {
  auto c = tiny_gpt(0.1, true);
  c.chain = gpt2({.layers = 4, .width = 64, .heads = 2, .context = 6, .dropout = 0.1, .tied = true});
  c.cuts = {0, 1, 3, 5};
  c.batch_size = 16;
  c.micro_batches = 4;
  c.steps = 4;
  c.optimizer.clip_norm = 0.5;
  return c;
}

spilled_result train_on_streams(const std::vector<exact_case>& models, byte_count budget, int devices) {
  std::uint32_t seed = 1;
  session s({.log = verbosity::quiet});
  for (int i = 0; i < devices; ++i) {
    s.add_device("cpu", [&](const std::string& name) { return stream_device_of(name, budget, seed++); });
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    s.add_model(describe(models[i], i));
  }
  return with_parameters(s.run(), s);
}

byte_count smallest_budget(const std::vector<exact_case>& models) {
  session s({.log = verbosity::quiet});
  s.add_devices(1, cpu_device{.memory = 8_MiB});
  for (std::size_t i = 0; i < models.size(); ++i) {
    s.add_model(describe(models[i], i));
  }
  return s.plan().staging_bytes + s.plan().computing_bytes;
}

}  // namespace

TEST_CASE("training on streams equals plain training bit for bit in the smallest memory", "[exactness]") {
  const int devices = GENERATE(1, 2);
  auto other = larger_gpt();
  other.optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
  other.cuts = {0, 2, 4};
  const std::vector models{larger_gpt(), other, tiny_cnn()};
  const auto result = train_on_streams(models, smallest_budget(models), devices);
  for (std::size_t i = 0; i < models.size(); ++i) {
    INFO("model " << i << " on " << devices << " devices");
    REQUIRE(result.summary.models[i].error.text == "");
    REQUIRE(difference(train_plain(models[i]), result, i) == "");
  }
}
