// Commands of other programs: what they are answered with exists.

#include "apps/commands/other_commands.hpp"

#include "apps/commands/command.hpp"
#include "apps/commands/command_line.hpp"
#include "tests/apps/commands/hydra_program.hpp"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>

namespace hydra::apps {

namespace {

bool has_option(const command& c, const std::string& option) {
  CLI::App app;
  command_line line{app};
  const command_action keeps_variables = c.declare(line);
  return app.get_option_no_throw(option) != nullptr;
}

/// Commands, and options behind them, that are not the program's.
std::string missing_in(const std::string& answer) {
  std::istringstream words{answer};
  const command* said = nullptr;
  std::string missing;
  for (std::string word, before; words >> word; before = word) {
    if (before == "hydra") {
      const auto found = std::ranges::find(commands(), word, &command::name);
      said = found == commands().end() ? nullptr : &*found;
      if (!said) missing += " " + word;
    } else if (said && word.starts_with("--") && !has_option(*said, word)) {
      missing += " " + word;
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("the commands and options exist that a command of another program is answered with") {
  CHECK(missing_in("hydra trian W.toml; hydra train W.toml --mergee") == " trian --mergee");
  for (const other_command& other : other_commands()) {
    INFO(other.name);
    CHECK(missing_in(std::string{other.answer}).empty());
    CHECK(std::ranges::count(commands(), other.name, &command::name) == 0);
  }
}

TEST_CASE("a command of another program is refused with the one that does it") {
  const outcome o = run_hydra(temporary_folder{}, "merge runs/w gpt");
  CHECK(o.status == 2);
  CHECK(o.err ==
        "hydra: unknown command \"merge\"; hydra export RUN MODEL FOLDER --merge writes a model with its adapter "
        "merged into the weights\n");
}

}  // namespace hydra::apps
