#include "models/optimizer/blockwise_update.hpp"

#include "models/chain.hpp"
#include "models/layers/embedding.hpp"
#include "models/layers/head.hpp"
#include "models/moment_layout.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/ops/argmin.h>
#include <ATen/ops/linspace.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace hydra;
using namespace hydra::test;

/// bitsandbytes 0.48, functional.py, create_dynamic_map, with ATen.

namespace blockwise_update_test {

std::vector<float> plain_map(bool is_signed) {
  std::vector<float> data{0, 1};
  for (int i = 0; i < 7; ++i) {
    const at::Tensor between = at::linspace(0.1, 1, (1 << (is_signed ? i : i + 1)) + 1);
    const std::int64_t n = between.numel() - 1;
    const at::Tensor means = between.narrow(0, 0, n).add(between.narrow(0, 1, n)).div(2.0).mul(std::pow(10.0, i - 6));
    for (const float x : copy_of(means)) {
      data.push_back(x);
      if (is_signed) data.push_back(-x);
    }
  }
  std::ranges::sort(data);
  return data;
}

/// A moment as bitsandbytes stores it, quantised by a search over the whole map.
struct plain_moment {
  plain_moment(std::int64_t n, bool is_signed)
      : map(zeros({256})),
        codes(static_cast<std::size_t>(n)),
        largest(moment_blocks(codes.size())),
        has_sign(is_signed) {
    std::ranges::copy(plain_map(is_signed), values(map).begin());
  }

  float at(std::size_t i) const { return values(map)[codes[i]] * largest[i / 256]; }

  void store(std::span<const float> moved) {
    for (std::size_t b = 0; b < largest.size(); ++b) {
      const auto block = moved.subspan(b * 256, std::min<std::size_t>(256, moved.size() - b * 256));
      largest[b] = std::abs(*std::ranges::max_element(block, {}, [](float x) { return std::abs(x); }));
      for (std::size_t i = 0; i < block.size(); ++i) codes[b * 256 + i] = code(block[i] / largest[b]);
    }
  }

  std::uint8_t code(float x) const {
    auto nearest = map.sub(x).abs().argmin().item<std::int64_t>();
    if (has_sign && std::signbit(values(map)[static_cast<std::size_t>(nearest)]) != std::signbit(x))
      nearest += x > 0 ? 1 : -1;
    return static_cast<std::uint8_t>(nearest);
  }

  at::Tensor map;
  std::vector<std::uint8_t> codes;
  std::vector<float> largest;
  bool has_sign;
};

/// bitsandbytes 0.48, kOptimizerStatic8bit2StateBlockwise.
void plain_step(const update_options& o, std::uint32_t step, const at::Tensor& p, const at::Tensor& g,
                plain_moment& first, plain_moment& second) {
  const double correction1 = 1 - std::pow(o.beta1, step + 1.0),
               correction2 = std::sqrt(1 - std::pow(o.beta2, step + 1.0));
  const auto step_size = static_cast<float>(-o.learning_rate * correction2 / correction1);
  std::vector<float> m, v;
  for (std::size_t i = 0; i < values(p).size(); ++i) {
    const float x = values(g)[i];
    m.push_back(first.at(i) * static_cast<float>(o.beta1) + static_cast<float>(1 - o.beta1) * x);
    v.push_back(second.at(i) * static_cast<float>(o.beta2) + static_cast<float>(1 - o.beta2) * x * x);
    float& to = values(p)[i];
    to += step_size * (m.back() / (std::sqrt(v.back()) + static_cast<float>(correction2 * o.eps)));
    to *= static_cast<float>(1 - o.learning_rate * o.weight_decay);
  }
  first.store(m);
  second.store(v);
}

/// Parameters and 8-bit moments of one tensor.
struct state {
  explicit state(std::size_t n)
      : p(random_tensor({static_cast<std::int64_t>(n)}, 1)),
        codes{bytes(n), bytes(n)},
        largest{std::vector<float>(moment_blocks(n)), std::vector<float>(moment_blocks(n))} {}
  using bytes = std::vector<std::uint8_t>;

  update_slices slices(const at::Tensor& g) {
    return {.parameters = values(p),
            .gradients = values(g),
            .first_moment = {},
            .second_moment = {},
            .first_blocks = {codes[0], largest[0]},
            .second_blocks = {codes[1], largest[1]}};
  }

