#pragma once
// The search of a node: the coordinator has its rule.

#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_settings.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Passes results on, and decides nothing: decisions come by session::decided().
class asked_rule final : public search_rule {
 public:
  explicit asked_rule(std::function<void(const trial_result&)> ask) : ask_(std::move(ask)) {}

  std::string describe() const override { return "asked: the coordinator decides"; }
  /// Those that are added later are not known.
  bool has(const std::string& /*model*/) const override { return true; }
  std::vector<trial_decision> result(const trial_result& arrived) override {
    ask_(arrived);
    return {};
  }
  std::vector<trial_decision> ended(const std::string& /*trial*/) override { return {}; }

 private:
  std::function<void(const trial_result&)> ask_;
};

/// `search`, which has a rule, as a node's session needs it. `ask`: node_place::evaluated.
inline search_settings asked_search(search_settings search, std::function<void(const trial_result&)> ask) {
  search.kind = search_kind::own;
  search.make = [ask = std::move(ask)](const search_settings&) { return std::make_unique<asked_rule>(ask); };
  return search;
}

}  // namespace hydra
