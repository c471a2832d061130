// Hydra's own kernels, the same sources, as functions of the host: one thread after the other. generate.py takes away the launches.

#include "tests/support/gpu_double/launch.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

namespace {

struct index {
  unsigned x = 0;
};
thread_local index gridDim, blockDim, blockIdx, threadIdx;

float __fmul_rn(float a, float b) { return a * b; }

}  // namespace

using std::isnan;

#include "keyed_mask_as_host.inc"
#include "update_as_host.inc"

namespace {

using namespace gpu_double;

template <class F>
void on_all_threads(shape s, const F& f) {
  gridDim.x = s.blocks;
  blockDim.x = s.threads;
  for (blockIdx.x = 0; blockIdx.x < s.blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < s.threads; ++threadIdx.x) f();
  }
}

template <class T>
T argument(void** all, int i) {
  return *static_cast<T*>(all[i]);
}

template <class Element>
work masking(shape s, void** given) {
  const auto* from = argument<const Element*>(given, 0);
  auto* to = argument<Element*>(given, 1);
  const auto n = argument<std::size_t>(given, 2);
  const auto rule = argument<hydra::keyed_mask_rule>(given, 3);
  const auto run = [=] {
    on_all_threads(s, [&] { hydra::keyed_mask_kernels::keyed_mask<Element>(bytes_at(from), bytes_at(to), n, rule); });
  };
  return {"keyed_mask", {range_of(from, n * sizeof(Element), false), range_of(to, n * sizeof(Element), true)}, run};
}

work updating(shape s, void** given) {
  const auto constants = argument<hydra::update_constants>(given, 0);
  const auto at = argument<hydra::update_pointers>(given, 1);
  const auto n = argument<std::size_t>(given, 2);
  const hydra::update_pointers here{bytes_at(at.parameters), bytes_at(at.gradients), bytes_at(at.first_moment),
                                    bytes_at(at.second_moment), bytes_at(at.copy)};
  work w{"update", {range_of(at.parameters, 4 * n, true), range_of(at.gradients, 4 * n, false)}, {}};
  for (auto* moment : {at.first_moment, at.second_moment}) {
    if (moment != nullptr) w.ranges.push_back(range_of(moment, 4 * n, true));
  }
  if (at.copy != nullptr) w.ranges.push_back(range_of(at.copy, 2 * n, true));
  w.run = [=] { on_all_threads(s, [&] { hydra::update_kernels::update(constants, here, n); }); };
  return w;
}

[[maybe_unused]] const bool made = [] {
  auto& known = kernel_makers();
  known["keyed_mask<float>"] = masking<float>;
  known["keyed_mask<unsigned short>"] = masking<std::uint16_t>;
  known["::update("] = updating;
  return true;
}();

}  // namespace
