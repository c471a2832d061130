#pragma once
// Plug-ins that are part of Hydra: lib/hydra/libhydra_NAME.so, loaded when they are needed.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

/// The folders that the loader searches for the libraries of this program, those of its run path first.
std::vector<std::filesystem::path> loader_folders();

/// The folders that are searched: ../lib*/hydra next to a program (`hydra` itself, in the build tree or installed), and
/// those named "hydra" that the loader searches (a program that links hydra::hydra has the folder of that Hydra in its
/// run path).
std::vector<std::filesystem::path> own_plugin_folders(
    const std::filesystem::path& program = "/proc/self/exe",
    const std::vector<std::filesystem::path>& searched = loader_folders());

/// The file in the first folder that has it. Throws fault_error{bad_input} if none has it; the text says why, as far as
/// known.
std::filesystem::path find_own_plugin(const std::string& name, const std::vector<std::filesystem::path>& folders);

/// Names of the plug-ins that a Hydra may have: "cuda".
const std::vector<std::string>& own_plugin_names();

}  // namespace hydra
