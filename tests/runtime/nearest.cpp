#include "runtime/nearest.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;

TEST_CASE("edit distance counts insertions, deletions and substitutions") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("width", "width") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
}

TEST_CASE("the nearest name is the one with the fewest edits, the first of equals") {
  const std::vector<std::string> names{"heads", "layers", "width"};
  CHECK(nearest_name("layer", names) == "layers");
  CHECK(nearest_name("with", names) == "width");
  CHECK(nearest_name("", std::vector<std::string>{"ab", "cd"}) == "ab");
  CHECK(nearest_name("layer", {}).empty());
}

TEST_CASE("a name that contains what was written is nearer than any other") {
  CHECK(nearest_name("lrtf", std::vector<std::string>{"fifo", "sharded-lrtf"}) == "sharded-lrtf");
  CHECK(nearest_name("synthetic", std::vector<std::string>{"text", "synthetic-language"}) == "synthetic-language");
}

TEST_CASE("what people also call a thing is nearest to its name") {
  CHECK(nearest_name("gpu", std::vector<std::string>{"cpu", "cuda"}) == "cuda");
  CHECK(nearest_name("gpu", std::vector<std::string>{"cpu", "mock"}) == "cpu");
}

TEST_CASE("only names that are near are worth a question") {
  const std::vector<std::string> names{"fifo", "sharded-lrtf"};
  CHECK(near_name("fifa", names) == "fifo");
  CHECK(near_name("lrtf", names) == "sharded-lrtf");
  CHECK(near_name("xyzw", names).empty());
  CHECK(near_name("", names).empty());
  const std::vector<std::string> keys{"mask_share", "mse", "cuda"};
  CHECK(near_name("mes", keys) == "mse");
  CHECK(near_name("gpu", keys) == "cuda");
  CHECK(near_name("messages", keys).empty());
}