  at::Tensor p;
  std::vector<bytes> codes;
  std::vector<std::vector<float>> largest;
};

bool same(const state& a, const state& b) {
  return same_bits(a.p, b.p) && a.codes == b.codes && a.largest == b.largest;
}

at::Tensor gradient(std::size_t n, std::uint32_t step) {
  return random_tensor({static_cast<std::int64_t>(n)}, 10 + step).mul(0.1);
}

const update_options rule = adamw8bit({.learning_rate = 1e-2, .weight_decay = 0.1});

TEST_CASE("the maps of 8-bit moments are those of bitsandbytes", "[8bit]") {
  for (const bool is_signed : {false, true}) {
    const moment_map& map = is_signed ? moment_map::of_signed() : moment_map::of_unsigned();
    const std::vector<float> plain = plain_map(is_signed);
    REQUIRE(plain.size() == 256);
    for (std::size_t i = 0; i < 256; ++i)
      CHECK(map[static_cast<std::uint8_t>(i)] == Approx(plain[i]).epsilon(1e-6).margin(0));
  }
  CHECK(moment_map::of_signed()[0] == Approx(-0.99296875));
  CHECK(moment_map::of_unsigned()[254] == Approx(0.996484375));
}

TEST_CASE("a value has the code of the nearest one in the map", "[8bit]") {
  for (const moment_map* map : {&moment_map::of_signed(), &moment_map::of_unsigned()}) {
    for (int i = -1100; i <= 1100; ++i) {
      const float x = static_cast<float>(i) / 1000;
      const float off = std::abs((*map)[map->nearest(x)] - x);
      for (int c = 0; c < 256; ++c) REQUIRE(off <= std::abs((*map)[static_cast<std::uint8_t>(c)] - x) + 1e-7f);
    }
    for (int c = 0; c < 256; ++c) CHECK(map->nearest((*map)[static_cast<std::uint8_t>(c)]) == c);
  }
}

TEST_CASE("adamw8bit is the update of bitsandbytes", "[8bit]") {
  constexpr std::size_t n = 1000;
  state ours{n};
  const at::Tensor p = ours.p.clone();
  plain_moment first{n, true}, second{n, false};
  for (std::uint32_t step = 0; step < 20; ++step) {
    apply_update(rule, step, 20, 1, ours.slices(gradient(n, step)));
    plain_step(rule, step, p, gradient(n, step), first, second);
    for (std::size_t i = 0; i < n; ++i) REQUIRE(values(ours.p)[i] == Approx(values(p)[i]).margin(1e-6));
    REQUIRE(ours.codes[0] == first.codes);
    REQUIRE(ours.codes[1] == second.codes);
  }
}

TEST_CASE("adamw8bit moves as adamw does, up to the rounding of its moments", "[8bit]") {
  constexpr std::size_t n = 4096;
  state ours{n};
  at::Tensor p = ours.p.clone(), m = zeros({n}), v = zeros({n});
  const at::Tensor begin = p.clone();
  for (std::uint32_t step = 0; step < 20; ++step) {
    apply_update(rule, step, 20, 1, ours.slices(gradient(n, step)));
    apply_update(adamw({.learning_rate = 1e-2, .weight_decay = 0.1}), step, 20, 1,
                 {values(p), values(gradient(n, step)), values(m), values(v)});
  }
  const double off = ours.p.sub(p).norm().item<double>(), way = p.sub(begin).norm().item<double>();
  CHECK(off < 0.1 * way);
}

TEST_CASE("blocks split at any of their borders give the same bits", "[8bit]") {
  constexpr std::size_t n = 40'001;
  state whole{n}, parts{n};
  for (std::uint32_t step = 0; step < 3; ++step) {
    const at::Tensor g = gradient(n, step);
    apply_update(rule, step, 3, 0.7f, whole.slices(g));
    const update_slices all = parts.slices(g);
    for (std::size_t begin = 0, count = 256; begin < n; begin += count, count += 512)
      apply_update(rule, step, 3, 0.7f, part_of(all, begin, std::min(count, n - begin)));
  }
  CHECK(same(whole, parts));
  CHECK_THROWS_AS(part_of(whole.slices(gradient(n, 0)), 100, 10), fault_error);
}

TEST_CASE("values without a finite gradient are not stepped and forget their moments", "[8bit]") {
  state s{600};
  apply_update(rule, 0, 9, 1, s.slices(gradient(600, 0)));
  const float before = values(s.p)[5];
  at::Tensor g = gradient(600, 1);
  values(g)[5] = NAN;
  apply_update(rule, 1, 9, 1, s.slices(g));
  CHECK(values(s.p)[5] == before);
  CHECK(std::isfinite(s.largest[0][0]));
  CHECK(moment_map::of_unsigned()[s.codes[1][5]] == 0);
}

TEST_CASE("small parameters have moments in fp32, others a byte and a 64th for each value", "[8bit]") {
  chain model{"test", {{5}, element::i64}, cross_entropy()};
  model.add("", std::make_shared<embedding>(embedding_options{.vocabulary = 128, .context = 5, .width = 40}));
  model.add("", std::make_shared<head>(head_options{.vocabulary = 128, .width = 40}));
  const parameter_layout layout(model, 0, model.size());
  const moment_layout wide(layout, adamw({})), narrow(layout, adamw8bit({}));
  CHECK(wide.bytes(0) == byte_count{layout.state_elements() * sizeof(float)});
  std::size_t least = 0, end = 0;
  for (std::size_t i = 0; i < layout.parameters().size(); ++i) {
    const std::size_t n = layout.parameters()[i].elements;
    const moment_place& p = narrow.places(0)[i];
    CHECK(wide.places(0)[i].offset == layout.parameters()[i].state_offset * sizeof(float));
    CHECK(p.in_blocks == (n >= 4096));
    CHECK(p.offset >= end);
    const std::size_t bytes = p.in_blocks ? n + 4 * ((n + 255) / 256) : 4 * n;
    end = p.offset + bytes;
    least += bytes;
  }
  CHECK(narrow.bytes(0).value() >= end);
  CHECK(narrow.bytes(0).value() < least + 256 * layout.parameters().size());
  CHECK(narrow.bytes(0).value() * 2 < wide.bytes(0).value());
}

}  // namespace blockwise_update_test
