#include "runtime/plugin_table.hpp"

extern "C" const hydra_plugin* hydra_plugin_v1() { return nullptr; }
