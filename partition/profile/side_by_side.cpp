#include "partition/profile/side_by_side.hpp"

#include <algorithm>

namespace hydra {

namespace {

chain_place place_of(const chain_profile& profile, std::size_t layer) {
  return layer < profile.places.size() ? profile.places[layer] : chain_place{};
}

bool is_side_by_side(const chain_profile& profile, std::size_t layer) {
  return !place_of(profile, layer).piece.whole();
}

/// The layer is the first one behind some that are side by side.
bool follows_pieces(const chain_profile& profile, std::size_t layer) {
  return layer > 0 && is_side_by_side(profile, layer - 1) && place_of(profile, layer - 1).piece.last();
}

byte_count inputs_of(const chain_profile& profile, std::size_t layer) {
  const auto own = profile.layers[layer].input;
  if (!follows_pieces(profile, layer)) {
    return own;
  }
  const auto last = place_of(profile, layer - 1);
  byte_count sum = last.adds_to_input() ? own : byte_count{};
  for (auto i = layer - last.piece.of; i < layer; ++i) {
    sum += profile.layers[i].output;
  }
  return sum;
}

}  // namespace

layer_reads reads_of(const chain_profile& profile, std::size_t layer) {
  const auto& own = profile.layers[layer];
  layer_reads reads{.inputs = inputs_of(profile, layer),
                    .upstreams = own.output,
                    .adds_inputs = follows_pieces(profile, layer)};
  const auto next = place_of(profile, layer + 1);
  if (const auto here = place_of(profile, layer); !here.piece.whole()) {
    reads.upstreams = profile.layers[layer + here.piece.of - here.piece.number].input;
    reads.takes_columns = true;
  } else if (!next.piece.whole()) {
    reads.adds_upstreams = true;
    reads.upstreams = own.output * next.piece.of;
    reads.skip = next.adds_to_input() ? own.input : byte_count{};
  }
  return reads;
}

const tensor_spec* joined_with(const chain_profile& profile, std::size_t layer) {
  const auto piece = place_of(profile, layer).piece;
  return piece.whole() ? nullptr : &profile.layers[layer + piece.of - piece.number].input_spec;
}

parameter_slice::range columns_of(const chain_profile& profile, std::size_t layer) {
  const auto [piece, join] = place_of(profile, layer);
  const auto own = [&](std::size_t i) { return profile.layers[i].output_spec.shape.back(); };
  std::int64_t first = 0;
  for (auto i = layer - piece.number; join == term_join::columns && i < layer; ++i) {
    first += own(i);
  }
  return {first, first + own(layer)};
}

std::vector<tensor_spec> terms_before(const chain_profile& profile, std::size_t layer) {
  std::vector<tensor_spec> all;
  if (follows_pieces(profile, layer)) {
    const auto [piece, join] = place_of(profile, layer - 1);
    const std::size_t first_term = join == term_join::sum ? 1 : 0;
    for (auto i = layer - piece.of + first_term; i < layer; ++i) {
      all.push_back(profile.layers[i].output_spec);
    }
  }
  return all;
}

bool joins_columns(const chain_profile& profile, std::size_t layer) {
  return follows_pieces(profile, layer) && place_of(profile, layer - 1).join == term_join::columns;
}

bool begins_shard(const chain_profile& profile, std::size_t layer) {
  return is_side_by_side(profile, layer) || follows_pieces(profile, layer) ||
         place_of(profile, layer + 1).adds_to_input() || (layer > 0 && layer == profile.meets);
}

std::vector<shard_group> groups_of(const chain_profile& profile, const std::vector<std::size_t>& cuts) {
  std::vector<shard_group> all;
  for (std::uint32_t s = 0; s < cuts.size(); ++s) {
    const auto place = place_of(profile, cuts[s]);
    if (!place.piece.whole() && place.piece.first()) {
      all.push_back({.first = s, .count = place.piece.of, .join = place.join});
    }
  }
  return all;
}

}  // namespace hydra
