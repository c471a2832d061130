#include "actors/run/admission_queue.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;

namespace {

wanted_admission wanted_model(const std::string& name, double priority = 1, std::optional<model_id> known = {}) {
  wanted_admission wanted;
  wanted.known = known;
  wanted.what.name = name;
  wanted.what.priority = priority;
  return wanted;
}

std::vector<std::string> names_in(const admission_queue& queue) {
  std::vector<std::string> names;
  for (const auto* wanted : queue.in_order()) {
    names.push_back(wanted->what.name);
  }
  return names;
}

}  // namespace

TEST_CASE("models are admitted by priority, then those of the run by their ids, then in the order of requests") {
  admission_queue queue;
  queue.add(wanted_model("new"));
  queue.add(wanted_model("newer"));
  queue.add(wanted_model("fifth", 1, model_id{5}));
  queue.add(wanted_model("second", 1, model_id{2}));
  queue.add(wanted_model("urgent", 2));
  CHECK(names_in(queue) == std::vector<std::string>{"urgent", "second", "fifth", "new", "newer"});
}

TEST_CASE("one model is prepared at a time; one that is too large waits until memory is given back, none overtakes it") {
  admission_queue queue;
  queue.add(wanted_model("large"));
  queue.add(wanted_model("small"));
  REQUIRE(queue.begin(0));
  CHECK_FALSE(queue.begin(0));
  queue.put_back(*queue.prepared());
  CHECK(queue.first_is_too_large());
  CHECK_FALSE(queue.begin(0));
  CHECK_FALSE(queue.is_outdated(0));
  CHECK(queue.is_outdated(1));
  const auto* again = queue.begin(1);
  REQUIRE(again);
  CHECK(again->what.name == "large");
}

TEST_CASE("who has to wait is told once") {
  admission_queue queue;
  int told = 0;
  auto wanted = wanted_model("large");
  wanted.answer = [&told](const join_result&) { ++told; };
  queue.add(wanted);
  queue.add(wanted_model("without answer"));
  CHECK(queue.newly_waiting().empty());
  queue.begin(0);
  queue.put_back(*queue.prepared());
  for (const auto& sink : queue.newly_waiting()) {
    sink({.waits = true});
  }
  CHECK(told == 1);
  CHECK(queue.newly_waiting().empty());
}

TEST_CASE("a model that is removed while it is prepared is not admitted, and the next one is prepared after that") {
  admission_queue queue;
  queue.add(wanted_model("first"));
  queue.add(wanted_model("second"));
  queue.begin(0);
  REQUIRE(queue.remove("first"));
  CHECK_FALSE(queue.remove("first"));
  CHECK_FALSE(queue.begin(0));  // its preparation is under way
  CHECK_FALSE(queue.prepared());
  const auto* next = queue.begin(0);
  REQUIRE(next);
  CHECK(next->what.name == "second");
  CHECK(queue.take_all().size() == 1);
  CHECK(queue.empty());
}
