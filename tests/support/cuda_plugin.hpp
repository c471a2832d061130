#pragma once
// The CUDA plug-in beside the test program (bin/ and lib/hydra/), for tests that need a GPU.

#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace hydra::test {

/// HYDRA_CUDA_PLUGIN in the environment names another one. Throws fault_error{bad_input} if it was not built.
std::filesystem::path cuda_plugin_file();

/// Why tests cannot use a GPU here: the plug-in was not built, or what the plug-in reports as missing. Empty: they can.
std::string why_no_gpu();

/// A device of kind "cuda". Throws what the plug-in throws.
std::unique_ptr<device> make_gpu(const device_request& request);

/// How often the GPU double (tests/support/gpu_double) has counted something; empty: the GPU is a real one.
std::optional<std::uint64_t> counted_by_double(const char* what);

}  // namespace hydra::test
