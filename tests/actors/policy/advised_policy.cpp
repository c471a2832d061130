#include "actors/policy/advised_policy.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

candidate of_model(std::uint32_t m, std::uint32_t attempt = 0) {
  candidate c;
  c.next.model = model_id{m};
  c.next.attempt = attempt;
  return c;
}

/// Devices 0 and 1 and a clock that a test sets.
struct desk {
  desk() {
    asked.connect([this](const advice_question& q) { questions.push_back(q); });
    for (std::uint32_t i = 0; i < 2; ++i) {
      devices.push_back({.device = device_id{i}, .free_at = {}, .running = {}, .last = {}});
    }
  }
  std::optional<std::size_t> choose(const std::vector<candidate>& candidates, std::size_t device = 0) {
    return asked.choose(devices[device], candidates, {.now = now, .devices = devices, .models = {}});
  }
  /// Answers the last request.
  void advise(const std::optional<unit>& u) {
    asked.advised(questions.back().request, questions.back().shown.device.device, u);
  }

  advised_policy asked{"mine"};
  std::vector<advice_question> questions;
  std::vector<device_state> devices;
  time_point now{};
};

const std::vector<candidate> two{of_model(1), of_model(2)};

}  // namespace

TEST_CASE("a question carries copies, is pending until it is answered, and advice becomes the choice", "[policy]") {
  desk d;
  CHECK_FALSE(d.choose(two));
  CHECK(d.asked.pending());
  REQUIRE(d.questions.size() == 1);
  CHECK(d.questions[0].shown.candidates.size() == 2);
  CHECK(d.questions[0].shown.devices.size() == 2);
  d.advise(two[1].next);
  CHECK_FALSE(d.asked.pending());
  CHECK(d.choose(two) == 1);
  CHECK(d.questions.size() == 1);
}

TEST_CASE("a question is open since it was asked, until its answer", "[policy]") {
  desk d;
  d.choose(two);
  const auto request = d.questions[0].request;
  CHECK(d.asked.asked(device_id{0}, request) == d.asked.waiting_since());
  CHECK_FALSE(d.asked.asked(device_id{0}, request + 1));
  CHECK_FALSE(d.asked.asked(device_id{1}, request));
  d.advise(two[1].next);
  CHECK_FALSE(d.asked.asked(device_id{0}, request));
}

TEST_CASE("each device has one open question at a time", "[policy]") {
  desk d;
  d.choose(two, 0);
  d.choose(two, 1);
  d.choose(two, 0);
  d.choose(two, 1);
  CHECK(d.questions.size() == 2);
  d.asked.device_left(device_id{0});
  d.advise(two[0].next);
  CHECK_FALSE(d.asked.pending());
  CHECK(d.choose(two, 1) == 0);
}

TEST_CASE("advice that is not a candidate any more, or of another attempt, is dropped and requested again",
          "[policy]") {
  desk d;
  d.choose(two);
  d.advise(of_model(1, 3).next);
  CHECK_FALSE(d.choose(two));
  CHECK(d.asked.dropped() == 1);
  CHECK(d.questions.size() == 2);
  CHECK(d.asked.pending());
}

TEST_CASE("an answer to another request is ignored", "[policy]") {
  desk d;
  d.choose(two);
  d.asked.advised(77, device_id{0}, two[0].next);
  d.asked.advised(d.questions[0].request, device_id{1}, two[0].next);
  CHECK(d.asked.pending());
  CHECK_FALSE(d.choose(two));
}

TEST_CASE("an answer without a choice holds until something happens", "[policy]") {
  desk d;
  d.choose(two);
  d.advise({});
  CHECK_FALSE(d.choose(two));
  CHECK_FALSE(d.choose(two));
  CHECK_FALSE(d.asked.pending());
  CHECK(d.questions.size() == 1);
  d.asked.happened();
  d.choose(two);
  CHECK(d.questions.size() == 2);
}

TEST_CASE("an answer without a choice does not hold after an event since the request", "[policy]") {
  desk d;
  d.choose(two);
  d.asked.happened();
  d.advise({});
  d.choose(two);
  CHECK(d.questions.size() == 2);
}

TEST_CASE("a choice for one device is an event for the others", "[policy]") {
  desk d;
  d.choose(two, 0);
  d.advise({});
  d.choose(two, 1);
  d.advise(two[0].next);
  CHECK_FALSE(d.choose(two, 0));
  CHECK(d.choose(two, 1) == 0);
  d.choose({two[1]}, 0);
  CHECK(d.questions.size() == 3);
}

TEST_CASE("the oldest question without an answer is known", "[policy]") {
  desk d;
  CHECK_FALSE(d.asked.waiting_since());
  d.now = time_point{5ns};
  d.choose(two, 1);
  d.now = time_point{9ns};
  d.choose(two, 0);
  CHECK(d.asked.waiting_since() == time_point{5ns});
  d.asked.device_left(device_id{1});
  CHECK(d.asked.waiting_since() == time_point{9ns});
}

TEST_CASE("one that answers nonsense for ever is given up", "[policy]") {
  desk d;
  d.choose(two);
  const auto nonsense = [&] {
    for (int i = 0; i < 2 * advised_policy::most_dropped; ++i) {
      d.advise(of_model(9).next);
      d.choose(two);
    }
  };
  CHECK_THROWS_WITH(nonsense(), Catch::Contains("its last 100 answers named units that were not candidates (model 9"));
}

TEST_CASE("advice that comes too late does not count as nonsense: the unit may have been placed on another device",
          "[policy]") {
  desk d;
  const std::vector<candidate> one{of_model(3)};
  for (int i = 0; i < 2 * advised_policy::most_dropped; ++i) {
    d.choose(one);
    d.advise(one[0].next);
    REQUIRE_NOTHROW(d.choose(two));  // it is gone
    d.advise({});
    d.asked.happened();
  }
  CHECK(d.asked.dropped() == 2 * advised_policy::most_dropped);
}
