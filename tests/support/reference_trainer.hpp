#pragma once
// The reference: plain in-memory training. Whole-model autograd over one leaf tensor per parameter, gradients
// accumulated by autograd, clipping as torch does. In bf16: leaves are rounded from fp32 masters, gradients are added
// up and the update is made in fp32; sums of gradients in bf16 are rounded once. Sums of replicas are added in their
// order, those of a parameter with tied copies from its last place to the first. Hydra's results must equal it bit for
// bit.

#include "models/chain.hpp"
#include "models/data_source.hpp"
#include "models/optimizer/update_rule.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::test {

struct reference_options {
  chain model;                  ///< with its precision
  std::shared_ptr<const data_source> data;
  bool shuffle = true;
  std::size_t batch_size = 1;
  std::size_t micro_batches = 1;  ///< divides batch_size
  std::size_t replicas = 1;       ///< divides micro_batches: contiguous groups, each with gradient sums of its own
  std::size_t meets = 0;          ///< layer from which on all replicas have one gradient sum; 0: none
  std::uint32_t steps = 1;
  update_options update{};
  std::uint64_t seed = 0;       ///< initial values and dropout
  std::uint64_t data_seed = 0;  ///< order of the samples
  std::uint32_t evaluate_every = 0;          ///< steps; 0: after the last one only
  std::size_t evaluation_micro_batches = 0;  ///< 0: never
};

struct reference_evaluation {
  std::uint32_t steps = 0;
  double loss = 0;      ///< fp32 sums of the micro-batches added in double, / targets
  std::optional<double> accuracy;   ///< if the loss counts correct predictions
};

struct reference_result {
  std::vector<float> losses;                             ///< per step: fp32 sum of the micro-batches' losses, in order
  std::vector<float> grad_norms;                         ///< per step, if clipping
  std::map<std::string, std::vector<float>> parameters;  ///< after the last step, tied copies too
  std::string digest;
  std::vector<reference_evaluation> evaluations;
};

/// Micro-batch k of step n is samples [k*b/K, (k+1)*b/K) of batch_order::batch(n). Sets one intra-op thread.
reference_result train_reference(const reference_options& options);

}  // namespace hydra::test
