#pragma once
// The devices that a run with a goal has chosen, in its folder: a run that is resumed uses the same ones, without
// choosing again, because its checkpoints have their cuts.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

/// `all`: the names of the workload's devices. Throws fault_error{io}.
void record_choice(const std::filesystem::path& run, const std::vector<std::string>& all,
                   const std::vector<std::size_t>& chosen);

/// Their places in `all`. Empty: nothing was recorded, or the workload has other devices by now.
std::vector<std::size_t> recorded_choice(const std::filesystem::path& run, const std::vector<std::string>& all);

}  // namespace hydra
