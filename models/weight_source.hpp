#pragma once
// Where the parameters of a chain come from when they are not random: a checkpoint.

#include "models/layer.hpp"

#include <span>
#include <string>

namespace hydra {

/// Thread-safe because const.
class weight_source {
 public:
  virtual ~weight_source() = default;

  /// Fills `values` (the elements of `p`, row by row) with parameter `p`, whose name is full. False: there is none of that
  /// name, and the parameter begins random. Throws fault_error{bad_input} with the file if it has another shape.
  virtual bool read(const parameter_spec& p, std::span<float> values) const = 0;

  /// Tells weights from others, wherever they lie: a run is resumed only with the same ones.
  virtual std::string identity() const = 0;
};

}  // namespace hydra
