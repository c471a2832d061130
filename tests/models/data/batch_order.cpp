#include "models/data/batch_order.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

const batch_order shuffled{.samples = 10, .batch_size = 3, .seed = 5};

}  // namespace

TEST_CASE("an epoch's permutation has every sample once") {
  std::vector<std::size_t> p = epoch_permutation(100, 1, 0);
  CHECK_FALSE(std::ranges::is_sorted(p));
  std::ranges::sort(p);
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == i);
}

TEST_CASE("a permutation depends on seed and epoch only") {
  CHECK(epoch_permutation(100, 1, 0) == epoch_permutation(100, 1, 0));
  CHECK(epoch_permutation(100, 1, 0) != epoch_permutation(100, 1, 1));
  CHECK(epoch_permutation(100, 1, 0) != epoch_permutation(100, 2, 0));
}

TEST_CASE("every sample comes to every place about equally often") {
  std::vector<int> count(16);
  for (std::uint64_t epoch = 0; epoch < 800; ++epoch)
    for (std::size_t i = 0; i < 4; ++i) count[i * 4 + epoch_permutation(4, 3, epoch)[i]]++;
  CHECK(std::ranges::all_of(count, [](int n) { return n > 150 && n < 250; }));
}

TEST_CASE("an epoch reads its order in batches and drops the incomplete last one") {
  const auto order = epoch_permutation(10, 5, 1);
  CHECK(shuffled.batches_per_epoch() == 3);
  CHECK(shuffled.batch(3) == std::vector(order.begin(), order.begin() + 3));
  CHECK(shuffled.batch(5) == std::vector(order.begin() + 6, order.begin() + 9));
}

TEST_CASE("without shuffling batches keep the file's order") {
  const batch_order plain{.samples = 10, .batch_size = 3, .seed = 5, .shuffle = false};
  CHECK(plain.batch(1) == std::vector<std::size_t>{3, 4, 5});
  CHECK(plain.batch(4) == std::vector<std::size_t>{3, 4, 5});
}

TEST_CASE("a cursor gives the same batches as the order, whatever the order of the steps") {
  batch_cursor cursor{shuffled};
  for (const std::uint64_t step : {0, 1, 7, 7, 2, 100, 3}) CHECK(cursor.batch(step) == shuffled.batch(step));
}

TEST_CASE("too few samples for one batch are refused") {
  const batch_order none{.samples = 2, .batch_size = 3};
  CHECK_THROWS_WITH(none.batch(0), Contains("2 samples do not make a batch of 3"));
}

TEST_CASE("cursors of one order share its permutation, which is freed with the last of them") {
  const auto orders = std::make_shared<epoch_orders>();
  std::weak_ptr<const std::vector<std::size_t>> first;
  {
    batch_cursor a{shuffled, orders}, b{shuffled, orders};
    CHECK(a.batch(0) == shuffled.batch(0));
    first = orders->of(10, 5, 0);
    CHECK(b.batch(1) == shuffled.batch(1));
    CHECK(first.use_count() == 2);
    a.batch(3), b.batch(3);  // the next epoch
    CHECK(first.expired());
    CHECK(orders->of(10, 5, 1).use_count() == 3);
  }
  CHECK(orders->of(10, 6, 1).use_count() == 1);
}
