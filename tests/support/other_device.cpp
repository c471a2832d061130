#include "tests/support/other_device.hpp"

#include "models/keyed_mask.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra::test {
namespace {

constexpr auto place = c10::DeviceType::PrivateUse1;

std::atomic<int> forbidden{0};

/// One device with one stream: launched work is complete.
struct guard final : c10::impl::NoOpDeviceGuardImpl<place> {
  c10::Device exchangeDevice(c10::Device) const override { return {place, 0}; }
  c10::Device getDevice() const override { return {place, 0}; }
  c10::Stream getStream(c10::Device) const noexcept override { return only(); }
  c10::Stream getNewStream(c10::Device, int) const override { return only(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return only(); }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }

 private:
  static c10::Stream only() noexcept { return c10::Stream{c10::Stream::DEFAULT, {place, 0}}; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, guard);

struct hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
};

/// With a name and hooks it counts as an accelerator, without which autograd refuses it.
const bool registered = [] {
  static hooks all;
  at::RegisterPrivateUse1HooksInterface(&all);
  c10::register_privateuse1_backend("elsewhere");
  return true;
}();

void require_no_waiting(const std::string& what) {
  TORCH_CHECK(forbidden == 0, what, " makes the host wait for the device");
}

bool is_there(const at::Tensor& t) { return t.defined() && t.device().type() == place; }

/// The same bytes as a tensor of the other type of device.
at::Tensor alias(const at::Tensor& t, at::Device device) {
  if (!t.defined()) return t;
  return at::for_blob(t.mutable_data_ptr(), t.sizes())
      .strides(t.strides())
      .deleter([keep = t.storage()](void*) {})
      .options(t.options().device(device).requires_grad(false))
      .target_device(device)
      .make_tensor();
}

at::Tensor here(const at::Tensor& t) { return alias(t, at::kCPU); }
at::Tensor there(const at::Tensor& t) { return alias(t, {place, 0}); }

/// Runs an operation's CPU kernel on the same bytes.
class borrowed_kernel {
 public:
  borrowed_kernel(const c10::OperatorHandle& op, torch::jit::Stack& stack) : op_{op}, stack_{stack} {}

  void run() {
    static const std::set<std::string> waiting{"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select",
                                               "aten::equal", "aten::is_nonzero", "aten::_unique2"};
    const auto& schema = op_.schema();
    if (waiting.contains(schema.name())) require_no_waiting(schema.name());
    const std::size_t first = stack_.size() - schema.arguments().size();
    for (std::size_t i = first; i < stack_.size(); ++i) stack_[i] = lent(std::move(stack_[i]));
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    op_.redispatchBoxed(c10::DispatchKeySet{c10::DispatchKey::CPU}, &stack_);
    for (std::size_t i = stack_.size() - schema.returns().size(); i < stack_.size(); ++i)
      stack_[i] = given_back(std::move(stack_[i]));
  }

 private:
  at::Tensor lent(const at::Tensor& t) {
    if (!t.defined()) return t;
    if (!is_there(t)) {
      TORCH_CHECK(t.dim() == 0, "a tensor on ", t.device(), " meets tensors of the device in ", op_.schema().name());
      return t;
    }
    lent_.emplace_back(t, t.numel() == 0 ? at::empty({0}, t.options().device(at::kCPU)) : here(t));
    return lent_.back().second;
  }

  c10::IValue lent(c10::IValue v) {
    if (v.isTensor()) return lent(v.toTensor());
    if (v.isDevice()) return at::Device{at::kCPU};
    if (!v.isTensorList()) return v;
    c10::List<at::Tensor> all;
    for (const at::Tensor& t : v.toTensorVector()) all.push_back(lent(t));
    return all;
  }

  at::Tensor given_back(const at::Tensor& t) const {
    for (const auto& [original, borrowed] : lent_)
      if (borrowed.is_same(t)) return original.numel() == 0 ? grown(original, there(t)) : original;
    return there(t);
  }

