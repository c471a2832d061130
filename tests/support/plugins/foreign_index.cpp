#include "tests/support/plugins/simple_policy.hpp"

namespace {

class foreign_index final : public hydra::test::first_candidate {
 public:
  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    return candidates.size();
  }
};

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {hydra::offer_policy<foreign_index>("foreign-index", "")}};
  return &plugin;
}
