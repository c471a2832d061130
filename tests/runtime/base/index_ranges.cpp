#include "runtime/base/index_ranges.hpp"

#include <catch2/catch.hpp>

#include <vector>

using hydra::index_ranges;

TEST_CASE("neighbouring indices are written as a range") {
  const auto text = [](const std::vector<std::size_t>& all) { return index_ranges(all); };
  CHECK(text({}).empty());
  CHECK(text({7}) == "7");
  CHECK(text({0, 1}) == "0-1");
  CHECK(text({0, 1, 2, 3, 5, 8, 9}) == "0-3,5,8-9");
}
