#include "runtime/base/log.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("each verbosity shows its levels and those above") {
  REQUIRE_FALSE(make_logger(verbosity::quiet)->should_log(spdlog::level::info));
  REQUIRE(make_logger(verbosity::quiet)->should_log(spdlog::level::warn));
  REQUIRE(make_logger(verbosity::normal)->should_log(spdlog::level::info));
  REQUIRE_FALSE(make_logger(verbosity::normal)->should_log(spdlog::level::debug));
  REQUIRE(make_logger(verbosity::debug)->should_log(spdlog::level::debug));
}

TEST_CASE("a logger belongs to its session, not to the process") {
  const auto first = make_logger(verbosity::quiet);
  const auto second = make_logger(verbosity::debug);
  REQUIRE(first != second);
  REQUIRE_FALSE(first->should_log(spdlog::level::debug));
  REQUIRE(spdlog::get(first->name()) == nullptr);
}
