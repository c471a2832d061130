#pragma once
// Data: samples by index. Position in the data is the step number, so it restores itself.

#include "models/tensor_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hydra {

enum class split : std::uint8_t { train, validation };

/// A finite set of samples. Thread-safe after construction. To add one, write a class like this (CONTRIBUTING.md).
class data_source {
 public:
  virtual ~data_source() = default;

  virtual std::size_t samples(split part) const = 0;
  virtual tensor_spec sample_input() const = 0;
  virtual tensor_spec sample_target() const = 0;
  /// Number of classes a target may take (vocabulary of a language model).
  virtual std::int64_t classes() const = 0;

  /// Writes sample `index` (raw bytes of the specs above); returns the number of targets that count.
  virtual std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                           std::span<std::byte> target) const = 0;

  /// For messages: "text corpus.txt".
  virtual std::string describe() const = 0;

  /// The smallest loss any model can reach on average (the exact conditional entropy), where it is known.
  virtual std::optional<double> loss_floor() const { return std::nullopt; }
};

}  // namespace hydra
