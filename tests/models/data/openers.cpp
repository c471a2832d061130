#include "models/data/data_catalog.hpp"

#include "models/families/bert/bert.hpp"
#include "models/losses/class_targets.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

using ids = std::vector<std::int64_t>;
constexpr std::int64_t no = masked_target;

/// A small BERT vocabulary.
const std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\nfour\nfive\n";

/// A folder with its own cache.
struct data_folder : temporary_folder {
  data_folder() { ::setenv("HYDRA_CACHE", (path() / "cache").c_str(), 1); }
  ~data_folder() { ::unsetenv("HYDRA_CACHE"); }

  std::filesystem::path vocab() const { return write("vocab.txt", words); }
};

sample_request labelled(std::int64_t context) { return {.context = context, .form = sample_form::labelled}; }
sample_request masked(std::int64_t context) { return {.context = context, .form = sample_form::masked}; }

}  // namespace

TEST_CASE("a text with a tokenizer gives windows of its tokens") {
  const data_folder folder;
  const auto data = open_data(text(folder.write("t", "one two three four five one"), {}, {.vocab = folder.vocab()}), 2);
  CHECK(data->classes() == 10);
  CHECK(data->samples(split::train) == 2);
  CHECK(read_sample(*data, 1).input == ids{7, 8});
  CHECK_THAT(data->describe(), Contains("vocab.txt"));
  CHECK_FALSE(std::filesystem::is_empty(folder.path() / "cache" / "tokens"));
}

TEST_CASE(
    "records begin as the tokenizer says, which a note says of windows; what its settings say in vain is noted, too") {
  const data_folder folder;
  const auto file = folder.write("t", "one two three");
  const auto lines = folder.write("t.jsonl", "{\"text\": \"one two\"}\n");
  const tokenizer_choice by{.vocab = folder.vocab()};
  const auto windows = open_data(text(file, {}, by), 2),
             records = open_data(jsonl({.train = lines, .tokenizer = by}), 5);
  CHECK(read_sample(*records, 0).input == ids{2, 5, 6, 3, 0});
  CHECK(read_sample(*records, 0).target == ids{5, 6, 3, no, no});
  CHECK(records->notes().empty());
  REQUIRE(windows->notes().size() == 1);
  CHECK_THAT(windows->notes()[0], Contains("text " + file.string()) && Contains("do not begin with [CLS]"));
  CHECK(open_data(text(file, {}, by), masked(5))->notes().empty());
  folder.write("tokenizer_config.json", R"({"remove_space": true})");
  CHECK_THAT(open_data(jsonl({.train = lines, .tokenizer = by}), 5)->notes().at(0), Contains("remove_space = true"));
  for (const data_description& data : {text(file, {}, by), jsonl({.train = lines, .tokenizer = by})})
    CHECK_THAT(open_data(data, masked(5))->notes().at(0), Contains("remove_space = true"));
}

TEST_CASE("a text is masked for a model that requires it, if its tokenizer has the special tokens") {
  const data_folder folder;
  const auto file = folder.write("t", "one two three four five one two");
  const auto data = open_data({text_files{.train = file, .tokenizer = {.vocab = folder.vocab()}}}, masked(6));
  CHECK(data->samples(split::train) == 2);
  CHECK(read_sample(*data, 0).input[0] == 2);
  CHECK_THROWS_WITH(open_data(text(file), masked(6)), Contains("masked samples") && Contains("[CLS]"));
  CHECK_THROWS_WITH(open_data(text(file), labelled(6)), Contains("has no labels"));
}

TEST_CASE("a text is read by the tokenizer of the checkpoint that a model starts from, unless the data name another") {
  const data_folder folder;
  const sample_request wants{.context = 2, .checkpoint = folder.vocab().parent_path()};
  const auto file = folder.write("t", "one two three four five one");
  const auto lines = folder.write("t.jsonl", "{\"text\": \"one two three\"}\n");
  const auto rows = folder.write("t.csv", "what\none two\n");
  for (const data_description& data : {text(file), jsonl({.train = lines}), csv({.train = rows, .text = "what"})}) {
    const auto source = open_data(data, wants);
    CHECK(source->classes() == 10);
    CHECK_THAT(source->describe(), Contains("vocab.txt"));
    CHECK(tokenizer_for(data, wants) == tokenizer_choice{.file = wants.checkpoint});
    CHECK(tokenizer_for(data, {.checkpoint = "base", .tokenizer = wants.checkpoint}) == tokenizer_for(data, wants));
  }
  CHECK(open_data(text(file), 2)->classes() == 256);
  const auto bytes = text(file, {}, {.bytes = true});
  CHECK(open_data(bytes, wants)->fingerprint() == open_data(text(file), 2)->fingerprint());
  CHECK(open_data(bytes, wants)->describe() == open_data(text(file), 2)->describe());
  CHECK(tokenizer_for(bytes, wants) == tokenizer_choice{});
}

