#pragma once
// 8-bit pixels -> numbers.

#include "models/data/data_options.hpp"
#include "models/data/image.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hydra {

/// (value / 255 - mean) / deviation of each channel, in tables.
class pixel_values {
 public:
  pixel_values() = default;
  /// Throws fault_error{bad_input} naming `data` unless there are as many means and deviations as channels, all finite
  /// and the deviations above 0.
  pixel_values(const pixel_scale& scale, std::int64_t channels, std::string_view data);

  float operator()(std::size_t channel, std::uint8_t value) const noexcept { return tables_[channel][value]; }

  /// Writes f32[channels, height, width], optionally mirrored left to right.
  void write(const image& from, bool mirrored, std::span<float> out) const;

 private:
  std::vector<std::array<float, 256>> tables_;
};

/// The scale, with ImageNet's numbers where it is empty.
pixel_scale with_defaults(pixel_scale scale, std::int64_t channels);

/// Whether a training sample is mirrored: half of them are.
bool is_mirrored(std::uint64_t seed, std::size_t index) noexcept;

}  // namespace hydra
