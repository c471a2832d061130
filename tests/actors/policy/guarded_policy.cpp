#include "actors/policy/guarded_policy.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

using namespace hydra;

namespace {

enum class event { none, choose, pending, model, unit, device };

/// Throws when it is notified of one kind of event.
class throwing final : public policy {
 public:
  explicit throwing(event at) : at_{at} {}
  std::string name() const override { return "mine"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> c, const policy_view&) override {
    notify(event::choose);
    return c.size() - 1;
  }
  std::uint32_t depth() const override { return 3; }
  bool pending() const override {
    notify(event::pending);
    return true;
  }
  void model_left(model_id) override { notify(event::model); }
  void unit_avoids(model_id, device_id) override { notify(event::unit); }
  void device_left(device_id) override { notify(event::device); }

 private:
  void notify(event e) const {
    if (e == at_) {
      throw std::runtime_error("unlucky");
    }
  }
  event at_;
};

std::optional<std::size_t> decide_after_all_events(event at) {
  guarded_policy p{std::make_unique<throwing>(at)};
  static_cast<void>(p.pending());
  p.model_left({});
  p.unit_avoids({}, {});
  p.device_left({});
  const std::vector<candidate> three(3);
  CHECK(p.name() == "mine");
  return p.choose({}, three, {});
}

}  // namespace

TEST_CASE("a guarded policy that does not throw decides as it would alone", "[policy]") {
  CHECK(decide_after_all_events(event::none) == 2);
  CHECK(guarded_policy{std::make_unique<throwing>(event::none)}.pending());
  CHECK(guarded_policy{std::make_unique<throwing>(event::none)}.depth() == 3);
}

TEST_CASE("what a guarded policy throws at an event is thrown by its next decision", "[policy]") {
  CHECK_THROWS_WITH(decide_after_all_events(event::choose), "a decision throws: unlucky");
  CHECK_THROWS_WITH(decide_after_all_events(event::model), "the notification that a model has left throws: unlucky");
  CHECK_THROWS_WITH(decide_after_all_events(event::unit),
                    "the notification that a unit avoids a device throws: unlucky");
  CHECK_THROWS_WITH(decide_after_all_events(event::device), "the notification that a device has left throws: unlucky");
  CHECK_THROWS_WITH(decide_after_all_events(event::pending), Catch::Contains("answer is pending throws: unlucky"));
}
