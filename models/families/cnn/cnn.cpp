#include "models/families/cnn/cnn.hpp"

#include "models/families/sample_kind.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/convolution_stem.hpp"
#include "models/layers/linear.hpp"
#include "models/layers/mean_pool.hpp"
#include "models/layers/pooled_head.hpp"
#include "models/layers/residual_block.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

/// With more stages the image would vanish and the number of channels overflow.
constexpr std::int64_t most_stages = 16;

/// `blocks` blocks of equal size; the first block of a later stage changes the size.
void add_stage(chain& c, const cnn_options& options, std::int64_t stage) {
  const std::int64_t width = options.width << stage;
  const residual_block_options same{.in = width, .out = width, .groups = options.groups};
  residual_block_options first = same;
  if (stage > 0) first.in = width / 2, first.stride = 2;
  for (std::int64_t b = 0; b < options.blocks; ++b)
    c.add(fmt::format("stages.{}.{}.", stage, b), std::make_shared<residual_block>(b == 0 ? first : same));
}

/// From the mean over the pixels to the classes.
void add_dense(chain& c, const cnn_options& options, const pooled_head_options& head) {
  c.add("pool.", std::make_shared<mean_pool>(head.in));
  std::int64_t in = head.in;
  for (std::int64_t i = 0; i < options.dense_layers; ++i) {
    c.add(fmt::format("dense.{}.", i),
          std::make_shared<linear>(linear_options{.in = in, .out = options.dense_width, .gelu = true}));
    in = options.dense_width;
  }
  c.add("head.", std::make_shared<linear>(linear_options{.in = in, .out = head.out}));
}

chain build_cnn(const cnn_options& options, const data_source& data) {
  const tensor_spec input = data.sample_input();
  require_kind("cnn", data, sample_kind::images);
  require_input(fmt::format("cnn on {}: a sample", data.describe()), input, element::f32, 3);
  chain result{"cnn", input, cross_entropy()};
  result.add("stem.", std::make_shared<convolution_stem>(convolution_stem_options{
                          .in = input.shape[0], .out = options.width, .groups = options.groups}));
  for (std::int64_t s = 0; s < options.stages; ++s) add_stage(result, options, s);
  const pooled_head_options head{.in = options.width << (options.stages - 1), .out = data.classes()};
  if (options.dense_layers > 0)
    add_dense(result, options, head);
  else
    result.add("head.", std::make_shared<pooled_head>(head));
  result.validate();
  return result;
}

}  // namespace

chain_description cnn(const cnn_options& options) {
  require_positive("cnn: stages", options.stages);
  require_positive("cnn: blocks", options.blocks);
  require_positive("cnn: width", options.width);
  require_positive("cnn: dense_width", options.dense_width);
  if (options.dense_layers < 0)
    refuse(fmt::format("cnn: dense_layers is {}; it must be at least 0", options.dense_layers));
  require_groups("cnn", options.groups, options.width);
  if (options.stages > most_stages)
    refuse(fmt::format("cnn: stages is {}; it must be at most {}", options.stages, most_stages));
  return {"cnn", 0, [options](const data_source& data) { return build_cnn(options, data); }};
}

}  // namespace hydra
