#include "runtime/base/slow_notice.hpp"

#include "tests/support/gate.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <string>
#include <vector>

using namespace hydra;

TEST_CASE("what takes longer than the limit is said once") {
  std::vector<std::string> all;
  std::promise<void> first, last;
  {
    slow_notice notice(std::chrono::milliseconds(1), [&](const std::string& what) {
      all.push_back(what);
      (what == "last" ? last : first).set_value();  // throws if it is called twice
    });
    notice.begin("first");
    CHECK(first.get_future().wait_for(hydra::test::patience) == std::future_status::ready);
    notice.begin("last");
    CHECK(last.get_future().wait_for(hydra::test::patience) == std::future_status::ready);
  }
  CHECK(all == std::vector<std::string>{"first", "last"});
}

TEST_CASE("nothing is said of what ends before the limit, nor of nothing") {
  int said = 0;
  {
    slow_notice notice(std::chrono::hours(1), [&](const std::string&) { ++said; });
    notice.begin("short");
  }
  { slow_notice notice({}, [&](const std::string&) { ++said; }); }
  CHECK(said == 0);
}
