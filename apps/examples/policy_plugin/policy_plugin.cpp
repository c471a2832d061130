// A scheduling policy as a plug-in: nothing of Hydra is built again, nothing of it is linked.

#include <hydra/plugin.hpp>

#include <algorithm>

/// Shortest remaining time first among the models that have more than `patience` seconds of work left on this device;
/// with the standard value 0 among all.
class shortest_first final : public hydra::policy {
 public:
  explicit shortest_first(const hydra::policy_options& o) : patience_{hydra::from_seconds(o.values.at("patience"))} {}

  std::string name() const override { return "shortest-first"; }

  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    const auto order = [this](const hydra::candidate& c) { return std::pair{c.remaining < patience_, c.remaining}; };
    const auto first = std::ranges::min_element(candidates, {}, order);  // equal ones: the lowest model id
    return static_cast<std::size_t>(first - candidates.begin());
  }

 private:
  hydra::duration patience_;
};

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_policy<shortest_first>("shortest-first", "small models finish early, the longest one ends alone",
                                           {{"patience", 0, 0, 1e9, "models with less work left (s) come last"}})}};
  return &plugin;
}
