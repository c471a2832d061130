#include "apps/workload/workload.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

using note_list = std::vector<std::string>;

namespace {

note_list notes_of_text(const std::string& text, const std::vector<key_override>& overrides = {}) {
  return parse_workload(text, "w.toml", overrides).notes;
}

}  // namespace

TEST_CASE("keys of a model that its grid varies, too, are noted with both places, in the order of the file") {
  CHECK(notes_of_text(example + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\nbatch_size = [4, 8]\n") ==
        note_list{"w.toml:15: model.batch_size: is not used, because the grid varies it at w.toml:20",
                  "w.toml:17: model.optimizer.learning_rate: is not used, because the grid varies it at w.toml:19"});
}

TEST_CASE("keys that a search or a grid of the command line varies are noted, those that nothing varies are not") {
  CHECK(notes_of_text(example + "[search]\nkind = \"random\"\nsamples = 2\nspace.batch_size = { choice = [2, 4] }\n") ==
        note_list{"w.toml:15: model.batch_size: is not used, because the search varies it at w.toml:21"});
  CHECK(notes_of_text(example, {parse_override("model.grid.batch_size=[2, 4]")}).size() == 1);
  CHECK(notes_of_text(example).empty());
  CHECK(notes_of_text(example + "[model.grid]\nseed = [1, 2]\n").empty());
}

TEST_CASE("a model that was made by a grid has its values from there, without a note") {
  const workload w = parse_workload(example + "[model.grid]\nbatch_size = [4, 8]\n", "w.toml");
  CHECK(notes_of_text(w.expanded).empty());
}

}  // namespace hydra::apps
