#include "models/data/stored_template.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace {

constexpr const char* chatml = R"({{ '<|im_start|>' + m['role'] + m['content'] + '<|im_end|>' }})";

}  // namespace

TEST_CASE("a tokenizer's own template is noted where it writes other marks than the chosen one") {
  const temporary_folder folder;
  CHECK_FALSE(note_of_stored_template(folder.path(), {.name = "chatml"}));
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "[INST] [/INST]"}]})");
  CHECK_FALSE(note_of_stored_template(folder.path(), {.name = "mistral"}));
  CHECK_THAT(note_of_stored_template(folder.path() / "tokenizer.json", {.name = "gemma"}).value_or(""),
             Contains("tokenizer_config.json: its chat template is not used: conversations are written as gemma"));
  folder.write("tokenizer_config.json", R"({"chat_template": "[INST] {{ x }}"})");
  CHECK(note_of_stored_template(folder.path(), {.name = "mistral"}));
  folder.write("chat_template.jinja", chatml);
  CHECK_FALSE(note_of_stored_template(folder.path(), {.name = "qwen"}));
  CHECK_THAT(note_of_stored_template(folder.path(), {.name = "mistral"}).value_or(""), Contains("chat_template.jinja: its chat"));
  CHECK_THAT(note_of_stored_template(folder.path(), {.roles = {{"user", {"<|im_start|>", "<|im_end|>"}}}}).value_or(""),
             Contains("with the marks of the workload"));
}
