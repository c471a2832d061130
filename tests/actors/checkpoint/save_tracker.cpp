#include "actors/checkpoint/save_tracker.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace hydra;

namespace {

using action = save_tracker::action;

save_point state_at(std::uint32_t step) { return {{.step = step}, 2 * step, 0, false}; }
const fault full{fault_code::io, "the disk is full"};
const fault halted{fault_code::interrupted, "interrupted"};

}  // namespace

TEST_CASE("a model that continues is saved between steps when a checkpoint is due, one at a time") {
  save_tracker tracker(true);
  CHECK_FALSE(tracker.between_steps(false));
  tracker.is_due();
  CHECK(tracker.between_steps(false));
  CHECK_FALSE(tracker.between_steps(false));
  tracker.captured(state_at(1));
  tracker.saved({});
  CHECK_FALSE(tracker.between_steps(false));
  CHECK(tracker.between_steps(true));
  CHECK(tracker.next(state_at(1), true) == action::none);
}

TEST_CASE("first checkpoints of models are spread over the period, however long it is") {
  using namespace std::chrono_literals;
  CHECK(first_due(60s, 0, 3) == 20s);
  CHECK(first_due(60s, 2, 3) == 60s);
  CHECK(first_due(7ns, 1, 3) == 4ns);
  CHECK(first_due(duration::max(), 199, 200) == duration::max());
}

TEST_CASE("a checkpoint that falls due while another is under way is made behind the next step") {
  save_tracker tracker(true);
  CHECK(tracker.between_steps(true));
  CHECK_FALSE(tracker.between_steps(true));
  CHECK_FALSE(tracker.between_steps(false));
  tracker.captured(state_at(1));
  tracker.saved({});
  CHECK(tracker.between_steps(false));
  tracker.saved({});
  CHECK_FALSE(tracker.between_steps(false));
}

TEST_CASE("a model that leaves is saved when none of its units is on a device, then it ends") {
  save_tracker tracker(true);
  tracker.leave({});
  CHECK(tracker.next(state_at(3), false) == action::none);
  CHECK(tracker.next(state_at(3), true) == action::capture);
  CHECK(tracker.next(state_at(3), true) == action::none);
  tracker.captured(state_at(3));
  tracker.saved({});
  CHECK(tracker.next(state_at(3), true) == action::end);
  CHECK_FALSE(tracker.unsaved());
}

TEST_CASE("a unit that completes while the last state is saved is saved, too") {
  save_tracker tracker(true);
  tracker.leave(halted);
  CHECK(tracker.next(state_at(2), true) == action::capture);
  tracker.captured(state_at(2));
  tracker.saved({});
  CHECK(tracker.next(state_at(3), false) == action::none);
  CHECK(tracker.next(state_at(3), true) == action::capture);
  tracker.captured(state_at(3));
  tracker.saved({});
  CHECK(tracker.next(state_at(3), true) == action::end);
  CHECK(tracker.reason().code == fault_code::interrupted);
}

TEST_CASE("what is on disk is not saved again; what changed only by updates is") {
  save_tracker tracker(true);
  tracker.begins_at(state_at(3));
  tracker.leave({});
  auto later = state_at(3);
  later.updates += 1;
  CHECK(tracker.next(state_at(3), true) == action::end);
  CHECK(tracker.next(later, true) == action::capture);
}

TEST_CASE("a checkpoint that fails during the run does not replace the last one, which is tried once") {
  save_tracker tracker(true);
  CHECK(tracker.between_steps(true));
  tracker.captured(state_at(1));
  tracker.leave({});
  CHECK(tracker.next(state_at(2), true) == action::none);
  tracker.saved(full);
  CHECK(tracker.next(state_at(2), true) == action::capture);
  tracker.captured(state_at(2));
  tracker.saved(full);
  CHECK(tracker.next(state_at(2), true) == action::end);
  CHECK(tracker.unsaved().code == fault_code::io);
}

TEST_CASE("a model that stays because it could not be saved is saved later in the same state") {
  save_tracker tracker(true);
  tracker.leave({});
  CHECK(tracker.next(state_at(2), true) == action::capture);
  tracker.captured(state_at(2));
  tracker.saved(full);
  CHECK(tracker.next(state_at(2), true) == action::end);
  tracker.stay();
  tracker.leave({});
  CHECK(tracker.next(state_at(2), true) == action::capture);
  tracker.captured(state_at(2));
  tracker.saved({});
  CHECK(tracker.next(state_at(2), true) == action::end);
  CHECK_FALSE(tracker.unsaved());
}

TEST_CASE("a model that is given up, or has nowhere to save to, ends at once") {
  save_tracker tracker(true);
  tracker.leave(halted);
  CHECK(tracker.next(state_at(2), false) == action::none);
  tracker.give_up(full);
  CHECK(tracker.next(state_at(2), false) == action::end);
  CHECK(tracker.reason().code == fault_code::interrupted);
  CHECK(tracker.unsaved());
  save_tracker nowhere(false);
  CHECK_FALSE(nowhere.between_steps(true));
  nowhere.leave(halted);
  CHECK(nowhere.next(state_at(2), false) == action::end);
  CHECK_FALSE(nowhere.unsaved());
}

TEST_CASE("the best state is captured as soon as no other checkpoint is under way, and holds the model until then") {
  save_tracker tracker(true);
  REQUIRE(tracker.between_steps(true));
  tracker.is_best();
  CHECK_FALSE(tracker.best_now());
  CHECK(tracker.holds_best());
  tracker.captured(state_at(1));
  tracker.saved({});
  CHECK(tracker.best_now());
  CHECK_FALSE(tracker.best_now());
  CHECK(tracker.holds_best());
  tracker.captured(state_at(1));
  CHECK_FALSE(tracker.holds_best());
  CHECK(tracker.saving_best());
  tracker.saved({});
  CHECK_FALSE(tracker.saving());
}

TEST_CASE("a best state that is saved, or could not be, does not change from what a run resumes") {
  save_tracker tracker(true);
  tracker.is_best();
  REQUIRE(tracker.best_now());
  tracker.captured(state_at(3));
  tracker.saved(full);
  tracker.leave({});
  CHECK(tracker.next(state_at(3), true) == action::capture);
  tracker.captured(state_at(3));
  tracker.saved({});
  CHECK(tracker.next(state_at(3), true) == action::end);
  CHECK_FALSE(tracker.unsaved());
}

TEST_CASE("a model that leaves does not end before its best state is saved, unless it is given up") {
  save_tracker tracker(true);
  tracker.is_best();
  tracker.leave(halted);
  CHECK(tracker.next(state_at(2), true) == action::none);
  tracker.give_up(halted);
  CHECK_FALSE(tracker.holds_best());
  CHECK(tracker.next(state_at(2), true) == action::end);
}

TEST_CASE("without a place to save to no best state is awaited") {
  save_tracker tracker(false);
  tracker.is_best();
  CHECK_FALSE(tracker.holds_best());
  CHECK_FALSE(tracker.best_now());
}
