#include "tests/conformance/data.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <thread>
#include <vector>

// Catch2's assertions are not thread-safe: threads only record, the test's own thread checks.

namespace hydra::test {

namespace {

constexpr std::size_t looked_at = 6;  ///< samples of a split

/// The bytes of a tensor with others around them. A tensor's bytes are aligned to 64, too.
class guarded_bytes {
 public:
  guarded_bytes(const tensor_spec& spec, std::byte before) : bytes_(spec.bytes().value() + 2 * margin, guard) {
    std::ranges::fill(inside(), before);
  }

  std::span<std::byte> inside() { return std::span{bytes_}.subspan(margin, bytes_.size() - 2 * margin); }
  std::span<const std::byte> inside() const { return std::span{bytes_}.subspan(margin, bytes_.size() - 2 * margin); }

  bool is_intact() const {
    const auto is_guard = [](std::byte b) { return b == guard; };
    const std::span all{bytes_};
    return std::ranges::all_of(all.first(margin), is_guard) && std::ranges::all_of(all.last(margin), is_guard);
  }

  template <class Value>
  std::vector<Value> values() const {
    std::vector<Value> all(inside().size() / sizeof(Value));
    std::memcpy(all.data(), inside().data(), all.size() * sizeof(Value));
    return all;
  }

 private:
  static constexpr std::size_t margin = 64;
  static constexpr std::byte guard{0xa5};
  std::vector<std::byte> bytes_;
};

struct sample {
  guarded_bytes input, target;
  std::size_t counted = 0;

  bool equals(const sample& other) const {
    return counted == other.counted && std::ranges::equal(input.inside(), other.input.inside()) &&
           std::ranges::equal(target.inside(), other.target.inside());
  }
};

sample read_over(const data_source& data, split part, std::size_t index, std::byte before) {
  sample s{{data.sample_input(), before}, {data.sample_target(), before}};
  s.counted = data.read(part, index, s.input.inside(), s.target.inside());
  return s;
}

/// The first, the last and some between them.
std::vector<std::size_t> some_samples(const data_source& data, split part) {
  const std::size_t n = data.samples(part);
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < std::min(n, looked_at); ++i)
    some.push_back(n <= looked_at ? i : i * (n - 1) / (looked_at - 1));
  return some;
}

// -- requirements ---

void values_are_in_range(const data_source& data, const sample& s) {
  if (data.sample_input().type == element::f32)
    CHECK(std::ranges::all_of(s.input.values<float>(), [](float x) { return std::isfinite(x); }));
  if (data.sample_input().type == element::i64 && data.vocabulary() > 0)
    CHECK(std::ranges::all_of(s.input.values<std::int64_t>(),
                              [&](auto id) { return id >= 0 && id < data.vocabulary(); }));
  if (data.sample_input().type == element::i64 && data.sample_input() == data.sample_target())
    CHECK(
        std::ranges::all_of(s.input.values<std::int64_t>(), [&](auto id) { return id < data.observed_vocabulary(); }));
  if (data.sample_target().type == element::f32)
    CHECK(std::ranges::all_of(s.target.values<float>(), [](float x) { return std::isfinite(x); }));
}

/// Without classes there are no targets, and what is counted is the sample.
void classes_are_counted(const data_source& data, const sample& s) {
  if (!masks_targets(data) || data.classes() == 0) return;
  std::size_t counted = 0;
  for (const std::int64_t target : s.target.values<std::int64_t>()) {
    if (target == uncounted_target) continue;
    ++counted;
    CHECK(target >= 0);
    CHECK(target < data.classes());
  }
  CHECK(s.counted == counted);
}

/// Returns the targets that count.
std::size_t a_sample_is_a_function_of_its_index(const data_source& data, split part, std::size_t index) {
  INFO("sample " << index << " of " << (part == split::train ? "train" : "validation"));
  const sample one = read_over(data, part, index, std::byte{0}), again = read_over(data, part, index, std::byte{0x7f});
  CHECK(one.equals(again));  // nor does it leave bytes as they are
  CHECK(one.input.is_intact());
  CHECK(one.target.is_intact());
  const std::size_t tokens = data.tokens_of(part, index);
  CHECK(one.counted <= tokens);
  CHECK(tokens <= static_cast<std::size_t>(data.sample_target().elements()));
  values_are_in_range(data, one);
  classes_are_counted(data, one);
  return one.counted;
}

void threads_read_the_same(const data_source& data, split part, const std::vector<std::size_t>& indices) {
  std::vector<sample> alone;
  for (const std::size_t index : indices) alone.push_back(read_over(data, part, index, std::byte{0}));
  std::atomic<int> different = 0;
  const auto read_all = [&] {
    try {
      for (std::size_t i = 0; i < indices.size(); ++i)
        if (!read_over(data, part, indices[i], std::byte{0}).equals(alone[i])) ++different;
    } catch (const std::exception&) {
      ++different;
    }
  };
  std::array<std::thread, 4> threads;
  for (auto& thread : threads) thread = std::thread{read_all};
  for (auto& thread : threads) thread.join();
  CHECK(different == 0);
}

void samples_are_readable(const data_source& data, split part) {
  const auto indices = some_samples(data, part);
  std::size_t counted = 0;
  for (const std::size_t index : indices) counted += a_sample_is_a_function_of_its_index(data, part, index);
  if (!indices.empty()) CHECK(counted > 0);
  threads_read_the_same(data, part, indices);
}

void names_stay(const data_source& data) {
  CHECK_FALSE(data.describe().empty());
  CHECK(data.fingerprint() == data.fingerprint());
  const auto names = data.class_names().size();
  CHECK((names == 0 || names == static_cast<std::size_t>(data.classes())));
}

}  // namespace

void conforms(const data_source& data) {
  INFO(data.describe());
  REQUIRE(data.samples(split::train) > 0);
  REQUIRE(data.sample_input().elements() > 0);
  REQUIRE(data.classes() >= 0);
  for (const split part : {split::train, split::validation}) samples_are_readable(data, part);
  names_stay(data);
}

}  // namespace hydra::test
