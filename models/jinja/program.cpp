#include "models/jinja/program.hpp"

#include "models/jinja/complaint.hpp"
#include "models/jinja/parser.hpp"
#include "models/jinja/renderer.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra::jinja {

program::program(std::string name, std::string_view source) : name_(std::move(name)) {
  try {
    tree_ = std::make_shared<const block>(parse(source));
  } catch (const complaint& c) {
    refuse(fmt::format("{}: line {}: {}", name_, c.line, c.text));
  }
  marks_ = has_generation(*tree_);
}

rendering program::render(const value_map& given) const {
  renderer by{*tree_, given};
  try {
    return by.run();
  } catch (const complaint& c) {
    refuse(fmt::format("{}: line {}: {}", name_, by.at(), c.text));
  }
}

}  // namespace hydra::jinja
