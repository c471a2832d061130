#include "models/optimizer/tensor_update.hpp"

#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <optional>

namespace hydra {
namespace {

using optional_tensor = std::optional<at::Tensor>;

/// Elements that one thread updates; the update is elementwise, so any split gives the same bits.
constexpr std::int64_t grain = 1 << 16;

template <class T>
std::span<T> span_of(void* data, std::int64_t begin, std::int64_t end) {
  return data ? std::span(static_cast<T*>(data) + begin, static_cast<std::size_t>(end - begin)) : std::span<T>{};
}

void* data_of(const optional_tensor& t) { return t ? t->mutable_data_ptr() : nullptr; }

void update_on_cpu(const at::Tensor& parameters, const at::Tensor& gradients, const optional_tensor& first,
                   const optional_tensor& second, const optional_tensor& copy, c10::ArrayRef<double> constants) {
  const update_constants c = constants_from(constants.data());
  at::parallel_for(0, parameters.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
    apply_update(c, update_slices{.parameters = span_of<float>(parameters.mutable_data_ptr(), begin, end),
                                  .gradients = span_of<float>(gradients.mutable_data_ptr(), begin, end),
                                  .first_moment = span_of<float>(data_of(first), begin, end),
                                  .second_moment = span_of<float>(data_of(second), begin, end),
                                  .copy = span_of<std::uint16_t>(data_of(copy), begin, end)});
  });
}

bool fits(const at::Tensor& t, at::ScalarType type, std::int64_t n) {
  return t.defined() && t.scalar_type() == type && t.numel() == n && t.is_contiguous();
}

void require_fitting(update_loop rule, const update_tensors& t) {
  const auto n = t.parameters.defined() ? t.parameters.numel() : 0;
  const int moments = moments_of(rule);
  const bool good = is_elementwise(rule) && fits(t.parameters, at::kFloat, n) && fits(t.gradients, at::kFloat, n) &&
                    (moments < 1 || fits(t.first_moment, at::kFloat, n)) &&
                    (moments < 2 || fits(t.second_moment, at::kFloat, n)) &&
                    (!t.copy.defined() || fits(t.copy, at::kBFloat16, n));
  if (!good) {
    throw fault_error{fault_code::internal,
                      fmt::format("an update of {} parameters was given other tensors than it needs", n)};
  }
}

optional_tensor if_defined(const at::Tensor& t) { return t.defined() ? optional_tensor{t} : std::nullopt; }

}  // namespace

// In the file of the function that is called, so that it is linked into every program that uses it.
TORCH_LIBRARY_FRAGMENT(hydra, library) {
  library.def(
      "update_(Tensor(a!) parameters, Tensor gradients, Tensor(b!)? first, Tensor(c!)? second, Tensor(d!)? copy, "
      "float[] constants) -> ()");
}
TORCH_LIBRARY_IMPL(hydra, CPU, library) { library.impl("update_", TORCH_FN(update_on_cpu)); }

void apply_update(const update_constants& constants, const update_tensors& t) {
  static const auto operation =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("hydra::update_", "")
          .typed<void(const at::Tensor&, const at::Tensor&, const optional_tensor&, const optional_tensor&,
                      const optional_tensor&, c10::ArrayRef<double>)>();
  require_fitting(constants.rule, t);
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const update_numbers numbers = numbers_of(constants);
  try {
    operation.call(t.parameters, t.gradients, if_defined(t.first_moment), if_defined(t.second_moment),
                   if_defined(t.copy), numbers);
  } catch (const c10::NotImplementedError&) {
    throw fault_error{fault_code::internal,
                      fmt::format("updates have no kernel for device {}: the plug-in of the device must register one "
                                  "for hydra::update_, or optimizer_on must be \"host\"",
                                  t.parameters.device().str())};
  }
}

}  // namespace hydra
