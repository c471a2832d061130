#pragma once
// The parameters of a piece, from those of the whole layer.

#include "models/layer.hpp"
#include "models/parameter_slice.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hydra {

/// Collects them in order. The only piece of a layer has the whole ones.
class piece_parameters {
 public:
  /// `prefix`: of the layer in its chain, for add_shared().
  explicit piece_parameters(const piece_place& piece, std::string prefix = {});

  /// As it is: only this piece has it.
  void add(parameter_spec p);
  /// All pieces compute with it: those after the first one have copies.
  void add_shared(parameter_spec p);
  /// Of one of its dimensions these parts.
  void add_part(parameter_spec p, std::size_t dimension, const std::vector<parameter_slice::range>& parts);

  std::vector<parameter_spec> take() { return std::move(all_); }

 private:
  piece_place piece_;
  std::string prefix_;
  std::vector<parameter_spec> all_;
};

}  // namespace hydra
