#include <hydra/plugin.hpp>

extern "C" int stub_one();

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {}};
  return stub_one() > 0 ? &plugin : nullptr;
}
