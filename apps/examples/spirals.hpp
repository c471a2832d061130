#pragma once
// A source of data written from models/data_source.hpp: points of two spirals, computed when they are read.
// tests/apps/examples/conformance.cpp runs the conformance suite on it.

#include "models/data_source.hpp"

#include <cmath>
#include <cstring>
#include <numbers>

/// Two interleaved spirals in the plane; the class is the arm. Sample i is a function of i, so that reading it again,
/// in whatever order and from whatever thread, gives the same.
class spirals final : public hydra::data_source {
 public:
  std::size_t samples(hydra::split part) const override { return part == hydra::split::train ? 1000 : 200; }
  hydra::tensor_spec sample_input() const override { return {{2}, hydra::element::f32}; }
  hydra::tensor_spec sample_target() const override { return {{}, hydra::element::i64}; }
  std::int64_t classes() const override { return 2; }
  std::string describe() const override { return "two spirals"; }

  std::size_t read(hydra::split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override {
    const auto arm = static_cast<std::int64_t>(index % 2);
    const double shift = part == hydra::split::train ? 0.0 : 0.5;  // validation points are between those of training
    const double along = (static_cast<double>(index) + shift) / static_cast<double>(samples(part));
    const double angle = 3 * std::numbers::pi * along + std::numbers::pi * static_cast<double>(arm);
    const float point[] = {static_cast<float>(along * std::cos(angle)), static_cast<float>(along * std::sin(angle))};
    std::memcpy(input.data(), point, sizeof point);
    std::memcpy(target.data(), &arm, sizeof arm);
    return 1;  // one target that counts
  }
};
