#pragma once
// How two chains differ, by what fingerprint() says of them: of hundreds of characters the few that are others.

#include <string>

namespace hydra {

/// "4 x llama block: eps=1e-05 (saved), eps=0.01 (now); 1 x rms head: ..."; empty if they are equal.
std::string difference_of_chains(const std::string& saved, const std::string& now);

}  // namespace hydra
