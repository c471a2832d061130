#include "actors/admission/model_joiner.hpp"

#include "actors/admission/planned_workload.hpp"
#include "actors/session/session.hpp"
#include "models/families/mlp/mlp.hpp"
#include "partition/plan/plan.hpp"
#include "partition/plan/shared_bases.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "tests/support/outfitted_device.hpp"
#include "tests/support/recorded_locker.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace {

/// Copies take longer than the computations they are for.
constexpr cpu_device slow_link{.memory = 64_MiB, .link = byte_rate{1e6}};

model_description wide(const std::string& name) {
  return {.name = name,
          .chain = mlp({.layers = 2, .width = 32}),
          .data = {synthetic_classes{}},
          .batch_size = 8,
          .steps = 4,
          .optimizer = sgd({.learning_rate = 0.1})};
}

const fault none_free{fault_code::out_of_memory, "1.0 MiB are needed, none are free"};

std::unique_ptr<work_meter> no_memory() { throw fault_error{none_free}; }
std::unique_ptr<work_meter> no_host_memory() { throw std::bad_alloc{}; }

/// A joiner of the run of one model on one device.
struct bench {
  explicit bench(byte_count host = 64_MiB, const std::filesystem::path& output = {},
                 model_description first = wide("first"), const pinned_pool_sizes& pool = {}, bool resumes = true)
      : models_of_start{std::move(first)}, arena(make_host_arena(host, pool)) {
    const auto log = make_logger(verbosity::quiet);
    const std::vector<device_entry> devices{
        {"cpu", [](const std::string& name, device_use) { return make_cpu_device(name, slow_link); }}};
    const interrupt_flag interrupts;
    planned = plan_workload(
        {.options = options, .models = models_of_start, .devices = devices, .interrupts = interrupts, .log = log});
    planned.setting = "another one";
    options.output = output;
    options.resume = resumes && !output.empty();
    joiner.emplace(
        joining_setup{.options = options,
                      .devices = {{"cpu", [this](const std::string& name, device_use use) { return make(name, use); }}},
                      .planned = planned,
                      .arena = arena.get(),
                      .log = log});
  }

  std::unique_ptr<device> make(const std::string& name, device_use use) {
    ++devices_made;
    CHECK(use == device_use::measure);
    auto made = make_cpu_device(name, slow_link);
    if (!meter) return made;
    return std::make_unique<test::outfitted_device>(std::move(made), test::outfit{.meter = meter});
  }

  /// The model has joined when it returns.
  model_entry prepare(const model_description& m, const std::set<model_id>& without_memory = {}) {
    auto entry = joiner->prepare({m, model_id{static_cast<std::uint32_t>(models)}, models, false, without_memory});
    ++models;
    return entry;
  }

  session_options options{.log = verbosity::quiet, .ablation = {.save = false}};  // as few shards as fit
  std::vector<model_description> models_of_start;
  planned_workload planned;
  std::size_t models = 1;  ///< of the run
  int devices_made = 0;
  std::function<std::unique_ptr<work_meter>()> meter;   ///< of the devices; none: their own
  std::unique_ptr<host_arena> arena;
  std::optional<model_joiner> joiner;
};

byte_count host_for_two() {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, slow_link);
  s.add_model(wide("first"));
  s.add_model(wide("second"));
  return s.plan().host_needed;
}

fault_code refusal(bench& b, const model_description& m) {
  try {
    b.prepare(m);
  } catch (const fault_error& e) {
    return e.what_happened().code;
  }
  return {};
}

}  // namespace

TEST_CASE("the remaining time of a model that joins is a wall time, as for the run's own models", "[joining]") {
  bench b;
  CHECK(b.prepare(wide("late")).what->remaining_scale > 2);
}

TEST_CASE("the memory of a released model is free for others, its name is not", "[joining]") {
  bench b(host_for_two());
  b.prepare(wide("second"));  // its memory is freed at once
  CHECK(refusal(b, wide("third")) == fault_code::out_of_memory);
  CHECK_NOTHROW(b.prepare(wide("third"), {model_id{1}}));
  CHECK(refusal(b, wide("second")) == fault_code::bad_input);
}

TEST_CASE("a model that would not fit alone is refused for ever, one that does not fit now may wait", "[joining]") {
  bench b(host_for_two());
  auto huge = wide("huge");
  huge.chain = mlp({.layers = 64, .width = 32});
  CHECK(refusal(b, huge) == fault_code::does_not_fit);
  CHECK_THROWS_WITH(b.prepare(huge), Catch::Contains("model 'huge' alone needs at least"));
  b.prepare(wide("second"));
  CHECK(refusal(b, wide("third")) == fault_code::out_of_memory);
}

