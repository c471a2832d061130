#include "models/layers/rotary_tables.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange_ops.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace hydra {
namespace {

using table = std::shared_ptr<const std::vector<float>>;

constexpr std::size_t kept = 4;  ///< models that train together may differ

struct known_table {
  std::vector<float> frequencies;
  token_stretch where;
  table values;
};

table compute(const std::vector<float>& frequencies, const token_stretch& where) {
  const at::NoGradGuard no_grad;
  const at::Tensor angles = rotary_angles(frequencies, where);
  auto values = std::make_shared<std::vector<float>>();
  for (const at::Tensor& part : {angles.cos(), angles.sin()})
    values->insert(values->end(), part.const_data_ptr<float>(), part.const_data_ptr<float>() + part.numel());
  return values;
}

}  // namespace

at::Tensor rotary_angles(const std::vector<float>& frequencies, const token_stretch& where) {
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  const at::Tensor positions =
      at::_ops::arange_start::call(where.first, where.first + where.tokens, at::kFloat, {}, {}, {});
  const at::Tensor each = at::from_blob(const_cast<float*>(frequencies.data()), {pairs}, at::kFloat);
  return positions.unsqueeze(1).mul(each);
}

table rotary_tables(const std::vector<float>& frequencies, const token_stretch& where) {
  static std::mutex mutex;
  static std::deque<known_table> known;  // the latest first
  const std::lock_guard lock{mutex};     // whoever needs the same table waits for it
  const auto same = [&](const known_table& k) { return k.where == where && k.frequencies == frequencies; };
  if (const auto found = std::ranges::find_if(known, same); found != known.end()) return found->values;
  known.push_front({frequencies, where, compute(frequencies, where)});
  if (known.size() > kept) known.pop_back();
  return known.front().values;
}

}  // namespace hydra
