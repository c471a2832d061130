#include "runtime/plugin/plugin_table.hpp"

extern "C" const hydra_plugin* hydra_plugin_v1() { return nullptr; }
