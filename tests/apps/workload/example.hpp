#pragma once
// A small workload to modify, and the reader's messages about it.

#include "apps/workload/workload.hpp"

#include <string>

namespace hydra::apps {

/// Tests name its lines by number.
inline const std::string example = R"([run]
seed = 7

[[device]]
kind = "cpu"
memory = "24MiB"

[data.language]
kind = "synthetic-language"

[[model]]
name = "gpt"
chain = { family = "gpt2", layers = 2, width = 8, heads = 2, context = 4 }
data = "language"
batch_size = 4
steps = 3
optimizer = { learning_rate = 1e-3 }
)";

/// The example with `part` (which must be there) replaced.
std::string bent(const std::string& part, const std::string& by);

/// The reader's message about a text called "w.toml"; empty if it is accepted.
std::string refusal(const std::string& text);

}  // namespace hydra::apps
