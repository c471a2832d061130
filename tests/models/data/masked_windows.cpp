#include "models/data/masked_windows.hpp"

#include "models/losses/class_targets.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/letter_tokenizer.hpp"
#include "tests/models/data/read_sample.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace masked_windows_test {

masked_windows windows(std::size_t tokens, std::int64_t context) {
  std::vector<std::uint32_t> ids(tokens);
  std::iota(ids.begin(), ids.end(), 100u);
  return masked_windows{{.parts = {.name = "counting", .train = token_list{std::move(ids)}, .vocabulary = 500},
                         .context = context,
                         .marks = encoder_marks_of(letter_tokenizer{}, true, "counting"),
                         .masking = {}}};
}

/// The ids before masking.
std::vector<std::int64_t> unmasked(const read_values<std::int64_t, std::int64_t>& s) {
  std::vector<std::int64_t> ids{s.input.begin(), s.input.begin() + static_cast<std::ptrdiff_t>(s.target.size())};
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (s.target[i] != masked_target) ids[i] = s.target[i];
  return ids;
}

TEST_CASE("a masked sample is a window between [CLS] and [SEP], with segments and attention mask") {
  const masked_windows data = windows(20, 10);
  conforms(data);
  CHECK(data.samples(split::train) == 3);
  CHECK(data.samples(split::validation) == 0);
  CHECK(data.sample_input() == tensor_spec{{3, 10}, element::i64});
  CHECK(data.classes() == 500);
  const auto s = read_sample(data, 1);
  CHECK(unmasked(s) == std::vector<std::int64_t>{1, 108, 109, 110, 111, 112, 113, 114, 115, 2});
  CHECK(std::vector<std::int64_t>(s.input.begin() + 10, s.input.begin() + 20) == std::vector<std::int64_t>(10, 0));
  CHECK(std::vector<std::int64_t>(s.input.begin() + 20, s.input.end()) == std::vector<std::int64_t>(10, 1));
  CHECK(s.counted == 1);
}

TEST_CASE("the last masked sample is padded, and its padding is excluded by the mask") {
  const auto s = read_sample(windows(20, 10), 2);
  CHECK(unmasked(s) == std::vector<std::int64_t>{1, 116, 117, 118, 119, 2, 0, 0, 0, 0});
  CHECK(std::vector<std::int64_t>(s.input.begin() + 20, s.input.end()) ==
        std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("masked samples need a large enough context, tokens and a tokenizer with the special ones") {
  CHECK_THROWS_WITH(windows(20, 2), Contains("at least 3 tokens"));
  CHECK_THROWS_WITH(windows(0, 10), Contains("no tokens to train on"));
  CHECK_THROWS_WITH(encoder_marks_of(letter_tokenizer::plain(), true, "text t"),
                    Contains("text t: the model wants masked samples") && Contains("[CLS], [SEP], [PAD], [MASK]"));
  CHECK_THROWS_AS(read_sample(windows(20, 10), 3), fault_error);
}

}  // namespace masked_windows_test