TEST_CASE("a tokenizer that is not that of the model's checkpoint is a note, a copy of it is none") {
  const data_folder folder;
  const sample_request wants{.context = 3, .checkpoint = folder.vocab().parent_path()};
  const auto file = folder.write("t", "one two three four five one");
  const auto lines = folder.write("t.jsonl", "{\"text\": \"one two three\"}\n");
  const auto rows = folder.write("t.csv", "what\none two\n");
  const auto about = [&](const tokenizer_choice& by) {
    std::vector<std::string> all;
    for (const data_description& data : {text(file, {}, by), jsonl({.train = lines, .tokenizer = by}),
                                         csv({.train = rows, .text = "what", .tokenizer = by})})
      for (const std::string& note : open_data(data, wants)->notes())
        if (note.find("rows stand for other tokens") != std::string::npos) all.push_back(note);
    return all;
  };
  const auto other = about({.vocab = folder.write("other.txt", std::string{words} + "six\n")});
  REQUIRE(other.size() == 3);
  CHECK_THAT(other[1], Contains("jsonl " + lines.string()) && Contains("Leave out the key tokenizer") &&
                           Contains("those of tokenizer " + (folder.path() / "other.txt").string()) &&
                           Contains("trained with tokenizer " + folder.vocab().string()));
  CHECK(about({.bytes = true}).size() == 3);
  CHECK(about({.vocab = folder.write("copy.txt", words)}).empty());
  CHECK(about({}).empty());
}

TEST_CASE("files that are for training and for validation are a note") {
  const data_folder folder;
  const auto file = folder.write("t", "one two three four five one");
  const auto lines = folder.write("t.jsonl", "{\"text\": \"one two three\"}\n");
  const auto more = folder.write("more.jsonl", "{\"text\": \"four\"}\n");
  const auto rows = folder.write("t.csv", "x,y\n1,0\n2,1\n");
  const std::string nothing_new = "for training and for validation, so the validation loss says nothing about new data";
  CHECK_THAT(open_data(text(file, folder.path() / "." / "t"), 2)->notes().at(0),
             EndsWith("t is " + nothing_new + "; name another as validation"));
  CHECK_THAT(
      open_data(jsonl({.train = file_list{{more, lines}}, .validation = lines}), 9)->notes().at(0),
      EndsWith("t.jsonl is " + nothing_new + "; name another as validation, or validation_share = 0.05 in its place"));
  CHECK_THAT(open_data(csv({.train = rows, .validation = rows, .target = "y"}), {})->notes().at(0),
             EndsWith(nothing_new + "; name another as validation"));
  CHECK(open_data(jsonl({.train = more, .validation = lines}), 32)->notes().empty());
}

TEST_CASE("a text for a checkpoint without tokenizer is refused with the options, and bytes can be requested") {
  const data_folder folder;
  const sample_request wants{.context = 2, .checkpoint = folder.path()};
  const auto file = folder.write("t", "one two three");
  CHECK_THROWS_WITH(open_data(text(file), wants), Contains(file.string()) && Contains("has no tokenizer") &&
                                                      Contains("tokenizer = \"bytes\"") &&
                                                      Contains("tokenizer = { file"));
  CHECK(open_data(text(file, {}, {.bytes = true}), wants)->classes() == 256);
}

TEST_CASE("ids and numbers do not depend on the tokenizer of a checkpoint") {
  const data_folder folder;
  const sample_request wants{.context = 2, .checkpoint = folder.vocab().parent_path()};
  const data_description ids{token_files{.train = folder.write("t", std::string(16, '\0')), .vocabulary = 300}};
  CHECK(open_data(ids, wants)->classes() == 300);
  CHECK_FALSE(tokenizer_for(ids, wants).has_value());
  CHECK_FALSE(tokenizer_for(csv({.train = "t.csv", .target = "x"}), wants).has_value());
  CHECK_FALSE(tokenizer_for({synthetic_language{}}, wants).has_value());
}

