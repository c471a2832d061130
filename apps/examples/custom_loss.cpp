// A loss of one's own: the focal loss of Lin et al. 2017, which looks more at what is still wrong.

#include <hydra/hydra.hpp>

#include <ATen/ops/exp.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsub.h>
#include <fmt/format.h>

using namespace hydra::literals;

/// Sum over the targets of -(1 - p)^gamma * log p, p being the probability of the right class. Output fp32
/// [samples, classes], targets i64 [samples]. With gamma 0 it is cross entropy.
class focal_loss final : public hydra::loss {
 public:
  explicit focal_loss(double gamma) : gamma_{gamma} {}

  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    const at::Tensor log_p = at::log_softmax(output, -1).gather(-1, targets.unsqueeze(-1));
    const at::Tensor doubt = at::pow(at::rsub(at::exp(log_p), 1), gamma_);
    return doubt.mul(log_p).sum().neg();
  }

  std::string name() const override { return fmt::format("focal({})", gamma_); }

  // Evaluations tell the accuracy, too.
  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    return output.argmax(-1).eq(targets).sum().to(at::kFloat);
  }
  bool counts_correct() const override { return true; }

 private:
  double gamma_;
};

int main() {
  hydra::session s;
  s.add_devices(1, hydra::cpu_device{.memory = 1_MiB});
  for (double gamma : {0.0, 2.0})
    s.add_model({.name = fmt::format("focal-{}", gamma),
                 .chain = with_loss(hydra::mlp({.layers = 2, .width = 32}), std::make_shared<focal_loss>(gamma)),
                 .data = {hydra::synthetic_classes{}},
                 .batch_size = 32,
                 .steps = 20,
                 .optimizer = hydra::adamw({.learning_rate = 1e-2}),
                 .validate = hydra::validation_options{.every_steps = 10}});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
