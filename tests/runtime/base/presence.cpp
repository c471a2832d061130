#include "runtime/base/presence.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <optional>

using namespace hydra;

TEST_CASE("who waits for the end of a call learns that it has not ended, and waits no longer when it has") {
  presence p;
  CHECK_FALSE(p.is_there());
  CHECK(p.gone_within(duration{}));
  std::optional<presence::stay> call(p);
  CHECK(p.is_there());
  CHECK_FALSE(p.gone_within(duration{}));
  auto waits = std::async(std::launch::async, [&p] { return p.gone_within(std::chrono::hours(1)); });
  call.reset();
  CHECK(waits.get());
  CHECK_FALSE(p.is_there());
}
