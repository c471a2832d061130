#include "apps/examples/thread_device.hpp"

#include <hydra/plugin.hpp>

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_device<thread_device>(
          "cuda", "", {{{.name = "memory", .standard = hydra::byte_count{}, .required = true}}, {}})}};
  return &plugin;
}
