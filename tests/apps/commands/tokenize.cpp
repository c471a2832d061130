#include "tests/apps/commands/hydra_program.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// A folder with texts and a tokenizer of 258 tokens that was trained on one of them.
struct texts {
  texts() {
    folder.write("text.txt", "abab\n\nab \u00e9\n");
    folder.write("records.jsonl", "{\"text\": \"ab\", \"other\": \"b\"}\n\n{\"text\": \"\", \"other\": \"a\"}\n");
    folder.write("learn.txt", "ab ab ab ab");
    learnt = run_hydra(folder, "tokenize learn.txt --train 258 --output t.json --special '<|endoftext|>'");
  }

  outcome run(const std::string& arguments) const { return run_hydra(folder, "tokenize " + arguments); }

  temporary_folder folder;
  outcome learnt;
};

}  // namespace

TEST_CASE("hydra tokenize writes flat little-endian ids, and text again") {
  const texts t;
  REQUIRE(t.learnt.status == 0);
  REQUIRE(t.run("text.txt --tokenizer bytes --output ids.bin").status == 0);
  CHECK(t.folder.read("ids.bin").substr(0, 8) == std::string("a\0\0\0b\0\0\0", 8));
  CHECK(t.folder.read("ids.bin").size() == 4 * 12);
  CHECK(t.run("ids.bin --tokenizer bytes --decode").out == "abab\n\nab \u00e9\n");
  REQUIRE(t.run("text.txt --tokenizer t.json --output learnt.bin").status == 0);
  CHECK(t.folder.read("learnt.bin").size() < t.folder.read("ids.bin").size());
  REQUIRE(t.run("learnt.bin --tokenizer t.json --decode --output again.txt").status == 0);
  CHECK(t.folder.read("again.txt") == t.folder.read("text.txt"));
}

TEST_CASE("hydra tokenize --json prints a list for each line or record") {
  const texts t;
  CHECK(t.run("text.txt --tokenizer bytes --json").out == "[97, 98, 97, 98]\n[]\n[97, 98, 32, 195, 169]\n");
  CHECK(t.run("records.jsonl --tokenizer bytes --json").out == "[97, 98]\n[]\n");
  CHECK(t.run("records.jsonl --tokenizer bytes --json --field other").out == "[98]\n[97]\n");
  t.folder.write("array.json", "[\n{\"text\": \"ab\"},\n{\"text\": \"c\"}]");
  CHECK(t.run("array.json --tokenizer bytes --json").out == "[97, 98]\n[99]\n");
  CHECK_THAT(t.run("array.json --tokenizer bytes --json --field body").err,
             Contains("array.json: record 1: there is no \"body\""));
  t.folder.write("ids", "[97, 195]\n");
  CHECK(t.run("ids --tokenizer bytes --decode --json").out == "\"a\\ufffd\"\n");
  t.folder.write("deep", "\n" + std::string(100'000, '[') + std::string(100'000, ']'));
  CHECK_THAT(t.run("deep --tokenizer bytes --decode --json").err, Contains("line 2: is nested more than 100 deep"));
}

TEST_CASE("hydra tokenize without output says how much it was") {
  const texts t;
  CHECK_THAT(t.run("text.txt --tokenizer bytes").out, StartsWith("12 tokens, 12 bytes, 1.000 bytes per token, "));
}

TEST_CASE("hydra tokenize --train trains the tokenizer that is asked for") {
  const texts t;
  CHECK_THAT(t.learnt.err, Contains("258 tokens, 1 merges written to t.json"));
  CHECK(t.run("learn.txt --tokenizer t.json --json").out == "[257, 221, 257, 221, 257, 221, 257]\n");
  CHECK_THAT(t.run("learn.txt text.txt --train 999 --output more.json").err, Contains("no more pairs occur 2 times"));
}

TEST_CASE("hydra tokenize takes patterns of files, and templates as a workload writes them") {
  const texts t;
  t.folder.write("chats.jsonl",
                 R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})");
  const std::string roles = R"('{ user = ["U", ""], assistant = ["A", "."] }')";
  CHECK(t.run("'chat?.jsonl' --tokenizer bytes --template " + roles).out ==
        "1 conversation, 5 tokens, 2 of them with a loss\n");
  CHECK(t.run("'chat?.jsonl' --tokenizer bytes --json --template " + roles).out ==
        "{\"ids\": [85, 97, 65, 98, 46], \"loss\": [0, 0, 0, 1, 1]}\n");
  CHECK_THAT(t.run("chats.jsonl --tokenizer bytes --template chatm").err,
             Contains("--template: template: there is no template \"chatm\"; did you mean \"chatml\""));
}

