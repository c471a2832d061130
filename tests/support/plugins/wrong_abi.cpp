#include "runtime/plugin/plugin_table.hpp"

/// Everything behind the first member is another program's: reading it would crash.
extern "C" const hydra_plugin* hydra_plugin_v1() {
  struct other_table {
    const char* abi;
    void* rest;
  };
  static const other_table table{"hydra 99.0.0, of another world", reinterpret_cast<void*>(1)};
  return reinterpret_cast<const hydra_plugin*>(&table);
}