TEST_CASE("a model of the run that is prepared again keeps its name, its id and its cuts", "[joining]") {
  bench b(host_for_two());
  const auto first = b.joiner->prepare({wide("first"), model_id{0}, 1, false, {model_id{0}}});
  CHECK(first.what->plan.cuts() == b.planned.plan.models.front().cuts());
  CHECK_NOTHROW(b.prepare(wide("second")));
  CHECK(refusal(b, wide("third")) == fault_code::out_of_memory);  // the first one counts once
}

TEST_CASE("a model that was prepared, but has not joined, is forgotten", "[joining]") {
  bench b(host_for_two());
  b.prepare(wide("second"));
  b.models = 1;
  CHECK_NOTHROW(b.prepare(wide("second")));
}

TEST_CASE("a preparation that is cancelled ends with its current phase, and no other starts", "[joining]") {
  bench b;
  auto late = wide("late");
  late.chain.build = [&, build = late.chain.build](const data_source& data) {
    b.joiner->cancel();
    return build(data);
  };
  CHECK(refusal(b, late) == fault_code::refused);
  CHECK(b.devices_made == 0);  // nothing was measured
  CHECK(b.arena->budget().used() == byte_count{});
  CHECK(refusal(b, wide("later")) == fault_code::refused);
  CHECK(b.devices_made == 0);
}

TEST_CASE("a layer that cannot be measured while the run's devices hold their memory is refused with what can be done",
          "[joining]") {
  bench b;
  b.meter = no_memory;   // the devices of the run have left nothing to measure with
  auto wider = wide("late");
  wider.chain = mlp({.layers = 2, .width = 48});
  CHECK(refusal(b, wider) == fault_code::does_not_fit);
  CHECK_THROWS_WITH(b.prepare(wider), Catch::Contains("model 'late' cannot join: ") &&
                                          Catch::Contains("none are free") && Catch::Contains("a smaller memory"));
}

TEST_CASE("a lack of host memory, or a fault of a data source, is reported as such", "[joining]") {
  bench b;
  b.meter = no_host_memory;
  auto wider = wide("late");
  wider.chain = mlp({.layers = 2, .width = 48});
  CHECK(refusal(b, wider) == fault_code::out_of_memory);
  CHECK_THROWS_WITH(b.prepare(wider), Catch::StartsWith("the host refused an allocation"));
  wider.chain.build = [](const data_source&) -> chain { throw fault_error{none_free}; };
  CHECK_THROWS_WITH(b.prepare(wider), "model 'late': chain: " + none_free.text);
}

TEST_CASE("a model that joins a resumed run does not begin from a best state that is damaged", "[joining]") {
  const test::temporary_folder folder;
  const auto best = folder.path() / "checkpoints" / "second" / "best-step-3";
  std::filesystem::create_directories(best);
  bench b{64_MiB, folder.path()};
  CHECK(b.prepare(wide("second")).standing.next.step == 0);
  CHECK_FALSE(std::filesystem::exists(best));
}

TEST_CASE("a model that joins a new run in a used folder has no best state of before", "[joining]") {
  const test::temporary_folder folder;
  const auto best = folder.path() / "checkpoints" / "second" / "best-step-3";
  std::filesystem::create_directories(best);
  bench b{64_MiB, folder.path(), wide("first"), {}, false};
  b.prepare(wide("second"));
  CHECK_FALSE(std::filesystem::exists(best));
  CHECK_FALSE(std::filesystem::exists(best.string() + ".damaged"));
}

namespace {

model_description frozen(const std::string& name) {
  auto m = wide(name);
  m.chain = with_frozen(mlp({.layers = 2, .width = 256}), freezing{{"*weight"}});
  return m;
}

workload_plan planned(const std::vector<std::string>& names) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, slow_link);
  for (const auto& name : names) s.add_model(frozen(name));
  return s.plan();
}

}  // namespace

TEST_CASE("a base that is in the pinned pool is not charged again beside it", "[joining][shared]") {
  const auto first = planned({"first"});
  const auto base = base_bytes(first.models);
  const auto both = planned({"first", "second"}).host_needed;
  REQUIRE(base * 3 > both);
  test::recorded_locker locker;
  const pinned_pool_sizes pool{.lockers = {&locker}, .size = host_transfers(first.models, 1)};
  bench b{both + byte_count{base.value() / 2}, {}, frozen("first"), pool};
  const auto begun = b.joiner->begin(b.models_of_start);
  CHECK_NOTHROW(b.prepare(frozen("second")));
}
