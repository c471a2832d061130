#include "runtime/base/nearest.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;

TEST_CASE("edit distance counts insertions, deletions, substitutions and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("width", "width") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
  CHECK(edit_distance("mes", "mse") == 1);
  CHECK(edit_distance("ca", "abc") == 3);  // no letter is edited twice
}

TEST_CASE("the near name is the one with the fewest edits, the first of equals") {
  const std::vector<std::string> names{"heads", "layers", "width"};
  CHECK(near_name("layer", names) == "layers");
  CHECK(near_name("with", names) == "width");
  CHECK(near_name("ax", std::vector<std::string>{"ab", "ac"}) == "ab");
  CHECK(near_name("layer", {}).empty());
}

TEST_CASE("a name that contains what was written is nearer than any other, from three letters on") {
  CHECK(near_name("lrtf", std::vector<std::string>{"fifo", "sharded-lrtf"}) == "sharded-lrtf");
  CHECK(near_name("synthetic", std::vector<std::string>{"text", "synthetic-language"}) == "synthetic-language");
  CHECK(near_name("pth", std::vector<std::string>{"path", "depth"}) == "depth");
  CHECK(near_name("st", std::vector<std::string>{"every_steps"}).empty());
  CHECK(near_name("ls", std::vector<std::string>{"models", "lr"}) == "lr");
}

TEST_CASE("a common alias is nearest to the name it stands for") {
  CHECK(near_name("gpu", std::vector<std::string>{"cpu", "cuda"}) == "cuda");
  CHECK(near_name("gpu", std::vector<std::string>{"cpu", "mock"}) == "cpu");
}

TEST_CASE("only names that are near are suggested") {
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

TEST_CASE("a name is not taken for one of another number, or one of which only a common part is alike") {
  CHECK(near_name("fp16", std::vector<std::string>{"fp32", "bf16"}).empty());
  CHECK(near_name("gpt3", std::vector<std::string>{"gpt2"}).empty());
  CHECK(near_name("gtp2", std::vector<std::string>{"gpt2"}) == "gpt2");
  const std::vector<std::string> keys{"steps", "every_steps", "micro_batches", "learning_rate"};
  CHECK(near_name("eval_steps", keys).empty());
  CHECK(near_name("save_steps", keys).empty());
  CHECK(near_name("evry_steps", keys) == "every_steps");
  CHECK(near_name("micro_batch", keys) == "micro_batches");
  CHECK(near_name("learning_rat", keys) == "learning_rate");
  CHECK(near_name("adamw_torch", std::vector<std::string>{"adafactor"}).empty());
}

TEST_CASE("an unknown name is followed by all known ones, and by a suggestion only if one is near") {
  const std::vector<std::string> names{"heads", "width"};
  CHECK(known_instead("with", names) == "; did you mean \"width\"? (known: heads, width)");
  CHECK(known_instead("momentum", names) == " (known: heads, width)");
  CHECK(known_instead("with", {}) == "; there is none");
}

TEST_CASE("a thing is found by its name; an unknown name is refused with what it should be and the nearest one") {
  struct thing {
    std::string name;
    int value;
  };
  const std::vector<thing> all{{"heads", 2}, {"width", 1}};
  CHECK(&find_known("there is no option", all, "width", &thing::name) == &all[1]);
  CHECK_THROWS_WITH(find_known("there is no option", all, "with", &thing::name),
                    "there is no option \"with\"; did you mean \"width\"? (known: heads, width)");
}
