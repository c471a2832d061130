#pragma once
// The CUDA plug-in beside the test program (bin/ and lib/hydra/), for tests that need a GPU.

#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace hydra::test {

/// Throws fault_error{bad_input} if it was not built.
std::filesystem::path cuda_plugin_file();

/// Why tests cannot use a GPU here: the plug-in was not built, or what the plug-in reports as missing. Empty: they can.
std::string why_no_gpu();

/// A device of kind "cuda". Throws what the plug-in throws.
std::unique_ptr<device> make_gpu(const device_request& request);

}  // namespace hydra::test