TEST_CASE("tokens may have a tokenizer instead of a vocabulary") {
  const data_folder folder;
  const auto file = folder.write("t", std::string{"\x05\0\0\0\x06\0\0\0\x07\0\0\0", 12});
  const auto data = open_data({token_files{.train = file, .tokenizer = {.vocab = folder.vocab()}}}, masked(5));
  CHECK(data->classes() == 10);
  CHECK(data->samples(split::train) == 1);
  CHECK_THROWS_WITH(open_data({token_files{.train = file}}, 2), Contains("vocabulary"));
}

TEST_CASE("records of bytes are padded, with the loss on the answer") {
  const data_folder folder;
  const auto file = folder.write("f.jsonl", "{\"q\": \"ab\", \"a\": \"cd\"}\n");
  const auto data = open_data(jsonl({.train = file, .prompt = "q", .answer = "a"}), 6);
  CHECK(read_sample(*data, 0).input == ids{'a', 'b', 'c', 'd', 0, 0});
  CHECK(read_sample(*data, 0).target == ids{no, 'c', 'd', no, no, no});
}

TEST_CASE("packed records share a sample; of masked models, all texts are one") {
  const data_folder folder;
  const auto file = folder.write("f.jsonl", "{\"text\": \"one\"}\n{\"text\": \"one\"}\n");
  const auto data = open_data(jsonl({.train = file, .validation = file, .packing = true}), 5);
  CHECK(data->samples(split::validation) == 1);
  CHECK(read_sample(*data, 0).input == ids{'o', 'n', 'o', 'n', 0, 1, 0, 1, 0, 1});
  CHECK(read_sample(*data, 0).target == ids{'n', 'e', 'n', 'e', no});
  const jsonl_files o{.train = file, .tokenizer = {.vocab = folder.vocab()}, .packing = true};
  CHECK(open_data(jsonl(o), masked(4))->samples(split::train) == 1);
}

TEST_CASE("conversations are written by a template, and packed") {
  const data_folder folder;
  const std::string talk = R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})";
  const std::string other = R"({"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]})";
  const template_choice own{.roles = {{"user", {"", ""}}, {"assistant", {"", "."}}}};
  const auto data = open_data(chat({.train = folder.write("f.jsonl", talk + "\n" + other + "\n"), .format = own}), 5);
  REQUIRE(data->samples(split::train) == 1);
  CHECK(read_sample(*data, 0).input == ids{'a', 'b', 'a', 'b', 0, 1, 0, 1, 0, 1});
  CHECK(read_sample(*data, 0).target == ids{'b', '.', 'b', '.', no});
  const auto refused = [&](const std::string& line) { return folder.write("r.jsonl", talk + "\n\n" + line + "\n"); };
  const auto open = [&](const std::string& line) {
    return open_data(chat({.train = refused(line), .format = own}), 5);
  };
  CHECK_THROWS_WITH(open("{\"text\": 1}"), Contains("r.jsonl:3: there is neither \"messages\" nor \"conversations\""));
  CHECK_THROWS_WITH(open("{\"messages\": []}"), Contains("r.jsonl:3: \"messages\" is not a list of messages"));
  CHECK_THROWS_WITH(open(R"({"messages": [{"role": "user"}]})"), Contains("r.jsonl:3: message 1 has neither"));
  CHECK_THROWS_WITH(open(R"({"messages": [{"role": "user", "content": [1]}]})"),
                    Contains("r.jsonl:3: \"content\" of message 1 has a part that is no"));
  CHECK_THROWS_WITH(open(R"({"messages": [{"role": "user", "content": "a"}]})"),
                    Contains("r.jsonl:3: there is no message of the assistant"));
  CHECK_THROWS_WITH(open(R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}]})"),
                    Contains("r.jsonl:3: message 1 has \"tool_calls\"; tools are not supported"));
  CHECK_THROWS_WITH(open(R"({"tools": [1], "messages": [{"role": "user", "content": "a"}]})"),
                    Contains("r.jsonl:3: the conversation has \"tools\""));
  CHECK_THROWS_WITH(open_data(chat({.train = folder.write("g.jsonl", talk), .format = own}), masked(4)),
                    Contains("conversations are for models that predict the next token"));
}

