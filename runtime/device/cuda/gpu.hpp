#pragma once
// The GPUs of this machine.

#include "runtime/base/bytes.hpp"

#include <string>
#include <vector>

namespace hydra {

struct gpu_facts {
  std::string name;      ///< "NVIDIA H200"
  byte_count total;
  byte_count free;       ///< now
  byte_count context;    ///< what the driver has allocated for this process but not for tensors, including `growth`
  byte_count growth;     ///< by how much the context may still grow
};

/// The number of GPUs. Throws fault_error{bad_input} that says what is missing: a driver, or a GPU.
int count_gpus();

/// Its PCI bus id: "0000:01:00.0".
std::string bus_of(int index);

/// Creates this process's context on the GPU, if there is none; the size of the context is measured then and
/// remembered. Throws fault_error{bad_input} for a GPU that does not exist.
gpu_facts look_at_gpu(int index);

/// A line for each GPU; creates no context. Throws as count_gpus.
std::vector<std::string> describe_gpus();

}  // namespace hydra
