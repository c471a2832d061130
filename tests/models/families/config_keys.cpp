#include "models/families/config_keys.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

TEST_CASE("keys that Hydra does not use are named with their values, unless they have no effect") {
  const std::string text(300, 'x');
  const model_config config{"m/config.json",
                            {{"hidden_size", 8},
                             {"use_cache", true},
                             {"max_length", 20},
                             {"logit_scale", 0.5},
                             {"rope_parameters", {{"rope_type", "default"}, {"beta_fast", 32}}},
                             {"note", text}}};
  static_cast<void>(config.integer("hidden_size"));
  static_cast<void>(config.table("rope_parameters")->text("rope_type", ""));
  const auto notes = unread_keys(config);
  REQUIRE(notes.size() == 3);
  CHECK(notes[0] == "m/config.json: Hydra does not use logit_scale = 0.5");
  CHECK_THAT(notes[1], Contains("note = \"xxx") && Contains("xx…") && !Contains(text));
  CHECK(notes[2] == "m/config.json: Hydra does not use rope_parameters.beta_fast");
}