TEST_CASE("conversations that cannot be learnt are left out, if they may be; what is not read is noted") {
  const data_folder folder;
  const std::string by = R"({"role": "user", "content": "a"}, {"role": ")", said = R"(", "content": "b"}]})";
  const std::string begin = R"({"score": 1, "messages": [)" + by;
  const auto file =
      folder.write("f.jsonl", begin + "assistant" + said + "\n" + begin + "tool" + said + "\n" + begin + "user" + said);
  const template_choice own{.roles = {{"user", {"", ""}}, {"assistant", {"", "."}}}};
  chat_files o{.train = file, .validation = file, .format = own};
  CHECK_THROWS_WITH(open_data(chat(o), 5),
                    Contains("f.jsonl:2: message 2 is by \"tool\", for whom `template` has no prefix and suffix "
                             "(2 of 3 records cannot be read: line 3: there is no message of the assistant"));
  o.bad_rows = bad_row_rule::leave_out;
  const auto data = open_data(chat(o), 5);
  CHECK(data->census(split::train)->records == 1);
  REQUIRE(data->notes().size() == 4);
  CHECK_THAT(data->notes()[0], Contains("f.jsonl is for training and for validation"));
  CHECK_THAT(data->notes()[1], Contains("f.jsonl, tokenizer bytes: no token ends an answer"));
  CHECK_THAT(data->notes()[2], Contains("f.jsonl: 2 of 3 records cannot be read and are left out"));
  CHECK_THAT(data->notes()[3], Contains("f.jsonl: fields that are not read: \"score\""));
}

TEST_CASE("every form of samples has the notes of its records") {
  const data_folder folder;
  const auto file =
      folder.write("f.jsonl", "{\"text\": \"one\", \"more\": 1, \"l\": \"a\"}\n{\"text\": \"two\", \"l\": \"b\"}\n");
  jsonl_files o{.train = file_list{std::vector{file, file}},
                .validation_share = 0.5,
                .tokenizer = {.vocab = folder.vocab()},
                .label = "l"};
  const std::string note = file.string() + ": fields that are not read: ";
  CHECK(open_data(jsonl(o), labelled(5))->notes().front() == note + "\"more\"");
  CHECK(open_data(jsonl(o), 5)->notes().front() == note + "\"l\", \"more\"");
  CHECK(open_data(jsonl(o), masked(5))->notes().front() == note + "\"l\", \"more\"");
  o.packing = true;
  CHECK(open_data(jsonl(o), masked(5))->notes().front() == note + "\"l\", \"more\"");
}

TEST_CASE(
    "a model without classes is given records with a label: a note names it, and what to write for a classifier") {
  const data_folder folder;
  const tokenizer_choice by{.vocab = folder.vocab()};
  const auto lines = folder.write("f.jsonl", "{\"text\": \"one\", \"Label\": 1}\n{\"text\": \"two\", \"Label\": 0}\n");
  const auto rows = folder.write("f.csv", "text,target\none,1\ntwo,0\n");
  const data_description records = jsonl({.train = lines, .tokenizer = by, .label = "Label"}),
                         table = csv({.train = rows, .target = "target", .text = "text", .tokenizer = by});
  for (const sample_request& wants : {sample_request{.context = 5}, masked(5)}) {
    CHECK_THAT(open_data(records, wants)->notes().at(0),
               Contains("fields that are not read: \"Label\"; \"Label\" looks like the class of a text") &&
                   Contains("label = \"Label\" in [data.NAME]") && Contains("head = \"classification\""));
    CHECK_THAT(open_data(table, wants)->notes().at(0), Contains("write target = \"target\" in [data.NAME]"));
  }
  CHECK(open_data(records, labelled(5))->notes().empty());
  CHECK(open_data(table, labelled(5))->notes().empty());
  const auto other = folder.write("g.jsonl", "{\"text\": \"one\", \"lang\": \"en\"}\n");
  CHECK_THAT(open_data(jsonl({.train = other, .tokenizer = by}), 5)->notes().at(0),
             Contains("\"lang\"") && !Contains("class"));
}

