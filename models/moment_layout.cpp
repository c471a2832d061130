#include "models/moment_layout.hpp"

#include <algorithm>

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

/// Rules with moments in fp32 have them where devices, which step them too, expect them.
moment_layout::moment_layout(const parameter_layout& layout, update_kind kind) {
  const bool in_fp32 = kind != update_kind::adamw8bit;
  for (const placed_parameter& p : layout.parameters()) {
    moment_place& place = places_.emplace_back();
    if (!p.trained()) continue;
    place = {.offset = in_fp32 ? p.state_offset * sizeof(float) : bytes_,
             .elements = p.elements,
             .in_blocks = kind_for(kind, p.elements) == update_kind::adamw8bit};
    bytes_ += bytes_of(place);
  }
  if (in_fp32) bytes_ = layout.state_elements() * sizeof(float);
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
