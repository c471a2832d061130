#pragma once
// How much a run tells on stderr.

namespace hydra {

enum class verbosity { quiet, normal, debug };

}  // namespace hydra
