#include "apps/run_folder/shell_word.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

TEST_CASE("a word of a command line is quoted only where a shell would read it otherwise") {
  CHECK(shell_word("runs/w.toml") == "runs/w.toml");
  CHECK(shell_word("model.steps=5") == "model.steps=5");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("$HOME") == "'$HOME'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

}  // namespace hydra::apps
