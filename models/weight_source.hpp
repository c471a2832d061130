#pragma once
// Initial parameters of a chain that are not random: a checkpoint.

#include "models/layer.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace hydra {

/// Thread-safe because const.
class weight_source {
 public:
  virtual ~weight_source() = default;

  /// Fills `values` (the elements of `p`, row by row) with parameter `p`, given with its full name. False: there is no
  /// parameter of that name, and it is initialised randomly. Throws fault_error{bad_input} with the file if it has
  /// another shape.
  virtual bool read(const parameter_spec& p, std::span<float> values) const = 0;

  /// Identifies the weights, wherever they are stored: a run is resumed only with the same ones.
  virtual std::string identity() const = 0;

  /// Absolute path of the folder that they are read from. The identity may be that of a part of the values: those of two
  /// sources are the same for certain if both are equal.
  virtual std::filesystem::path folder() const = 0;
};

}  // namespace hydra
