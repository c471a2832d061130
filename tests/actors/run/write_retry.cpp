#include "actors/run/write_retry.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;
using namespace std::chrono_literals;

TEST_CASE("a write is tried again after longer and longer, at last when it is over") {
  write_retry retry{150s};
  const time_point start{1h};
  time_point now = start;
  std::vector<duration> waits;
  CHECK(retry.failed(now));
  while (!retry.is_over(now)) {
    const auto wait = retry.next_try(now);
    REQUIRE(wait);
    CHECK_FALSE(retry.next_try(now));  // it is set
    waits.push_back(*wait);
    now += *wait;
    retry.is_due();
    CHECK_FALSE(retry.failed(now));
  }
  CHECK(waits == std::vector<duration>{1s, 2s, 4s, 8s, 16s, 32s, 60s, 27s});
  CHECK(now - start == 150s);
}

TEST_CASE("without the limit that is over a write is tried on") {
  write_retry retry{1s};
  const time_point now{1h};
  retry.failed(now);
  CHECK(retry.is_over(now + 1s));
  retry.be_patient();
  CHECK_FALSE(retry.is_over(now + 1000h));
  CHECK(retry.next_try(now) == duration{1s});
}

TEST_CASE("after a success the next failure is a first one") {
  write_retry retry{0s};
  const time_point now{1h};
  CHECK_FALSE(retry.succeeded());
  retry.failed(now);
  CHECK(retry.next_try(now) == duration{1s});
  retry.is_due();
  CHECK(retry.next_try(now) == duration{2s});
  CHECK_FALSE(retry.is_over(now + 1000h));  // without a limit
  CHECK(retry.succeeded());
  retry.is_due();
  CHECK(retry.failed(now));
  CHECK(retry.next_try(now) == duration{1s});
}
