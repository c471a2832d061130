#pragma once
// Command lines that a user can copy.

#include <string>

namespace hydra::apps {

/// One word of a shell's command line, in quotes where it needs them: "w.toml", "'a b'".
std::string shell_word(const std::string& text);

}  // namespace hydra::apps
