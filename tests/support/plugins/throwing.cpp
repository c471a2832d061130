#include "tests/support/plugins/simple_policy.hpp"

#include <stdexcept>

namespace {

/// After some good decisions.
class throwing final : public hydra::test::first_candidate {
 public:
  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate>,
                                    const hydra::policy_view&) override {
    if (++calls_ > 3) throw std::runtime_error("the stars are not right");
    return 0;
  }

 private:
  int calls_ = 0;
};

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {hydra::offer_policy<throwing>("throwing", "")}};
  return &plugin;
}
