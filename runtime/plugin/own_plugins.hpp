#pragma once
// Plug-ins that are part of Hydra: lib/hydra/libhydra_NAME.so, loaded when they are needed.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

/// The folders that are searched: ../lib*/hydra next to a program (`hydra` itself, in the build tree or installed), and
/// folders named "hydra" in its run path (a program that links hydra::hydra has the folder of that Hydra there).
std::vector<std::filesystem::path> own_plugin_folders(const std::filesystem::path& program = "/proc/self/exe");

/// The file in the first folder that has it. Throws fault_error{bad_input} if none has it; the text says why, as far as
/// known.
std::filesystem::path find_own_plugin(const std::string& name, const std::vector<std::filesystem::path>& folders);

/// Names of the plug-ins that a Hydra may have: "cuda".
const std::vector<std::string>& own_plugin_names();

}  // namespace hydra