TEST_CASE("hydra tokenize shows prompts and answers as they are trained") {
  const texts t;
  t.folder.write("r.jsonl", R"({"q": "a", "h": "b", "a": "c"})");
  CHECK(t.run("r.jsonl --tokenizer bytes --json --prompt '{q}{h}' --answer a").out ==
        "{\"ids\": [97, 98, 99], \"loss\": [0, 0, 1]}\n");
  CHECK(t.run("r.jsonl --tokenizer bytes --prompt q --answer '{h}{a}'").out ==
        "1 record, 3 tokens, 2 of them with a loss\n");
  t.folder.write("p.jsonl", R"({"prompt": "a", "completion": "b"})");
  CHECK(t.run("p.jsonl --tokenizer bytes --json --kind prompt-completion").out ==
        "{\"ids\": [97, 98], \"loss\": [0, 1]}\n");
  t.folder.write("i.jsonl", R"({"instruction": "a", "input": "", "output": "bc"})");
  CHECK_THAT(t.run("i.jsonl --tokenizer bytes --kind alpaca").out, Contains(", 2 of them with a loss\n"));
  CHECK_THAT(t.run("i.jsonl --tokenizer bytes --kind chat").err, Contains("--kind: unknown value \"chat\""));
  CHECK_THAT(t.run("i.jsonl --tokenizer bytes --prompt '{a' --answer b").err,
             Contains("a brace without its other one"));
  CHECK(t.run("i.jsonl --tokenizer bytes --prompt a").status == 2);
}

TEST_CASE("hydra tokenize refuses bad input with file and line, writes nothing, and overwrites nothing") {
  const texts t;
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    const outcome o = t.run(arguments);
    CAPTURE(arguments, o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Contains(why));
    CHECK(t.folder.read("none.bin").empty());
  };
  t.folder.write("cut.txt", "a\nb\xC3");
  t.folder.write("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 1}\n");
  t.folder.write("worse.jsonl", "{\"text\": \n");
  t.folder.write("odd.bin", "abc");
  refused("cut.txt --tokenizer bytes --output none.bin", "cut.txt: line 2: is not UTF-8 from byte 3 of the file on");
  refused("none.txt --tokenizer bytes --output none.bin", "none.txt");
  refused("records.jsonl --tokenizer bytes --field body --output none.bin",
          "records.jsonl:1: there is no \"body\" (known: other, text)");
  t.folder.write("chat.jsonl", R"({"messages": [{"role": "user", "content": "a"}]})");
  t.folder.write("alpaca.jsonl", R"({"instruction": "a", "output": "b"})");
  refused("chat.jsonl --tokenizer bytes",
          "chat.jsonl:1: there is no \"text\", but \"messages\": --template checkpoint tokenizes such records");
  refused("alpaca.jsonl --tokenizer bytes --json",
          "there is no \"text\", but \"instruction\", \"output\": --kind alpaca tokenizes such records");
  refused("bad.jsonl --tokenizer bytes --output none.bin", "bad.jsonl:2: \"text\" is not text but of type number");
  refused("worse.jsonl --tokenizer bytes --output none.bin", "worse.jsonl:1: no JSON");
  refused("odd.bin --tokenizer bytes --decode", "odd.bin: 3 bytes are not a multiple of 4");
  refused("learn.txt --tokenizer none --output none.bin", "none: no such file");
  refused("learn.txt --tokenizer no/such --output none.bin", "hf download no/such --local-dir such");
  refused("learn.txt --tokenizer bytes --output t.json", "exists and is not overwritten");
  refused("learn.txt --output none.bin", "which tokenizer?");
  refused("learn.txt --tokenizer '' --output none.bin", "--tokenizer is empty");
  refused("learn.txt --tokenizer " + std::string(300, 'a') + " --output none.bin", "File name too long");
  refused("learn.txt text.txt --tokenizer bytes", "only --train takes several inputs");
  refused("'*.txxt' --tokenizer bytes", "no file is called \"*.txxt\"");
  refused("learn.txt --train 10 --output none.bin", "at least 256 are needed");
  refused("learn.txt --train 300", "give --output");
  refused("text.txt --tokenizer bytes --json --output none.bin", "choose one");
}

}  // namespace hydra::apps
