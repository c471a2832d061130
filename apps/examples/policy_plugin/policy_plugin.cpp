// A scheduling policy as a plug-in: nothing of Hydra is built again, nothing of it is linked.

#include <hydra/plugin.hpp>

#include <algorithm>

/// Shortest remaining time first. A shard that is on the device already counts as `bonus` seconds less.
class shortest_first final : public hydra::policy {
 public:
  explicit shortest_first(const hydra::policy_options& o) : bonus_{hydra::from_seconds(o.values.at("bonus"))} {}

  std::string name() const override { return "shortest-first"; }

  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    const auto length = [this](const hydra::candidate& c) {
      return c.remaining - (c.hit ? bonus_ : hydra::duration{});
    };
    const auto shortest = std::ranges::min_element(candidates, {}, length);  // equal ones: the lowest model id
    return static_cast<std::size_t>(shortest - candidates.begin());
  }

 private:
  hydra::duration bonus_;
};

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_policy<shortest_first>("shortest-first", "small models finish early, the longest one ends alone",
                                           {{.name = "bonus",
                                             .standard = 0.0,
                                             .help = "of a shard that is on the device, in seconds",
                                             .range = {0, 3600}}})}};
  return &plugin;
}
