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
  byte_count context;    ///< what the driver took for this process and not for tensors, and `growth`
  byte_count growth;     ///< of the context: what it may still take
};

/// How many GPUs there are. Throws fault_error{bad_input} saying what is missing: a driver, or a GPU.
int count_gpus();

/// Makes this process's context on the GPU, if it has none; its size is measured then, and told again later. Throws fault_error{bad_input} for a GPU that is not there.
gpu_facts look_at_gpu(int index);

/// A line for each GPU, without a context. Throws as count_gpus.
std::vector<std::string> describe_gpus();

}  // namespace hydra
