#include "actors/checkpoint/save_book.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace hydra;

namespace {

using action = save_book::action;

save_point state_at(std::uint32_t step) { return {{step, 0}, 2 * step, 0, false}; }
const fault full{fault_code::io, "the disk is full"};
const fault halted{fault_code::interrupted, "interrupted"};

}  // namespace

TEST_CASE("a model that goes on is saved between steps when a checkpoint is due, one at a time") {
  save_book book(true);
  CHECK_FALSE(book.between_steps(false));
  book.is_due();
  CHECK(book.between_steps(false));
  CHECK_FALSE(book.between_steps(false));
  book.captured(state_at(1));
  book.saved({});
  CHECK_FALSE(book.between_steps(false));
  CHECK(book.between_steps(true));
  CHECK(book.next(state_at(1), true) == action::none);
}

TEST_CASE("first checkpoints of models are spread over the period, however long it is") {
  using namespace std::chrono_literals;
  CHECK(first_due(60s, 0, 3) == 20s);
  CHECK(first_due(60s, 2, 3) == 60s);
  CHECK(first_due(7ns, 1, 3) == 4ns);
  CHECK(first_due(duration::max(), 199, 200) == duration::max());
}

TEST_CASE("a checkpoint that falls due while another is under way is made behind the next step") {
  save_book book(true);
  CHECK(book.between_steps(true));
  CHECK_FALSE(book.between_steps(true));
  CHECK_FALSE(book.between_steps(false));
  book.captured(state_at(1));
  book.saved({});
  CHECK(book.between_steps(false));
  book.saved({});
  CHECK_FALSE(book.between_steps(false));
}

TEST_CASE("a model that leaves is saved when nothing of it is on a device, then it ends") {
  save_book book(true);
  book.leave({});
  CHECK(book.next(state_at(3), false) == action::none);
  CHECK(book.next(state_at(3), true) == action::capture);
  CHECK(book.next(state_at(3), true) == action::none);
  book.captured(state_at(3));
  book.saved({});
  CHECK(book.next(state_at(3), true) == action::end);
  CHECK_FALSE(book.unsaved());
}

TEST_CASE("a unit that completes while the last state is saved is saved, too") {
  save_book book(true);
  book.leave(halted);
  CHECK(book.next(state_at(2), true) == action::capture);
  book.captured(state_at(2));
  book.saved({});
  CHECK(book.next(state_at(3), false) == action::none);
  CHECK(book.next(state_at(3), true) == action::capture);
  book.captured(state_at(3));
  book.saved({});
  CHECK(book.next(state_at(3), true) == action::end);
  CHECK(book.reason().code == fault_code::interrupted);
}

TEST_CASE("what is on disk is not saved again; what changed only by updates is") {
  save_book book(true);
  book.begins_at(state_at(3));
  book.leave({});
  auto later = state_at(3);
  later.updates += 1;
  CHECK(book.next(state_at(3), true) == action::end);
  CHECK(book.next(later, true) == action::capture);
}

TEST_CASE("a checkpoint that fails on the way does not stand for the last one, which is tried once") {
  save_book book(true);
  CHECK(book.between_steps(true));
  book.captured(state_at(1));
  book.leave({});
  CHECK(book.next(state_at(2), true) == action::none);
  book.saved(full);
  CHECK(book.next(state_at(2), true) == action::capture);
  book.captured(state_at(2));
  book.saved(full);
  CHECK(book.next(state_at(2), true) == action::end);
  CHECK(book.unsaved().code == fault_code::io);
}

TEST_CASE("who gives up, or has nowhere to save to, ends at once") {
  save_book book(true);
  book.leave(halted);
  CHECK(book.next(state_at(2), false) == action::none);
  book.give_up(full);
  CHECK(book.next(state_at(2), false) == action::end);
  CHECK(book.reason().code == fault_code::interrupted);
  CHECK(book.unsaved());
  save_book nowhere(false);
  CHECK_FALSE(nowhere.between_steps(true));
  nowhere.leave(halted);
  CHECK(nowhere.next(state_at(2), false) == action::end);
  CHECK_FALSE(nowhere.unsaved());
}

TEST_CASE("the best state is captured as soon as no other checkpoint is under way, and holds the model until then") {
  save_book book(true);
  REQUIRE(book.between_steps(true));
  book.is_best();
  CHECK_FALSE(book.best_now());
  CHECK(book.holds_best());
  book.captured(state_at(1));
  book.saved({});
  CHECK(book.best_now());
  CHECK_FALSE(book.best_now());
  CHECK(book.holds_best());
  book.captured(state_at(1));
  CHECK_FALSE(book.holds_best());
  CHECK(book.saving_best());
  book.saved({});
  CHECK_FALSE(book.saving());
}

TEST_CASE("a best state that is saved, or could not be, says nothing about what a run goes on from") {
  save_book book(true);
  book.is_best();
  REQUIRE(book.best_now());
  book.captured(state_at(3));
  book.saved(full);
  book.leave({});
  CHECK(book.next(state_at(3), true) == action::capture);
  book.captured(state_at(3));
  book.saved({});
  CHECK(book.next(state_at(3), true) == action::end);
  CHECK_FALSE(book.unsaved());
}

TEST_CASE("a model that leaves is not through before its best state is saved, unless nothing is awaited any more") {
  save_book book(true);
  book.is_best();
  book.leave(halted);
  CHECK(book.next(state_at(2), true) == action::none);
  book.give_up(halted);
  CHECK_FALSE(book.holds_best());
  CHECK(book.next(state_at(2), true) == action::end);
}

TEST_CASE("without a place to save to no best state is awaited") {
  save_book book(false);
  book.is_best();
  CHECK_FALSE(book.holds_best());
  CHECK_FALSE(book.best_now());
}
