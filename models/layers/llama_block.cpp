#include "models/layers/llama_block.hpp"

#include "models/decode_memory.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/packed_tokens.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra {

llama_block::llama_block(const llama_block_options& options) : options_(options), parts_(options) {
  require_positive("llama block: width", options.width);
  require_positive("llama block: heads", options.heads);
  require_positive("llama block: kv_heads", options.kv_heads);
  require_positive("llama block: hidden", options.hidden);
  if (options.heads % options.kv_heads != 0)
    refuse(fmt::format("llama block: {} key-value heads do not divide {} heads", options.kv_heads, options.heads));
  if (options.rotated > options.head_size)
    refuse(
        fmt::format("llama block: {} of {} features of a head cannot be rotated", options.rotated, options.head_size));
}

std::vector<parameter_spec> llama_block::parameters() const {
  std::vector<parameter_spec> all = parts_.parameters_of_attention();
  std::ranges::move(parts_.parameters_of_mlp(), std::back_inserter(all));
  return all;
}

tensor_spec llama_block::output(const tensor_spec& input) const {
  require_packed_tokens("llama block", input, options_.width);
  return input;
}

at::Tensor llama_block::run(std::span<const at::Tensor> parameters, const at::Tensor& input,
                            const at::Tensor& positions, const layer_context& context,
                            const llama_parts::attention_function& attend) const {
  block_parameters p{parameters, context};
  const auto added_to = [&](const at::Tensor& x, const at::Tensor& y) {
    return x.add(options_.output_norms ? parts_.norm(p, y) : y);
  };
  const at::Tensor n = parts_.norm(p, input);
  const at::Tensor attended = added_to(input, parts_.attention(p, n, positions, attend));
  const at::Tensor m = parts_.norm(p, attended);
  return added_to(attended, parts_.mlp(p, m));
}

at::Tensor llama_block::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  const auto [vectors, starts] = split_starts(input, options_.width);
  const at::Tensor positions =
      starts.defined() ? positions_in_records(starts) : consecutive_positions(0, input.size(1), input);
  const auto attend = [&](const attention_heads& h) { return causal_attention(h, starts, options_.attention); };
  return join_starts({run(parameters, vectors, positions, context, attend), starts});
}

at::Tensor llama_block::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                               const layer_context& context, decode_memory& memory) const {
  const at::NoGradGuard no_grad;
  return run(parameters, input, consecutive_positions(memory.seen, input.size(1), input), context,
             [&](const attention_heads& h) { return growing_attention(h, memory, options_.attention); });
}

}  // namespace hydra