TEST_CASE("records with labels are classified; validation has no labels of its own") {
  const data_folder folder;
  const auto train = folder.write("t.jsonl", "{\"text\": \"one\", \"l\": \"b\"}\n{\"text\": \"two\", \"l\": \"a\"}\n");
  const auto valid = folder.write("v.jsonl", "{\"text\": \"one\", \"l\": \"a\"}\n{\"text\": \"two\", \"l\": \"c\"}\n");
  jsonl_files o{.train = train, .tokenizer = {.vocab = folder.vocab()}, .label = "l"};
  const auto data = open_data(jsonl(o), labelled(4));
  CHECK(read_sample(*data, 0).input == ids{2, 5, 3, 0, 0, 0, 0, 0, 1, 1, 1, 0});
  CHECK(read_sample(*data, 0).target == ids{1});
  CHECK(data->classes() == 2);
  CHECK(data->class_names() == std::vector<std::string>{"a", "b"});
  CHECK(open_data(jsonl(o), masked(4))->classes() == 10);
  o.validation = valid;
  CHECK_THROWS_WITH(open_data(jsonl(o), labelled(4)), Contains("v.jsonl:2: the label \"c\" is not known"));
  o.validation = file_list{std::vector{train, valid}};
  CHECK_THROWS_WITH(open_data(jsonl(o), labelled(4)), Contains("v.jsonl:2: the label \"c\" is not known"));
  o.validation = valid;
  o.labels = {std::string{"c"}, std::string{"b"}, std::string{"a"}};
  CHECK(read_sample(*open_data(jsonl(o), labelled(4)), 1, split::validation).target == ids{0});
  o.label = "";
  CHECK_THROWS_WITH(open_data(jsonl(o), labelled(4)), Contains("is read without labels"));
}

TEST_CASE("texts and images have the classes of the model's head, in its order") {
  const data_folder folder;
  sample_request wants = labelled(4);
  wants.labels = {"good", "fair", "bad"};
  const auto lines =
      folder.write("t.jsonl", "{\"text\": \"one\", \"l\": \"bad\"}\n{\"text\": \"two\", \"l\": \"good\"}\n");
  const auto rows = folder.write("t.csv", "l,text\nbad,one\ngood,two\n");
  for (const char* name : {"bad", "good"}) {
    std::filesystem::create_directories(folder.path() / "train" / name);
    write_png(folder.path() / "train" / name / "1.png", ramp({8, 6}, 3));
  }
  const tokenizer_choice by{.vocab = folder.vocab()};
  const std::vector<data_description> all{jsonl({.train = lines, .tokenizer = by, .label = "l"}),
                                          csv({.train = rows, .target = "l", .text = "text", .tokenizer = by}),
                                          images({.train = folder.path() / "train"})};
  for (const data_description& data : all) {
    const auto source = open_data(data, wants);
    CAPTURE(source->describe());
    CHECK(source->class_names() == wants.labels);
    CHECK(source->notes() ==
          std::vector{source->describe() + ": 1 of the 3 classes has no sample to train on: \"fair\""});
    CHECK(open_data(data, labelled(4))->fingerprint() != source->fingerprint());
  }
  CHECK(read_sample(*open_data(all[0], wants), 0).target == ids{2});
  CHECK(read_sample(*open_data(all[1], wants), 0).target == ids{2});
  CHECK(read_sample<float>(*open_data(all[2], wants), 0).target == ids{0});  // its images are sorted by class
  wants.labels = {"bad", "fine"};
  for (const data_description& data : all)
    CHECK_THROWS_WITH(open_data(data, wants), Contains("the label \"good\" is none"));
  image_folders named{.train = folder.path() / "train", .labels = {"good", "bad"}};
  CHECK(open_data(images(named), wants)->class_names() == std::vector<std::string>{"good", "bad"});
  named.labels = {"good", "fine"};
  CHECK_THROWS_WITH(open_data(images(named), wants), Contains("train/bad: the label \"bad\" is not known"));
}

TEST_CASE("folders that are called 0, 1, ... are these classes of a head, and sorted as names without one") {
  const data_folder folder;
  sample_request wants;
  for (int i = 0; i < 11; ++i) {
    std::filesystem::create_directories(folder.path() / "train" / std::to_string(i));
    write_png(folder.path() / "train" / std::to_string(i) / "1.png", ramp({8, 6}, 3));
    wants.labels.push_back("class " + std::to_string(i));
  }
  const data_description numbered = images({.train = folder.path() / "train"});
  CHECK(open_data(numbered, wants)->class_names() == wants.labels);
  CHECK(open_data(numbered, 0)->class_names()[2] == "10");
}

