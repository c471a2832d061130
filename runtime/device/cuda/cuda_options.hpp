#pragma once
// Options of a CUDA device in a workload.

#include "runtime/device/device_request.hpp"
#include "runtime/device/precision.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hydra {

enum class pool_kind { arena, expandable };

struct cuda_options {
  std::string name;                     ///< of the logical device: "cuda:0"
  int index = 0;                        ///< of the GPU
  std::string memory{};                 ///< "24GiB", "60%"; empty: 90 % of what is free
  precision numbers = precision::fp32;
  precision gradients = precision::fp32;  ///< when they are copied to the host
  bool tf32 = false;
  pool_kind pool = pool_kind::arena;
  std::optional<byte_count> context{};  ///< reserved for the driver's context; empty: as measured
  device_use use = device_use::run;
};

/// The keys of [[device]] kind = "cuda".
std::vector<option> cuda_option_list();

/// Throws fault_error{bad_input} of complete().
cuda_options read_cuda_options(const device_request& request);

/// Bytes of a budget: a size, a share of `total` ("60%"), or 90 % of `free` if empty. Throws fault_error{bad_input} if
/// that is more than is free, or the text is not valid.
byte_count memory_budget(const std::string& device, const std::string& memory, byte_count free, byte_count total);

}  // namespace hydra
