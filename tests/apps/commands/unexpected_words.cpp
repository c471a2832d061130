#include "apps/commands/unexpected_words.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

namespace {

using word_list = std::vector<std::string>;

word_list lines_of_train(const word_list& arguments) {
  return lines_on_unexpected(arguments, {"output", "quiet", "set"});
}

}  // namespace

TEST_CASE("options of other tools are answered with --set and their value, where that is known") {
  CHECK(lines_of_train({"--learning_rate", "1e-3"}) ==
        word_list{"--learning_rate: here it is model.optimizer.learning_rate; give it by --set "
                  "model.optimizer.learning_rate=1e-3"});
  CHECK(lines_of_train({"--lr=3e-4"}) == word_list{"--lr: here it is model.optimizer.learning_rate; give it by --set "
                                                   "model.optimizer.learning_rate=3e-4"});
  CHECK(lines_of_train({"--epochs", "w.toml"}) ==
        word_list{"--epochs: here it is model.epochs: either epochs or steps; give it by --set model.epochs=VALUE"});
  CHECK(lines_of_train({"lr=1e-3"}).size() == 1);
}

TEST_CASE("what Hydra does not have is answered by every command, keys by those with a workload") {
  const word_list generates{"top-p", "tokens"};
  CHECK(lines_on_unexpected({"--max_new_tokens", "50"}, generates) ==
        word_list{"--max_new_tokens: hydra generate writes so many: --tokens 100"});
  CHECK(lines_on_unexpected({"--lr", "1"}, generates).empty());
}

TEST_CASE("a key of the workload is set by --set, in quotes where the shell needs them") {
  CHECK(lines_of_train({"model.steps=5"}) ==
        word_list{"model.steps: a key of the workload is set by --set model.steps=5"});
  CHECK(lines_of_train({"model.cuts=[0, 2]"}) ==
        word_list{"model.cuts: a key of the workload is set by --set 'model.cuts=[0, 2]'"});
}

TEST_CASE("an option that is nearly one of the command's is answered with that one, other words are not") {
  CHECK(lines_on_unexpected({"--top_p", "0.9"}, {"top-p", "tokens"}) == word_list{"--top_p: did you mean --top-p?"});
  CHECK(lines_of_train({"--quite"}) == word_list{"--quite: did you mean --quiet?"});
  CHECK(lines_of_train({"w.toml", "--frobnicate", "--", "-"}).empty());
}

TEST_CASE("words are a text where a command continues texts, unless they may be the value of an option") {
  const word_list generates{"prompt", "chat", "tokens"};
  CHECK(lines_on_unexpected({"hello", "you"}, generates) ==
        word_list{"a text to continue is given by --prompt 'hello you', a message to answer by --chat 'hello you'"});
  CHECK(lines_on_unexpected({"--max_new_tokens", "50"}, generates).size() == 1);
  CHECK(lines_of_train({"hello"}).empty());
}

}  // namespace hydra::apps