TEST_CASE("invalid combinations of record options are refused") {
  const data_folder folder;
  const auto file = folder.write("f.jsonl", "{\"text\": \"ab\", \"q\": \"x\"}\n");
  CHECK_THROWS_WITH(open_data(jsonl({.train = file, .prompt = "q"}), 4), Contains("name both or none"));
  CHECK_THROWS_WITH(open_data(jsonl({.train = file, .prompt = "q", .answer = "text"}), masked(4)),
                    Contains("predict the next token"));
  CHECK_THROWS_WITH(open_data(jsonl({.train = file, .label = "q", .packing = true}), labelled(4)),
                    Contains("set packing = false"));
}

TEST_CASE("comma-separated values are rows of numbers, or texts with labels") {
  const data_folder folder;
  const auto file = folder.write("f.csv", "mood\twhat\ngood\tone two\nbad\ttwo\n");
  CHECK(open_data(csv({.train = folder.write("n.csv", "x,y\n1,2\n3,4\n"), .target = "y"}), 0)->classes() == 2);
  const csv_files o{
      .train = file, .target = "mood", .text = "what", .tokenizer = {.vocab = folder.vocab()}, .separator = '\t'};
  const auto data = open_data(csv(o), labelled(5));
  CHECK(read_sample(*data, 0).input == ids{2, 5, 6, 3, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0});
  CHECK(read_sample(*data, 0).target == ids{1});
  CHECK_THROWS_WITH(open_data(csv({.train = file}), 0), Contains("name the column to predict"));
  CHECK_THROWS_WITH(open_data(csv({.train = file, .columns = {"x"}, .text = "what"}), 4), Contains("either columns"));
}

TEST_CASE("images have the given size, else the model's, else their own") {
  const data_folder folder;
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(folder.path() / "train" / name);
    for (const char* file : {"1.png", "2.png"}) write_png(folder.path() / "train" / name / file, ramp({8, 6}, 3));
  }
  image_folders o{.train = folder.path() / "train", .validation_share = 0.5};
  const auto own = open_data(images(o), 0);
  CHECK(own->sample_input().shape == ids{3, 8, 6});
  CHECK(own->samples(split::train) == 2);
  CHECK(own->samples(split::validation) == 2);
  const sample_request wants{.image = {1, 4, 4}};
  CHECK(open_data(images(o), wants)->sample_input().shape == ids{1, 4, 4});
  o.size = {5, 7};
  CHECK(open_data(images(o), wants)->sample_input().shape == ids{1, 5, 7});
  o.validation = o.train;
  CHECK_THROWS_WITH(open_data(images(o), wants), Contains("validation_share cannot be combined with validation"));
}

TEST_CASE("folders that are all named as parts of the data are not classes, unless the user says so") {
  const data_folder folder;
  const auto add = [&](const char* name) {
    std::filesystem::create_directories(folder.path() / "all" / name / "cat");
    write_png(folder.path() / "all" / name / "cat" / "1.png", ramp({8, 6}, 3));
  };
  add("Test");
  add("train");
  image_folders o{.train = folder.path() / "all"};
  const auto refuses = [&](const std::string& names, const std::string& validation) {
    CHECK_THROWS_WITH(open_data(images(o), 0), Contains("not as classes: " + names + ". Write train = \"") &&
                                                   Contains("all/train\" and validation = \"") && Contains(validation));
  };
  refuses("train, Test", "all/Test\"; if they are classes, labels = [\"train\", \"Test\"]");
  add("val");
  refuses("train, val, Test", "all/val\"; ");
  o.labels = {"Test", "train", "val"};
  CHECK(open_data(images(o), 0)->classes() == 3);
  o.labels.clear();
  add("cat");
  CHECK(open_data(images(o), 0)->classes() == 4);
}

