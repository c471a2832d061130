#include "actors/policy/limited_policy.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/gate.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <semaphore>
#include <stdexcept>
#include <thread>

using namespace hydra;
using namespace std::chrono_literals;

namespace limited_policy_test {

using choice =
    std::function<std::optional<std::size_t>(const device_state&, std::span<const candidate>, const policy_view&)>;

/// Does what a test says; counts its notifications.
class scripted final : public policy {
 public:
  explicit scripted(choice what, int* events = nullptr) : what_{std::move(what)}, events_{events} {}
  std::string name() const override { return "scripted"; }
  std::optional<std::size_t> choose(const device_state& d, std::span<const candidate> c,
                                    const policy_view& v) override {
    return what_(d, c, v);
  }
  void model_left(model_id m) override {
    if (m == model_id{13}) throw std::runtime_error("unlucky");
    *events_ += 1;
  }
  void unit_avoids(model_id, device_id) override { *events_ += 10; }
  void device_left(device_id) override { *events_ += 100; }

 private:
  choice what_;
  int* events_;
};

const std::vector<device_state> devices{{.device = device_id{4}, .free_at = {}, .running = {}, .last = {}}};
const std::vector<candidate> candidates(3);

std::optional<std::size_t> ask(policy& p) {
  return p.choose(devices[0], candidates, {.now = time_point{5ns}, .devices = devices, .models = {}});
}

std::string failure(policy& p) {
  try {
    ask(p);
  } catch (const fault_error& e) {
    return e.what();
  }
  return "none";
}

TEST_CASE("a policy within its limit decides on another thread with the same arguments", "[policy]") {
  std::thread::id thread;
  int events = 0;
  limited_policy p{std::make_unique<scripted>(
                       [&](const device_state& d, std::span<const candidate> c, const policy_view& v) {
                         thread = std::this_thread::get_id();
                         const bool same =
                             d.device == device_id{4} && v.devices.size() == 1 && v.now == time_point{5ns};
                         return same ? std::optional{c.size() - 1} : std::nullopt;
                       },
                       &events),
                   "mine"};
  CHECK(p.name() == "mine");
  CHECK(ask(p) == 2);
  CHECK(thread != std::this_thread::get_id());
  p.model_left(model_id{1});
  p.unit_avoids(model_id{1}, device_id{1});
  p.device_left(device_id{1});
  CHECK(events == 111);
}

TEST_CASE("what a policy throws is reported by this call and by every later one", "[policy]") {
  limited_policy p{
      std::make_unique<scripted>([](auto&&...) -> std::optional<std::size_t> { throw std::runtime_error("no idea"); }),
      "mine"};
  CHECK(failure(p) == "a decision throws: no idea");
  CHECK(failure(p) == "a decision throws: no idea");
}

TEST_CASE("what a policy throws when it is notified of an event is reported at the next decision", "[policy]") {
  limited_policy p{std::make_unique<scripted>([](auto&&...) { return std::optional<std::size_t>{0}; }), "mine"};
  p.model_left(model_id{13});
  CHECK_THAT(failure(p), Catch::Contains("the notification that a model has left throws: unlucky"));
}

TEST_CASE("a policy that never returns is abandoned with copies of its arguments", "[policy]") {
  struct shared {
    std::binary_semaphore wake{0}, woken{0};
    std::size_t seen = 0;
  };
  const auto s = std::make_shared<shared>();
  {
    limited_policy p{
        std::make_unique<scripted>([s](const device_state& d, std::span<const candidate> c, const policy_view& v) {
          s->wake.acquire();
          s->seen = d.device.value + c.size() + v.devices.front().device.value;
          s->woken.release();
          return std::optional<std::size_t>{0};
        }),
        "mine", 20ms};
    const auto shown_devices = std::make_unique<std::vector<device_state>>(devices);
    const auto shown = std::make_unique<std::vector<candidate>>(candidates);
    const policy_view view{.now = {}, .devices = *shown_devices, .models = {}};
    CHECK_THROWS_WITH(p.choose(shown_devices->front(), *shown, view), "a decision takes longer than 20.0 ms");
    CHECK_THAT(failure(p), Catch::Contains("takes longer"));
  }
  s->wake.release();
  s->woken.acquire();
  CHECK(s->seen == 4 + 3 + 4);
}

TEST_CASE("a policy's object ends with its wrapper", "[policy]") {
  const auto alive = std::make_shared<int>();
  {
    limited_policy p{std::make_unique<scripted>([alive](auto&&...) { return std::optional<std::size_t>{0}; }), "mine"};
    CHECK(ask(p) == 0);
    CHECK(alive.use_count() == 2);
  }
  CHECK(alive.use_count() == 1);
}

namespace {

struct late_call {
  std::binary_semaphore wake{0}, ended{0};
  std::thread::id called_on, ended_on;
};

/// Records where it was called and where it ended.
class late final : public policy {
 public:
  explicit late(std::shared_ptr<late_call> s) : s_{std::move(s)} {}
  ~late() override {
    s_->ended_on = std::this_thread::get_id();
    s_->ended.release();
  }
  std::string name() const override { return "late"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
    s_->called_on = std::this_thread::get_id();
    s_->wake.acquire();
    return 0;
  }

 private:
  std::shared_ptr<late_call> s_;
};

}  // namespace

TEST_CASE("an object whose call has come back late ends on the thread of that call", "[policy]") {
  const auto s = std::make_shared<late_call>();
  limited_policy p{std::make_unique<late>(s), "mine", 20ms};
  CHECK_THAT(failure(p), Catch::Contains("takes longer"));
  s->wake.release();
  REQUIRE(s->ended.try_acquire_for(hydra::test::patience));  // although the wrapper exists
  CHECK(s->ended_on == s->called_on);
}

}  // namespace limited_policy_test
