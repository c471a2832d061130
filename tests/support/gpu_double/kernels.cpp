// Hydra's own kernels, the same sources, as functions of the host: one thread after the other. generate.py takes away
// the launches, for which nvcc makes calls of the functions below.

#include "tests/support/gpu_double/streams.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include <cuda_bf16.h>

namespace {

thread_local dim3 gridDim, blockDim, blockIdx, threadIdx;

float __fmul_rn(float a, float b) { return a * b; }

}  // namespace

using std::isnan;

#include "keyed_mask_as_host.inc"
#include "small_constant_as_host.inc"
#include "update_as_host.inc"

namespace {

using namespace gpu_double;

struct kernel_launch {
  dim3 grid, block;
  void** arguments;   ///< valid during the call only

  template <class T>
  T argument(int i) const { return *static_cast<T*>(arguments[i]); }
};

template <class F>
void on_all_threads(const kernel_launch& by, const F& f) {
  gridDim = by.grid;
  blockDim = by.block;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) f();
  }
}

template <class Element>
work masking(const kernel_launch& by) {
  const auto* from = by.argument<const Element*>(0);
  auto* to = by.argument<Element*>(1);
  const auto n = by.argument<std::size_t>(2);
  const auto rule = by.argument<hydra::keyed_mask_rule>(3);
  const auto run = [=] {
    on_all_threads(by, [&] { hydra::keyed_mask_kernels::keyed_mask<Element>(bytes_at(from), bytes_at(to), n, rule); });
  };
  return {"keyed_mask", {range_of(from, n * sizeof(Element), false), range_of(to, n * sizeof(Element), true)}, run};
}

work writing_numbers(const kernel_launch& by) {
  const auto from = by.argument<hydra::small_constant_kernels::numbers>(0);
  auto* to = by.argument<float*>(1);
  const auto n = by.argument<unsigned>(2);
  const auto run = [=] {
    on_all_threads(by, [&] { hydra::small_constant_kernels::write_numbers(from, bytes_at(to), n); });
  };
  return {"write_numbers", {range_of(to, n * sizeof(float), true)}, run};
}

work updating(const kernel_launch& by) {
  const auto constants = by.argument<hydra::update_constants>(0);
  const auto at = by.argument<hydra::update_pointers>(1);
  const auto n = by.argument<std::size_t>(2);
  const hydra::update_pointers here{bytes_at(at.parameters), bytes_at(at.gradients), bytes_at(at.first_moment),
                                    bytes_at(at.second_moment), bytes_at(at.copy)};
  work w{"update", {range_of(at.parameters, 4 * n, true), range_of(at.gradients, 4 * n, false)}};
  for (auto* moment : {at.first_moment, at.second_moment}) {
    if (moment != nullptr) w.ranges.push_back(range_of(moment, 4 * n, true));
  }
  if (at.copy != nullptr) w.ranges.push_back(range_of(at.copy, 2 * n, true));
  w.run = [=] { on_all_threads(by, [&] { hydra::update_kernels::update(constants, here, n); }); };
  return w;
}

/// By a part of the mangled name.
constexpr std::pair<const char*, work (*)(const kernel_launch&)> makers[] = {
    {"10keyed_maskIf", masking<float>},
    {"10keyed_maskIt", masking<std::uint16_t>},
    {"13write_numbersE", writing_numbers},
    {"6updateE", updating}};

/// By the address of the function on the host.
auto& mangled_names = *new std::map<const void*, std::string>;

thread_local std::tuple<dim3, dim3, std::size_t, cudaStream_t> next_launch;

}  // namespace

extern "C" {

void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const lock l{mutex};
  mangled_names[host] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t on) {
  next_launch = {grid, block, shared, on};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* on) {
  std::tie(*grid, *block, *shared, *static_cast<cudaStream_t*>(on)) = next_launch;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(void** kernel, void* f) { return *kernel = f, cudaSuccess; }
cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t,
                               cudaStream_t on) {
  return called<cudaError_t>("cudaLaunchKernel", [&](lock&) {
    const auto& name = mangled_names[kernel];
    for (const auto& [part, make] : makers) {
      if (name.find(part) != std::string::npos) return start(on, make({grid, block, arguments}));
    }
    return complain("unknown kernel", name), cudaErrorInvalidDeviceFunction;
  });
}

}  // extern "C"
