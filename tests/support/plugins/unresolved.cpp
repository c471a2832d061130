#include "tests/support/plugins/simple_policy.hpp"

namespace hydra::test {
int function_of_nobody(int);
}

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {}};
  return hydra::test::function_of_nobody(1) > 0 ? &plugin : nullptr;
}
