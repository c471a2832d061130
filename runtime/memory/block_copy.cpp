#include "runtime/memory/block_copy.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/from_blob.h>

#include <utility>

namespace hydra {

namespace {

/// The first `n` host bytes as a tensor, without copying.
at::Tensor on_host(host_block& home, std::int64_t n) {
  if (home.size().value() < static_cast<std::uint64_t>(n)) {
    throw fault_error(fault_code::internal, "a copy of " + to_string(byte_count{static_cast<std::uint64_t>(n)}) +
                                                " does not fit its block of " + to_string(home.size()) +
                                                " on the host");
  }
  return at::from_blob(home.data(), {n}, at::TensorOptions().dtype(at::kByte));
}

}  // namespace

std::function<void()> copy_in(host_block_ptr home, byte_count n, device_block_ptr to, std::string torch_device) {
  return [home = std::move(home), n, to = std::move(to), where = std::move(torch_device)] {
    const at::NoGradGuard no_grad;
    const auto bytes = static_cast<std::int64_t>(n.value());
    const auto source = on_host(*home, bytes);
    to->tensor = at::_ops::empty_memory_format::call(c10::SymIntArrayRef{c10::SymInt(bytes)}, at::kByte, std::nullopt,
                                                     at::Device(where), std::nullopt, std::nullopt);
    to->tensor.copy_(source, /*non_blocking=*/true);
  };
}

std::function<void()> copy_over(host_block_ptr home, device_block_ptr to) {
  return [home = std::move(home), to = std::move(to)] {
    const at::NoGradGuard no_grad;
    to->tensor.copy_(on_host(*home, static_cast<std::int64_t>(to->tensor.nbytes())), /*non_blocking=*/true);
  };
}

std::function<void()> copy_out(device_block_ptr from, host_block_ptr home) {
  return [from = std::move(from), home = std::move(home)] {
    const at::NoGradGuard no_grad;
    auto target = on_host(*home, static_cast<std::int64_t>(from->tensor.nbytes()));
    target.copy_(from->tensor.flatten().view(at::kByte), /*non_blocking=*/true);
  };
}

std::function<void()> copy_for_nothing(device_block_ptr from, std::shared_ptr<std::vector<std::byte>> into) {
  return [from = std::move(from), into = std::move(into)] {
    const at::NoGradGuard no_grad;
    if (into->size() < from->tensor.nbytes()) into->resize(from->tensor.nbytes());
    const auto bytes = static_cast<std::int64_t>(from->tensor.nbytes());
    auto target = at::from_blob(into->data(), {bytes}, at::TensorOptions().dtype(at::kByte));
    target.copy_(from->tensor.flatten().view(at::kByte), /*non_blocking=*/true);
  };
}

}  // namespace hydra
