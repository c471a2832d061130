// What a tokenizer.json's post_processor puts around a text. Right is what the package `tokenizers` (0.23) makes of it.

#include "models/tokenizers/text_frame.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

#include <tuple>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace post_processor_test {

using ids = std::vector<std::uint32_t>;
using nlohmann::json;

special_tokens special_with(const json& post_processor) {
  json file = bpe_file({"a b"});
  file["added_tokens"] = {added(257, "<s>"), added(258, "</s>")};
  file["post_processor"] = post_processor;
  const temporary_file on_disk{file.dump()};
  const auto t = open_tokenizer({.file = on_disk.path()});
  CHECK(t->notes().empty());
  return t->special();
}

json sequence(const json& parts) { return {{"type", "Sequence"}, {"processors", parts}}; }

const json begins = frame_of({{"<s>", 257}}, {}), bytes{{"type", "ByteLevel"}, {"trim_offsets", false}};

TEST_CASE("each post_processor that tokenizers has puts its tokens around a text") {
  const std::vector<std::tuple<json, ids, ids>> all{
      {nullptr, {}, {}},
      {bytes, {}, {}},
      {frame_of({}, {}), {}, {}},
      {begins, {257}, {}},
      {frame_of({{"<s>", 257}, {"ab", 256}}, {{"</s>", 258}}), {257, 256}, {258}},
      {sequence({bytes, begins}), {257}, {}},
      {{{"type", "BertProcessing"}, {"cls", {"<s>", 257}}, {"sep", {"</s>", 258}}}, {257}, {258}},
      {{{"type", "RobertaProcessing"}, {"cls", {"<s>", 257}}, {"sep", {"</s>", 258}}, {"trim_offsets", true}},
       {257},
       {258}}};
  for (const auto& [post_processor, before, after] : all) {
    CAPTURE(post_processor.dump());
    const special_tokens special = special_with(post_processor);
    CHECK(special.before == before);
    CHECK(special.after == after);
  }
}

TEST_CASE("a post_processor that Hydra does not know is refused with its key") {
  const auto refused = [](const json& part, const std::string& why) {
    CAPTURE(part.dump());
    CHECK_THROWS_WITH(special_with(part), Contains(why));
  };
  refused(3, "post_processor: 3 is not a table");
  refused({{"type", "Other"}}, "post_processor.type: \"Other\" is not supported");
  refused(sequence({begins, begins}), "post_processor.processors[1].type: a second part that adds tokens");
  refused(frame_of({{"<s>", 300}}, {}), "post_processor.special_tokens.<s>.ids: 300 is the id of no token");
  refused({{"type", "BertProcessing"}, {"sep", {"</s>", 258}}}, "post_processor.cls: is not a token with its id");
  json part = begins;
  part["special_tokens"] = json::object();
  refused(part, "post_processor.special_tokens.<s>.ids: is missing");
  part = begins;
  part["single"] = {{{"Sequence", {{"id", "B"}}}}};
  refused(part, "post_processor.single: is not a template of special tokens around one text, A");
  part["single"] = json::array();
  refused(part, "post_processor.single: has no place for the text, A");
}

TEST_CASE("what is written in a text already is not put around it again") {
  const special_tokens special{.end_of_text = 9u, .before = {1, 2}, .after = {3}};
  ids plain{5}, begun{1, 2, 5}, ended{5, 3, 9};
  CHECK(begin_text(special, plain) == 2);
  CHECK(plain == ids{1, 2, 5});
  CHECK(begin_text(special, begun) == 0);
  CHECK(begun == ids{1, 2, 5});
  end_text(special, plain);
  CHECK(plain == ids{1, 2, 5, 3, 9});
  ids with_end{5, 9};
  end_text({.end_of_text = 9u, .after = {9}}, with_end);
  CHECK(with_end == ids{5, 9});
}

}  // namespace post_processor_test
