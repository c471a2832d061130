#include "models/optimizer/parameter_shares.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace hydra;
using Catch::Contains;

namespace {

const std::vector<trained_parameter> parameters{{"h.0.bias", {4}}, {"h.0.weight", {4, 3}}, {"h.1.bias", {4}}};

update_options with_groups(std::vector<parameter_group> groups) {
  update_options o = adamw({.learning_rate = 1, .weight_decay = 0.1});
  o.groups = std::move(groups);
  return o;
}

}  // namespace

TEST_CASE("shares say which parameters have which rate and decay, those of no group first") {
  update_options o = with_groups({{.parameters = name_patterns{{"h.1.*"}}, .learning_rate = 3}});
  o.decay = decay_scope::matrices;
  const std::vector<parameter_share> shares = parameter_shares(o, parameters);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0].names == std::vector<std::string>{"h.0.bias"});
  CHECK(shares[0].weight_decay == 0);
  CHECK(shares[1].names == std::vector<std::string>{"h.0.weight"});
  CHECK(shares[1].weight_decay == 0.1);
  CHECK(shares[1].values == 12);
  CHECK(shares[2].group == 0);
  CHECK(shares[2].learning_rate == 3);
  CHECK(shares[2].values == 4);
  CHECK(parameter_shares(adamw({}), parameters).size() == 1);
}

TEST_CASE("a pattern of a group that matches nothing is refused with the nearest names") {
  const auto check = [](const char* pattern) {
    check_groups(with_groups({{.parameters = name_patterns{{pattern}}, .learning_rate = 2}}), parameters);
  };
  CHECK_NOTHROW(check("h.?.weight"));
  CHECK_THROWS_WITH(check("h.0.wieght"),
                    "\"groups\" has \"h.0.wieght\", which no trained parameter of the model "
                    "matches; did you mean \"h.0.weight\"?");
  CHECK_THROWS_WITH(check("*.norm.*"), Contains("the nearest are \"h.*.bias\", \"h.*.weight\""));
  CHECK_THROWS_WITH(check_groups(with_groups({{.parameters = name_patterns{{"*"}}}}), {}), Contains("there is none"));
}

TEST_CASE("a group is idle if its parameters have the same rate and decay without it") {
  const auto idle = [](std::vector<parameter_group> groups) {
    return idle_group(with_groups(std::move(groups)), parameters);
  };
  const name_patterns all{{"*"}}, biases{{"*.bias"}};
  CHECK(idle({{.parameters = biases, .learning_rate = 2}}) == std::nullopt);
  CHECK(idle({{.parameters = biases}}) == 0);
  CHECK(idle({{.parameters = biases, .learning_rate = 1, .weight_decay = 0.1}}) == 0);
  CHECK(idle({{.parameters = all, .learning_rate = 2}, {.parameters = biases, .learning_rate = 2}}) == 1);
  CHECK(idle({{.parameters = biases, .learning_rate = 2}, {.parameters = all, .learning_rate = 3}}) == 0);
}

TEST_CASE("a group that takes parameters back out of another one, or out of the decay of matrices, is not idle") {
  const name_patterns all{{"*"}}, biases{{"*.bias"}};
  update_options o = with_groups({{.parameters = all, .learning_rate = 2}, {.parameters = biases}});
  CHECK(idle_group(o, parameters) == std::nullopt);
  o = with_groups({{.parameters = biases, .weight_decay = 0.1}});
  o.decay = decay_scope::matrices;
  CHECK(idle_group(o, parameters) == std::nullopt);
}
