#include "models/data/record_samples.hpp"

#include "models/losses/class_targets.hpp"
#include "tests/models/data/letter_tokenizer.hpp"
#include "tests/models/data/read_sample.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

class given_records final : public record_list {
 public:
  explicit given_records(std::vector<text_record> all) : all_(std::move(all)) {
    for (std::size_t i = 0; i < all_.size(); ++i) labels_.try_emplace(all_[i].label, i + 1);
  }
  std::size_t size() const override { return all_.size(); }
  text_record record(std::size_t i) const override { return all_.at(i); }
  const label_census& labels() const override { return labels_; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  std::vector<text_record> all_;
  label_census labels_;
  std::filesystem::path file_ = "given";
};

record_samples_options options(std::vector<text_record> records, std::int64_t context,
                               sample_form form = sample_form::causal) {
  return {.name = "records",
          .train = std::make_shared<given_records>(std::move(records)),
          .by = std::make_shared<letter_tokenizer>(),
          .wants = {.context = context, .form = form}};
}

using ids = std::vector<std::int64_t>;
constexpr std::int64_t no = masked_target, end = letter_tokenizer::end, pad = letter_tokenizer::padding;

/// "abc" -> ids, '.' -> the end of the text, '_' -> padding, '-' -> no target.
ids spell(std::string_view text) {
  ids all;
  for (const char c : text) all.push_back(c == '.' ? end : c == '_' ? pad : c == '-' ? no : letters({&c, 1})[0]);
  return all;
}

}  // namespace

TEST_CASE("a text ends with its token, is padded on the right, and padding has no targets") {
  const record_samples data{options({{.text = "abc"}}, 6)};
  CHECK(data.sample_input() == tensor_spec{{6}, element::i64});
  CHECK(data.classes() == 261);
  const auto s = read_sample(data, 0);
  CHECK(s.input == spell("abc.__"));
  CHECK(s.target == spell("bc.---"));
  CHECK(s.counted == 3);
}

TEST_CASE("a text longer than the context loses its end") {
  const auto s = read_sample(record_samples{options({{.text = "abcdefgh"}}, 4)}, 0);
  CHECK(s.input == spell("abcd"));
  CHECK(s.target == spell("bcde"));
  CHECK(s.counted == 4);
}

TEST_CASE("a text of the context's length ends with a target") {
  const auto s = read_sample(record_samples{options({{.text = "abcd"}}, 4)}, 0);
  CHECK(s.input == spell("abcd"));
  CHECK(s.target == spell("bcd."));
}

TEST_CASE("the loss is on the answer alone, including its end") {
  const auto s = read_sample(record_samples{options({{.prompt = "why", .text = "so"}}, 8)}, 0);
  CHECK(s.input == spell("whyso.__"));
  CHECK(s.target == spell("--so.---"));
  CHECK(s.counted == 3);
}

TEST_CASE("a long record loses the start of its prompt, down to half of the window, then the end of its answer") {
  const auto prompt_first = read_sample(record_samples{options({{.prompt = "0123456789", .text = "ab"}}, 7)}, 0);
  CHECK(prompt_first.input == spell("56789ab"));
  CHECK(prompt_first.target == spell("----ab."));
  const auto both = read_sample(record_samples{options({{.prompt = "0123456789", .text = "abcdefgh"}}, 7)}, 0);
  CHECK(both.input == spell("6789abc"));
  CHECK(both.target == spell("---abcd"));
  const auto answer_only = read_sample(record_samples{options({{.prompt = "0", .text = "abcdefgh"}}, 5)}, 0);
  CHECK(answer_only.input == spell("0abcd"));
  CHECK(answer_only.target == spell("abcde"));
}

TEST_CASE("a tokenizer without end-of-text or padding tokens adds none, and pads with 0") {
  auto o = options({{.text = "ab"}}, 4);
  o.by = std::make_shared<letter_tokenizer>(letter_tokenizer::plain());
  const auto s = read_sample(record_samples{std::move(o)}, 0);
  CHECK(s.input == spell("ab__"));
  CHECK(s.target == spell("b---"));
  CHECK(s.counted == 1);
}

TEST_CASE("a labelled sample is [CLS] text [SEP] and its class") {
  auto o = options({{.text = "ab", .label = std::string{"x"}}, {.text = "abcdefgh", .label = std::string{"y"}}}, 6,
                   sample_form::labelled);
  o.classes = {{}, o.train->labels(), "f"};
  const record_samples data{std::move(o)};
  CHECK(data.sample_input() == tensor_spec{{3, 6}, element::i64});
  CHECK(data.sample_target() == tensor_spec{{}, element::i64});
  CHECK(data.classes() == 2);
  const auto a = letters("a")[0], b = letters("b")[0];
  CHECK(read_sample(data, 0).input == ids{1, a, b, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0});
  CHECK(read_sample(data, 0).target == ids{0});
  const auto cut = read_sample(data, 1);
  CHECK(ids(cut.input.begin(), cut.input.begin() + 6) == ids{1, a, b, b + 1, b + 2, 2});
  CHECK(cut.target == ids{1});
  CHECK(cut.counted == 1);
}

TEST_CASE("a record may be masked") {
  const record_samples data{options({{.text = "abcdefghijklmnopqrst"}}, 30, sample_form::masked)};
  const auto s = read_sample(data, 0);
  CHECK(s.counted == 3);
  CHECK(std::ranges::count(s.target, no) == 27);
  CHECK(std::accumulate(s.input.end() - 30, s.input.end(), std::int64_t{0}) == 22);
}

TEST_CASE("records without labels, a context or the special tokens are refused if they are needed") {
  CHECK_THROWS_WITH(record_samples{options({{.text = "a"}}, 6, sample_form::labelled)},
                    Contains("records is read without labels"));
  CHECK_THROWS_WITH(record_samples{options({{.text = "a"}}, 0)}, Contains("records needs a model with a context"));
  auto plain = options({{.text = "a"}}, 6, sample_form::labelled);
  plain.by = std::make_shared<letter_tokenizer>(letter_tokenizer::plain());
  CHECK_THROWS_WITH(record_samples{std::move(plain)},
                    Contains("labelled samples") && Contains("has no [CLS], [SEP], [PAD]"));
}
