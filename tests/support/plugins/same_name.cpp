#include "tests/support/plugins/simple_policy.hpp"

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi, {hydra::offer_policy<hydra::test::first_candidate>("first-candidate", "as another plug-in")}};
  return &plugin;
}
