#include "models/parameter_layout.hpp"

#include "models/frozen/base_encoding.hpp"
#include "models/random.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hydra {
namespace {

/// Alignment in bytes. cuBLASLt chooses among its kernels by the alignment of its operands, up to this value; with
/// less, a weight's position in its shard, and so the cut, would affect the bits. A cache line and the widest vector
/// register are 64.
constexpr std::size_t alignment = 256;

constexpr std::size_t padded(std::size_t n, std::size_t step) noexcept { return (n + step - 1) / step * step; }

placed_parameter place(parameter_spec spec, std::size_t layer) {
  placed_parameter result;
  result.elements = static_cast<std::size_t>(spec.elements());
  result.name = std::move(spec.name);
  result.shape = std::move(spec.shape);
  result.layer = layer;
  result.initial = spec.initial;
  result.tied_to = std::move(spec.tied_to);
  result.averaging = spec.averaging;
  result.frozen = spec.frozen;
  result.stored = spec.stored;
  result.slice = std::move(spec.slice);
  return result;
}

/// The name that the initial values derive from: the parameter's own, or its owner's if it is a tied copy.
parameter_spec initial_source(const placed_parameter& p, const chain& model) {
  if (p.tied_to.empty())
    return {.name = p.name,
            .shape = p.shape,
            .initial = p.initial,
            .tied_to = {},
            .frozen = p.frozen,
            .stored = p.stored,
            .slice = p.slice};
  for (parameter_spec& candidate : model.parameters())
    if (candidate.name == p.tied_to) return std::move(candidate);
  refuse(fmt::format("\"{}\" is tied to \"{}\", which does not exist", p.name, p.tied_to));
}

float value_at(const initial_value& initial, std::uint64_t key, std::size_t i) {
  switch (initial.how) {
    case initial_value::kind::normal:
      return static_cast<float>(initial.value * random_normal(key, i));
    case initial_value::kind::uniform:
      return static_cast<float>(initial.value * (2 * random_uniform(key, i) - 1));
    case initial_value::kind::constant:
      break;
  }
  return static_cast<float>(initial.value);
}

/// A normal value takes about 40 ns: a large model is initialised on all cores; each value is a function of its index.
/// `first`: index of the first one.
void fill(std::span<float> values, const initial_value& initial, std::uint64_t key, std::size_t first) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>{0, values.size(), 4096}, [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) values[i] = value_at(initial, key, first + i);
  });
}

void begin(std::span<float> values, const parameter_spec& p, const chain& model, std::uint64_t seed) {
  if (model.weights() && model.weights()->read(p, values)) return;
  initialise_randomly(values, p, seed);
}

}  // namespace

std::vector<at::Tensor> leaves_of(std::span<const at::Tensor> values, std::span<const at::Tensor> gradients) {
  std::vector<at::Tensor> leaves;
  for (std::size_t i = 0; i < values.size(); ++i) {
    leaves.push_back(values[i].detach());
    if (gradients[i].defined()) leaves.back().requires_grad_(true).mutable_grad() = gradients[i];
  }
  return leaves;
}

void initialise(std::span<float> values, const parameter_spec& p, const chain& model, std::uint64_t seed) {
  begin(values, p, model, seed);
  round_as_stored(p.stored, values);
}

void initialise_randomly(std::span<float> values, const parameter_spec& p, std::uint64_t seed) {
  const std::uint64_t key = random_key(seed, whole_name(p.name));
  if (!p.slice) return fill(values, p.initial, key, 0);
  p.slice->for_each_run([&](std::size_t in_whole, std::size_t in_slice, std::size_t n) {
    fill(values.subspan(in_slice, n), p.initial, key, in_whole);
  });
}

parameter_layout::parameter_layout(const chain& model, std::size_t first, std::size_t last)
    : numbers_(model.numbers()) {
  for (std::size_t i = first; i < last; ++i) {
    for (parameter_spec& spec : model.parameters(i)) {
      placed_parameter& p = parameters_.emplace_back(place(std::move(spec), i));
      p.hidden = model.is_hidden(i);
      if (p.frozen) {
        p.offset = base_bytes_;
        base_bytes_ += padded(stored_bytes(p.stored, numbers_, p.elements), alignment);
        continue;
      }
      const std::size_t space = padded(p.elements, alignment / width_of(type()));
      p.offset = std::exchange(elements_, elements_ + space);
      if (p.trained()) p.state_offset = std::exchange(state_elements_, state_elements_ + space);
    }
  }
}

std::vector<at::Tensor> parameter_layout::views(const at::Tensor& flat, std::size_t layer) const {
  std::vector<at::Tensor> result;
  for (const placed_parameter& p : parameters_) {
    if (p.layer != layer) continue;
    at::Tensor& view = result.emplace_back();
    if (!p.frozen && flat.defined())
      view = flat.narrow(0, static_cast<std::int64_t>(p.offset), static_cast<std::int64_t>(p.elements)).view(p.shape);
  }
  return result;
}

void parameter_layout::initialise(std::span<float> flat, const chain& model, std::uint64_t seed) const {
  if (flat.size() != elements_)
    throw fault_error{fault_code::internal,
                      fmt::format("a buffer of {} elements for a layout of {}", flat.size(), elements_)};
  std::ranges::fill(flat, 0.0f);
  for (const placed_parameter& p : parameters_)
    if (!p.frozen) hydra::initialise(flat.subspan(p.offset, p.elements), initial_source(p, model), model, seed);
}

void parameter_layout::initialise_base(std::span<std::byte> base, const chain& model, std::uint64_t seed) const {
  if (base.size() != base_bytes().value())
    throw fault_error{fault_code::internal,
                      fmt::format("{} bytes for a base of {}", base.size(), base_bytes().value())};
  std::ranges::fill(base, std::byte{});
  std::vector<float> values;
  for (const placed_parameter& p : parameters_) {
    if (!p.frozen) continue;
    values.resize(p.elements);
    begin(values, initial_source(p, model), model, seed);
    store(p.stored, numbers_, values, base.subspan(p.offset, stored_bytes(p.stored, numbers_, p.elements)));
  }
}

}  // namespace hydra
