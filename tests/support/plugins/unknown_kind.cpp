#include "tests/support/plugins/simple_policy.hpp"

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static auto item = hydra::offer_policy<hydra::test::first_candidate>("oracle", "");
  item.kind = static_cast<hydra::plugin_kind>(77);
  static const hydra_plugin plugin{hydra::plugin_abi, {item}};
  return &plugin;
}
