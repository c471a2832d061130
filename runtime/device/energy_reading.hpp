#pragma once
// Energy as a meter has counted it.

namespace hydra {

struct energy_reading {
  double joules = 0;       ///< since some moment: only differences mean something
  const char* meter = "";  ///< "rapl", "nvml"
};

}  // namespace hydra