  /// An output without elements, of which the kernel has made one with some.
  static at::Tensor grown(const at::Tensor& original, const at::Tensor& larger) {
    original.unsafeGetTensorImpl()->set_storage_keep_dtype(larger.storage());
    original.unsafeGetTensorImpl()->set_sizes_and_strides(larger.sizes(), larger.strides(), larger.storage_offset());
    return original;
  }

  c10::IValue given_back(c10::IValue v) const {
    if (v.isTensor()) return given_back(v.toTensor());
    if (!v.isTensorList()) return v;
    c10::List<at::Tensor> all;
    for (const at::Tensor& t : v.toTensorVector()) all.push_back(given_back(t));
    return all;
  }

  const c10::OperatorHandle& op_;
  torch::jit::Stack& stack_;
  std::vector<std::pair<at::Tensor, at::Tensor>> lent_;
};

void borrow(const c10::OperatorHandle& op, torch::jit::Stack* stack) { borrowed_kernel{op, *stack}.run(); }

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return there(at::empty(size, at::TensorOptions{}.dtype(type), format));
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return there(at::empty_strided(size, stride, at::TensorOptions{}.dtype(type)));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (!is_there(to) && !non_blocking) require_no_waiting("a copy to the CPU");
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  (is_there(to) ? here(to) : to).copy_(is_there(from) ? here(from) : from);
  return to;
}

/// LibTorch resizes its result, which is not possible with borrowed bytes.
at::Tensor squared(const at::Tensor& a, const at::Tensor& b, std::int64_t reduction) {
  TORCH_CHECK(is_there(a) && is_there(b), "a loss of tensors that are elsewhere");
  return there(at::mse_loss(here(a), here(b), reduction));
}

/// LibTorch asks for these two by name where a device has no convolution of the usual kinds.
at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                    at::IntArrayRef output_padding, std::int64_t groups) {
  TORCH_CHECK(is_there(input) && is_there(weight) && !(bias && bias->defined()),
              "a convolution of tensors that are elsewhere");
  return there(
      at::convolution(here(input), here(weight), {}, stride, padding, dilation, transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolve_back(
    const at::Tensor& upstream, const at::Tensor& input, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
    std::int64_t groups, std::array<bool, 3> wanted) {
  TORCH_CHECK(is_there(upstream) && is_there(input) && is_there(weight), "a convolution of tensors that are elsewhere");
  const auto [of_input, of_weight, of_bias] =
      at::convolution_backward(here(upstream), here(input), here(weight), at::OptionalIntArrayRef{}, stride, padding,
                               dilation, transposed, output_padding, groups, wanted);
  return {there(of_input), there(of_weight), there(of_bias)};
}

std::int64_t attention_kind(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& mask, double dropout, bool causal,
                            std::optional<double> scale, bool grouped) {
  return at::_fused_sdp_choice(here(q), here(k), here(v), mask ? std::optional{here(*mask)} : mask, dropout, causal,
                               scale, grouped);
}

at::Tensor mask(const at::Tensor& input, double p, std::int64_t key) {
  return there(keyed_mask(here(input), p, static_cast<std::uint64_t>(key)));
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&borrow>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("mse_loss", TORCH_FN(squared));
  library.impl("_copy_from", TORCH_FN(copy_from));
  library.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("convolution_overrideable", TORCH_FN(convolve));
  library.impl("convolution_backward_overrideable", TORCH_FN(convolve_back));
  library.impl("_fused_sdp_choice", TORCH_FN(attention_kind));
}

TORCH_LIBRARY_IMPL(hydra, PrivateUse1, library) { library.impl("keyed_mask", TORCH_FN(mask)); }

}  // namespace

at::Tensor to_other_device(const at::Tensor& on_cpu) { return on_cpu.to(at::Device{place, 0}); }
at::Tensor to_cpu(const at::Tensor& t) { return t.to(at::kCPU); }

no_waiting::no_waiting() { ++forbidden; }
no_waiting::~no_waiting() { --forbidden; }

}  // namespace hydra::test
