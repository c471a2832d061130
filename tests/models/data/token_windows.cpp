#include "models/data/token_windows.hpp"

#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

token_list counting(std::size_t n) {
  std::vector<std::uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0u);
  return token_list{ids};
}

token_windows windows(std::size_t tokens, std::int64_t context, std::size_t validation = 0) {
  return token_windows{{.name = "counting",
                        .train = counting(tokens),
                        .validation = validation == 0 ? token_list{} : counting(validation),
                        .vocabulary = 100,
                        .context = context}};
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> sample(const data_source& data, std::size_t index) {
  std::vector<std::int64_t> input(4), target(4);
  CHECK(data.read(split::train, index, std::as_writable_bytes(std::span{input}),
                  std::as_writable_bytes(std::span{target})) == 4);
  return {input, target};
}

}  // namespace

TEST_CASE("sample i is the window at i * context, targets one further") {
  const auto [input, target] = sample(windows(13, 4), 1);
  CHECK(input == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(target == std::vector<std::int64_t>{5, 6, 7, 8});
}

TEST_CASE("an incomplete tail is dropped") {
  CHECK(windows(12, 4).samples(split::train) == 2);
  CHECK(windows(13, 4).samples(split::train) == 3);
  CHECK(windows(5, 4).samples(split::train) == 1);
  CHECK(windows(5, 4).samples(split::validation) == 0);
  CHECK(windows(5, 4, 9).samples(split::validation) == 2);
}

TEST_CASE("lists too short for one sample and models without a context are refused") {
  CHECK_THROWS_WITH(windows(4, 4), Contains("4 training tokens") && Contains("takes 5"));
  CHECK_THROWS_WITH(windows(5, 4, 3), Contains("3 validation tokens"));
  CHECK_THROWS_WITH(windows(5, 0), Contains("counting needs a model with a context"));
}

TEST_CASE("a sample beyond the end or into a buffer of another size is refused") {
  std::vector<std::byte> right(32), wrong(31);
  const token_windows w = windows(5, 4);
  CHECK_NOTHROW(w.read(split::train, 0, right, right));
  CHECK_THROWS_AS(w.read(split::train, 1, right, right), fault_error);
  CHECK_THROWS_AS(w.read(split::train, 0, wrong, right), fault_error);
}
