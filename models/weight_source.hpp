#pragma once
// Initial parameters of a chain that are not random: a checkpoint.

#include "models/fwd.hpp"
#include "models/layer.hpp"

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

  /// Fills `values` with some rows (of the first dimension) of parameter `p`, as read() does. False: it has to read all
  /// of it, and has read nothing.
  virtual bool read_rows(const parameter_spec& /*p*/, parameter_slice::range /*rows*/,
                         std::span<float> /*values*/) const {
    return false;
  }

  /// Identifies the weights, wherever they are stored: a run is resumed only with the same ones.
  virtual std::string identity() const = 0;

  /// The files that they are read from, for messages; empty if there are none.
  virtual std::string files() const { return {}; }

  /// Where the values of a parameter, by its full name, come from: the same for two sources only if they have the same
  /// values. Empty if there is no parameter of that name.
  virtual std::string origin(const std::string& parameter) const = 0;

  /// Whether a parameter, by its full name, begins with other values than the folder of the checkpoint has: with rows
  /// of new tokens, or what a stored adapter has for it. An adapter is stored with these, though it does not train
  /// them.
  virtual bool differs_from_base(const std::string& /*parameter*/) const { return false; }

  /// Whether parameter `p` begins with the values of a tensor in a file, which are compared in pieces. False, too,
  /// where that is not known without holding all of them.
  virtual bool has_values(const parameter_spec& /*p*/, const stored_tensor& /*values*/) const { return false; }
};

}  // namespace hydra
