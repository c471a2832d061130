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
  CHECK(lines_on_unexpected({"gpt-a"}, {"prompt", "model"}) ==
        word_list{"a text to continue is given by --prompt gpt-a, a message to answer by --chat gpt-a, a model of a run "
                  "by --model gpt-a"});
  CHECK(lines_on_unexpected({"--max_new_tokens", "50"}, generates).size() == 1);
  CHECK(lines_of_train({"hello"}).empty());
}

TEST_CASE("what other programs call an option is answered with the command's, not with a key of the same name") {
  const word_list shows{"set", "show"};
  CHECK(lines_on_unexpected({"--samples", "3"}, shows) == word_list{"--samples: here it is --show 3"});
  CHECK(lines_on_unexpected({"--num_samples=3"}, shows) == word_list{"--num_samples: here it is --show 3"});
  CHECK(lines_on_unexpected({"-n"}, shows) == word_list{"-n: here it is --show VALUE"});
  CHECK(lines_of_train({"--samples", "3"}).empty());
}

TEST_CASE("who would overwrite a folder reads what to do instead, of every command") {
  for (const char* option : {"--force", "--overwrite", "--overwrite_output_dir"}) {
    const word_list expected{option +
                             std::string{": what exists is not overwritten: move it away, or choose another "
                                         "name, for a run by --output; hydra train RUN --resume continues a run"}};
    CHECK(lines_of_train({option}) == expected);
    CHECK(lines_on_unexpected({option}, {"merge"}) == expected);
  }
}

}  // namespace hydra::apps
