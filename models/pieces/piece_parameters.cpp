#include "models/pieces/piece_parameters.hpp"

#include <utility>

namespace hydra {

piece_parameters::piece_parameters(const piece_place& piece, std::string prefix)
    : piece_(piece), prefix_(std::move(prefix)) {}

void piece_parameters::add(parameter_spec p) { all_.push_back(std::move(p)); }

void piece_parameters::add_shared(parameter_spec p) {
  if (!piece_.first()) {
    if (p.tied_to.empty()) p.tied_to = prefix_ + p.name;
    p.name = piece_name(p.name, piece_);
  }
  add(std::move(p));
}

void piece_parameters::add_part(parameter_spec p, std::size_t dimension,
                                const std::vector<parameter_slice::range>& parts) {
  if (piece_.of > 1) {
    p.slice = parameter_slice{p.shape, dimension, parts};
    p.shape = p.slice->shape();
    p.name = piece_name(p.name, piece_);
    if (!p.tied_to.empty()) p.tied_to = piece_name(p.tied_to, piece_);
  }
  add(std::move(p));
}

}  // namespace hydra
