#include "apps/commands/shown_sample.hpp"
#include "models/data/image_file.hpp"
#include "models/data/png_writer.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace hydra::apps {

using Catch::Contains;
using nlohmann::json;

namespace {

outcome show(const temporary_folder& folder, const std::string& text, const std::string& options = "") {
  folder.write("w.toml", text);
  return run_hydra(folder, "data w.toml " + options);
}

const std::string answers =
    bent("kind = \"synthetic-language\"",
         "kind = \"jsonl\"\ntrain = \"d.jsonl\"\nprompt = \"q\"\nanswer = \"a\"\npacking = true");

/// Two classes of one picture.
image write_pictures(const temporary_folder& folder) {
  image picture = image::blank({8, 8}, 3);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) picture.pixels[i] = static_cast<std::uint8_t>(i);
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(folder.path() / "pictures" / name);
    write_png(folder.path() / "pictures" / name / "0.png", picture);
  }
  return picture;
}

const std::string images = R"([[device]]
kind = "cpu"
memory = "24MiB"

[data.pictures]
kind = "images"
train = "pictures"

[[model]]
name = "m"
chain = { family = "cnn" }
data = "pictures"
batch_size = 1
steps = 1
optimizer = { learning_rate = 1e-3 }
)";

}  // namespace

TEST_CASE("samples of text are shown as the model sees them, with what is taught and where records begin") {
  const temporary_folder folder;
  folder.write("d.jsonl", "{\"q\": \"a\", \"a\": \"b\"}\n{\"q\": \"c\", \"a\": \"\\n\"}\n");
  std::string text = answers;
  text.replace(text.find("context = 4"), 11, "context = 6");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1");
  const outcome o = show(folder, text, "--show 1");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out, Contains("as gpt sees it: 1 training sample, 0 validation samples") &&
                        Contains("train 0: i64[2, 6]") && Contains("\"a\" *\"b\"") && Contains("| \"c\" *\"\\n\"") &&
                        Contains(", inputs: 2 tokens and 4 of padding; 2 targets with a loss\n") &&
                        Contains("\n*: a target with a loss; the last one of a record is not an input; |: another"));
  const auto j = json::parse(show(folder, text, "--json").out);
  const auto tokens = j.at(0).at("samples").at(0).at("tokens");
  CHECK(tokens.at(0) == json{{"id", 'a'}, {"text", "a"}, {"taught", false}});
  CHECK(tokens.at(1) == json{{"id", 'b'}, {"text", "b"}, {"taught", true}, {"only_target", true}});
  CHECK(j.at(0).at("models") == json{"gpt"});
}

TEST_CASE("a token that is a part of a character is shown as its bytes") {
  const temporary_folder folder;
  folder.write("d.jsonl", "{\"q\": \"a\", \"a\": \"\u00e9\"}\n");
  std::string text = answers;
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1");
  const outcome o = show(folder, text);
  CAPTURE(o.err);
  CHECK_THAT(o.out, Contains(R"("a" *"\xc3" *"\xa9")"));
}

TEST_CASE("a record of several fields is shown as it is trained") {
  const temporary_folder folder;
  folder.write("d.jsonl", "{\"q\": \"a\", \"h\": \"b\", \"a\": \"c\", \"more\": \"d\"}\n");
  std::string text = answers;
  text.replace(text.find("context = 4"), 11, "context = 6");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1");
  text.replace(text.find("prompt = \"q\""), 12, "prompt = \"{q}-{h}:\"");
  const outcome o = show(folder, text, "--show 1");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out,
             Contains("\"a\" \"-\" \"b\" \":\" *\"c\"") && Contains("d.jsonl: fields that are not read: \"more\"\n"));
}

TEST_CASE("pictures are written as the model sees them, with their labels' names") {
  const temporary_folder folder;
  const image picture = write_pictures(folder);
  const outcome o = show(folder, images, "--pictures seen");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out, Contains("train 0: f32[3, 8, 8], label 0 \"cat\"") && Contains("label 1 \"dog\"") &&
                        Contains("seen/pictures-m-train-1.png"));
  CHECK(decode_image(folder.path() / "seen" / "pictures-m-train-0.png", 3).pixels == picture.pixels);
}

TEST_CASE("pictures replace no file, and are shown with the name of a folder as no terminal obeys it") {
  const temporary_folder folder;
  write_pictures(folder);
  CHECK_THAT(show(folder, images, "--pictures '\xe2\x80\xae'").out, Contains("  \\u202e/pictures-m-train-0.png\n"));
  const auto kept = folder.write("pictures-m-train-1.png", "kept");
  const outcome o = show(folder, images, "--pictures .");
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, Contains("--pictures ./pictures-m-train-1.png: exists and is not overwritten"));
  CHECK(folder.read("pictures-m-train-1.png") == "kept");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "pictures-m-train-0.png"));
}

TEST_CASE("data of numbers are shown with their targets, those of a model that is not there are refused") {
  const temporary_folder folder;
  folder.write("t.csv", "x,y,z\n1,2,0.5\n3,4,0.25\n");
  std::string text = bent("kind = \"synthetic-language\"", "kind = \"csv\"\ntrain = \"t.csv\"\ntarget = \"z\"\n"
                                                           "regression = true\nstandardise = false");
  text.replace(text.find("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }"), 66,
               "{ family = \"mlp\", width = 4 }");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1\nloss = \"mse\"");
  const outcome o = show(folder, text);
  CAPTURE(o.err);
  CHECK_THAT(o.out, Contains("train 1: f32[2], target 0.25\n  3 4\n"));
  CHECK(json::parse(show(folder, text, "--json --validation").out).at(0).at("samples") == json::array());
  CHECK_THAT(show(folder, text, "--model other").err, Contains("the workload has no model \"other\""));
}

}  // namespace hydra::apps
