#include "models/moment_layout.hpp"

#include "models/optimizer/parameter_rule.hpp"

namespace hydra {
namespace {

std::size_t bytes_of(const moment_place& p) {
  constexpr std::size_t alignment = 256;  // as in parameter_layout.cpp
  const std::size_t bytes =
      p.in_blocks ? moment_blocks(p.elements) * sizeof(float) + p.elements : p.elements * sizeof(float);
  return (bytes + alignment - 1) / alignment * alignment;
}

template <class T>
std::span<T> values_in(std::span<std::byte> buffer, std::size_t offset, std::size_t n) {
  return {reinterpret_cast<T*>(buffer.subspan(offset, n * sizeof(T)).data()), n};
}

}  // namespace

/// Rules that devices step too have their moments where those expect them.
moment_layout::moment_layout(const parameter_layout& layout, const update_options& rule)
    : buffers_(static_cast<std::size_t>(moment_buffers(rule))) {
  const bool uniform = is_elementwise(rule.kind);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    auto& [places, bytes] = buffers_[i];
    for (const placed_parameter& p : layout.parameters()) {
      moment_place& place = places.emplace_back();
      if (!p.trained()) continue;
      const update_kind own = kind_for(rule.kind, p.form());
      place = {.offset = uniform ? p.state_offset * sizeof(float) : bytes,
               .elements = moment_values(own, p.form())[i],
               .in_blocks = own == update_kind::adamw8bit};
      bytes += bytes_of(place);
    }
    if (uniform) bytes = layout.state_elements() * sizeof(float);
  }
}

std::span<float> floats_at(const moment_place& p, std::span<std::byte> buffer) {
  return p.in_blocks ? std::span<float>{} : values_in<float>(buffer, p.offset, p.elements);
}

block_moment blocks_at(const moment_place& p, std::span<std::byte> buffer) {
  if (!p.in_blocks) return {};
  const std::size_t blocks = moment_blocks(p.elements);
  return {.codes = values_in<std::uint8_t>(buffer, p.offset + blocks * sizeof(float), p.elements),
          .largest = values_in<float>(buffer, p.offset, blocks)};
}

}  // namespace hydra
