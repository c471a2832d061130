#include "actors/admission/meeting_layer.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {

namespace {

std::string name_of(const chain& model, std::size_t layer) {
  auto name = model.at(layer).prefix;
  if (name.ends_with('.')) {
    name.pop_back();
  }
  return name;
}

/// Of the layers from the second one on, each once.
std::vector<std::string> names_behind_first(const chain& model) {
  std::vector<std::string> all;
  const auto first = name_of(model, 0);
  for (std::size_t i = 1; i < model.size(); ++i) {
    if (auto name = name_of(model, i); !name.empty() && name != first && (all.empty() || all.back() != name)) {
      all.push_back(std::move(name));
    }
  }
  return all;
}

bool is_piece(const chain& model, std::size_t layer) { return !model.at(layer).place.piece.whole(); }

std::size_t first_piece(const chain& model) {
  std::size_t layer = 0;
  while (layer < model.size() && !is_piece(model, layer)) {
    ++layer;
  }
  return layer;
}

}  // namespace

std::size_t meeting_layer(const chain& model, const std::string& name) {
  const auto names = names_behind_first(model);
  if (std::ranges::find(names, name) == names.end()) {
    refuse(fmt::format("no layer behind the first one has the name \"{}\"; those are: {}", name,
                       fmt::join(names, ", ")));
  }
  std::size_t layer = 0;
  while (name_of(model, layer) != name) {
    ++layer;
  }
  if (is_piece(model, layer) && model.at(layer).place.adds_to_input()) {
    refuse(fmt::format("replicas cannot meet at layer \"{}\", whose pieces side by side are added to what \"{}\" "
                       "reads: name that one, or leave out \"side_by_side\"",
                       name, name_of(model, layer - 1)));
  }
  if (const auto first = first_piece(model); first < layer) {
    const auto ways = first > 0 ? "name the first one that is in pieces, or one before it, or leave out" : "leave out";
    refuse(fmt::format("replicas cannot meet at layer \"{}\", because layers before it are in pieces side by side: {} "
                       "\"side_by_side\"",
                       name, ways));
  }
  return layer;
}

}  // namespace hydra
