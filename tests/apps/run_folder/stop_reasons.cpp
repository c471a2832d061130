#include "apps/run_folder/stop_reasons.hpp"

#include "apps/workload/parse.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

namespace {

/// Its last two evaluations are no better.
report stopped_model() {
  report r;
  r.models.resize(1);
  r.models[0].name = "a";
  r.models[0].status = model_status::stopped;
  for (const double loss : {3.0, 2.5, 2.6, 2.499}) {
    const auto step = static_cast<std::uint32_t>(5 * (r.models[0].validation.size() + 1));
    r.models[0].validation.push_back({.step = step, .loss = loss});
  }
  return r;
}

std::string explained(const std::string& controllers, const std::vector<std::string>& by_command = {}) {
  report r = stopped_model();
  explain_stops(r, parse_toml(controllers, "w.toml"), by_command);
  return r.models[0].reason;
}

}  // namespace

TEST_CASE("a model is stopped by the controller whose patience its evaluations have used up") {
  const std::string early = "[[controller]]\nkind = \"early-stop\"\npatience = 2\n";
  CHECK(explained(early).empty());
  CHECK(explained(early + "minimum = 0.01\n") == "no better by 0.01 for 2 evaluations");
  CHECK(explained(early + "minimum = 0.01\nmodels = [\"b\"]\n").empty());
  CHECK(explained(early + "[[controller]]\nkind = \"early-stop\"\npatience = 1\nminimum = 0.01\nmodels = [\"a\"]\n") ==
        "no better by 0.01 for 1 evaluation");
  CHECK(explained("").empty());
}

TEST_CASE("a model that a person has stopped says so, and one that has finished needs no reason") {
  CHECK(explained("", {"b", "a"}) == "by command");
  report r = stopped_model();
  r.models[0].status = model_status::finished;
  explain_stops(r, parse_toml("", "w.toml"), {"a"});
  CHECK(r.models[0].reason.empty());
}

}  // namespace hydra::apps
