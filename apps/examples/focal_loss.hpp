#pragma once
// A loss written from models/loss.hpp: the focal loss of Lin et al. 2017, which looks more at what is still wrong.
// tests/apps/examples/conformance.cpp runs the conformance suite on it.

#include "models/loss.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

/// Sum over the targets of -(1 - p)^gamma * log p, p being the probability of the right class. Output fp32
/// [samples, classes], targets i64 [samples]. With gamma 0 it is cross entropy.
class focal_loss final : public hydra::loss {
 public:
  explicit focal_loss(double gamma) : gamma_{gamma} {}

  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    require_class_for_each_row(output, targets);
    const at::Tensor log_p = output.log_softmax(-1).gather(-1, targets.unsqueeze(-1));
    const at::Tensor doubt = log_p.exp().neg().add(1).pow(gamma_);
    return doubt.mul(log_p).sum().neg();
  }

  std::string name() const override { return fmt::format("focal({})", gamma_); }

  // Evaluations tell the accuracy, too.
  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    require_class_for_each_row(output, targets);
    return output.argmax(-1).eq(targets).sum().to(at::kFloat);
  }
  bool counts_correct() const override { return true; }

  /// A target of -100 is not left out: there is no class -100 to gather.
  bool masks() const override { return false; }

 private:
  /// Checked because torch would gather from the first rows.
  void require_class_for_each_row(const at::Tensor& output, const at::Tensor& targets) const {
    if (output.dim() == 2 && targets.dim() == 1 && targets.size(0) == output.size(0)) return;
    throw hydra::fault_error{
        hydra::fault_code::bad_input,
        fmt::format("{} takes an output [samples, classes] and targets [samples], not [{}] and [{}]", name(),
                    fmt::join(output.sizes(), ", "), fmt::join(targets.sizes(), ", "))};
  }

  double gamma_;
};