TEST_CASE("images in a folder within that of a class are of this class, which a note says") {
  const data_folder folder;
  for (const char* name : {"a", "b/x", "b/x/y"}) {
    std::filesystem::create_directories(folder.path() / "all" / name);
    write_png(folder.path() / "all" / name / "1.png", ramp({8, 6}, 3));
  }
  const std::string all = (folder.path() / "all/").string();
  const auto data = open_data(images({.train = all}), 0);
  CHECK(data->class_names() == std::vector<std::string>{"a", "b"});
  CHECK(data->notes() ==
        std::vector{all + ": 2 files are in a folder within the folder of a class, and of this class: b/x/1.png, "
                          "b/x/y/1.png"});
}

TEST_CASE("cifar files are opened by the short form") {
  const data_folder folder;
  CHECK(open_data(cifar({.train = {folder.write("a.bin", std::string(3073, '\0'))}}), 0)->samples(split::train) == 1);
}

TEST_CASE("a vocabulary smaller than that of the tokenizer is refused") {
  const data_folder folder;
  const auto file = folder.write("t", std::string{"\x05\0\0\0\x06\0\0\0\x07\0\0\0", 12});
  token_files o{.train = file, .vocabulary = 9, .tokenizer = {.vocab = folder.vocab()}};
  CHECK_THROWS_WITH(open_data({o}, 2), Contains("vocabulary is 9, but") && Contains("has 10 tokens"));
  o.vocabulary = 12;
  CHECK(open_data({o}, 2)->classes() == 12);
}

TEST_CASE("an empty cell is not a class of texts, unless it is named as one") {
  const data_folder folder;
  const auto file = folder.write("f.csv", "mood,what\ngood,one\n,two\nbad,two\n");
  csv_files o{.train = file, .target = "mood", .text = "what", .tokenizer = {.vocab = folder.vocab()}};
  CHECK_THROWS_WITH(open_data(csv(o), labelled(5)), Contains("f.csv:3: the label is empty"));
  o.labels = {std::string{"good"}, std::string{"bad"}, std::string{}};
  CHECK(read_sample(*open_data(csv(o), labelled(5)), 1).target == ids{2});
}

TEST_CASE("fingerprints distinguish texts, tokens and records of other bytes, tokenizers or options") {
  const data_folder folder;
  const auto t = folder.write("t", "one two three four five one");
  const std::string bytes = open_data(text(t), 2)->fingerprint();
  CHECK_FALSE(bytes.empty());
  CHECK(open_data(text(t), 2)->fingerprint() == bytes);
  CHECK(open_data(text(t), 3)->fingerprint() != bytes);
  CHECK(open_data(text(t, {}, {.vocab = folder.vocab()}), 2)->fingerprint() != bytes);
  CHECK(open_data(text(t, t), 2)->fingerprint() != bytes);
  folder.write("t", "one two three four five two");
  CHECK(open_data(text(t), 2)->fingerprint() != bytes);

  const auto f = folder.write("f.jsonl", "{\"text\": \"ab\", \"other\": \"cd\"}\n");
  const std::string records = open_data(jsonl({.train = f}), 4)->fingerprint();
  CHECK_FALSE(records.empty());
  CHECK(open_data(jsonl({.train = f}), 4)->fingerprint() == records);
  CHECK(open_data(jsonl({.train = f, .text = "other"}), 4)->fingerprint() != records);
  CHECK(open_data(jsonl({.train = f, .validation = f}), 4)->fingerprint() != records);
  folder.write("f.jsonl", "{\"text\": \"ab\", \"other\": \"ce\"}\n");
  CHECK(open_data(jsonl({.train = f}), 4)->fingerprint() != records);
}

TEST_CASE("a text classifier with fewer embeddings than the tokenizer has ids is refused") {
  const data_folder folder;
  const auto train = folder.write("t.jsonl", "{\"text\": \"one\", \"l\": \"b\"}\n{\"text\": \"two\", \"l\": \"a\"}\n");
  const auto data =
      open_data(jsonl({.train = train, .tokenizer = {.vocab = folder.vocab()}, .label = "l"}), labelled(4));
  CHECK(data->vocabulary() == 10);
  bert_options o{.layers = 1, .width = 8, .heads = 2, .context = 4};
  o.head = bert_head::classification;
  o.vocabulary = 9;
  CHECK_THROWS_WITH(bert(o).build(*data), Contains("vocabulary is 9") && Contains("token ids up to 9"));
  o.vocabulary = 10;
  CHECK_NOTHROW(bert(o).build(*data));
}
