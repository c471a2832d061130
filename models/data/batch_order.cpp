#include "models/data/batch_order.hpp"

#include "models/random.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace hydra {

std::vector<std::size_t> epoch_permutation(std::size_t n, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::size_t> result(n);
  std::iota(result.begin(), result.end(), std::size_t{0});
  const std::uint64_t key = random_key(random_key({seed, epoch}), "data order");
  // The bias of the remainder is below n / 2^64.
  for (std::size_t i = n; i > 1; --i) std::swap(result[i - 1], result[random_bits(key, i) % i]);
  return result;
}

batch_position batch_order::position(std::uint64_t step) const {
  const std::size_t batches = batch_size == 0 ? 0 : batches_per_epoch();
  if (batches == 0) refuse(fmt::format("{} samples do not make a batch of {}", samples, batch_size));
  return {.epoch = step / batches, .first = step % batches * batch_size};
}

std::vector<std::size_t> batch_order::batch(std::uint64_t step) const { return batch_cursor{*this}.batch(step); }

std::shared_ptr<const std::vector<std::size_t>> epoch_orders::of(std::size_t samples, std::uint64_t seed,
                                                                  std::uint64_t epoch) {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = known_[{samples, seed, epoch}];
  auto order = known.lock();
  if (!order) known = order = std::make_shared<const std::vector<std::size_t>>(epoch_permutation(samples, seed, epoch));
  return order;
}

batch_cursor::batch_cursor(const batch_order& order, std::shared_ptr<epoch_orders> orders)
    : order_(order), orders_(orders ? std::move(orders) : std::make_shared<epoch_orders>()) {}

std::vector<std::size_t> batch_cursor::batch(std::uint64_t step) {
  const auto [epoch, first] = order_.position(step);
  std::vector<std::size_t> result(order_.batch_size);
  std::iota(result.begin(), result.end(), first);
  if (!order_.shuffle) return result;
  if (epoch_ != epoch) {
    permutation_.reset();  // freed before the next one is allocated
    permutation_ = orders_->of(order_.samples, order_.seed, epoch);
  }
  epoch_ = epoch;
  for (std::size_t& sample : result) sample = (*permutation_)[sample];
  return result;
}

}  // namespace hydra
