#include "actors/policy/residency.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace hydra;

namespace residency_test {

constexpr device_id d0{0}, d1{1};

block_id parameters(std::uint32_t model, std::uint32_t version) {
  block_id id;
  id.model = model_id{model};
  id.step = step_index{version};
  return id;
}

block_id base(std::uint32_t model) {
  auto id = parameters(model, 0);
  id.kind = block_kind::base;
  return id;
}

unit visit_of(std::uint32_t model, std::uint32_t step) {
  unit u;
  u.model = model_id{model};
  u.step = step_index{step};
  return u;
}

TEST_CASE("parameters are where their version was cached and not dropped", "[residency]") {
  residency r;
  r.report(d0, std::array{parameters(0, 3)}, {});
  CHECK(r.of(visit_of(0, 3), {}, d0).here);
  CHECK(r.of(visit_of(0, 3), {}, d1).elsewhere == d0);
  CHECK_FALSE(r.of(visit_of(0, 4), {}, d0).here);
  r.report(d0, {}, std::array{parameters(0, 3)});
  CHECK_FALSE(r.of(visit_of(0, 3), {}, d0).here);
}

TEST_CASE("a base is there for units of any model and step that read it, also when the model that named it has left",
          "[residency]") {
  residency r;
  r.report(d0, std::array{base(0)}, {});
  CHECK(r.of(visit_of(1, 7), base(0), d0).here);
  CHECK_FALSE(r.of(visit_of(0, 0), {}, d0).here);  // its own parameters are not
  r.forget(model_id{0});
  CHECK(r.of(visit_of(1, 8), base(0), d1).elsewhere == d0);
  r.report(d0, {}, std::array{base(0)});
  CHECK_FALSE(r.of(visit_of(1, 8), base(0), d0).here);
}

}  // namespace residency_test
