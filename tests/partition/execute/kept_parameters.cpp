#include "partition/execute/kept_parameters.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;

namespace {

struct registry {
  void keep(std::uint32_t model) {
    kept.keep(model_id{model}, {arena->allocate(4_KiB, "a"), arena->allocate(4_KiB, "b")});
  }
  bool has(std::uint32_t model) const { return !kept.of(model_id{model}).empty(); }

  std::unique_ptr<host_arena> arena = make_host_arena(1_MiB);
  kept_parameters kept;
};

}  // namespace

TEST_CASE("parameters of models that have ended stay until their memory is needed") {
  registry s;
  s.keep(0);
  s.keep(1);
  CHECK(s.kept.of(model_id{1}).size() == 2);
  CHECK(s.arena->budget().used() == 16_KiB);
  s.kept.shrink_to(16_KiB);
  CHECK(s.has(0));
}

TEST_CASE("those that were kept first are given up first") {
  registry s;
  s.keep(3);
  s.keep(0);
  s.kept.shrink_to(15_KiB);
  CHECK_FALSE(s.has(3));
  CHECK(s.has(0));
  CHECK(s.arena->budget().used() == 8_KiB);
  s.kept.shrink_to({});
  CHECK(s.arena->budget().used() == byte_count{});
}

TEST_CASE("there are no parameters of a model that was not kept") { CHECK(kept_parameters{}.of(model_id{7}).empty()); }
