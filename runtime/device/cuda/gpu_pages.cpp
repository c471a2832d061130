#include "runtime/device/cuda/gpu_pages.hpp"

#include "runtime/device/cuda/cuda_check.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// The driver's virtual memory functions, and its names of errors, resolved at run time: nothing links the driver.
struct driver_functions {
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free_range = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;
};

template <class Function>
void find(Function& f, const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const auto e = cudaGetDriverEntryPointByVersion(name, &entry, CUDART_VERSION, cudaEnableDefault, &found);
  cuda_ignore(e);
  if (e != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("the NVIDIA driver has no {}; update it, or use pool = \"expandable\"", name));
  }
  f = reinterpret_cast<Function>(entry);
}

driver_functions find_functions() {
  driver_functions d;
  find(d.granularity, "cuMemGetAllocationGranularity");
  find(d.reserve, "cuMemAddressReserve");
  find(d.free_range, "cuMemAddressFree");
  find(d.create, "cuMemCreate");
  find(d.release, "cuMemRelease");
  find(d.map, "cuMemMap");
  find(d.unmap, "cuMemUnmap");
  find(d.set_access, "cuMemSetAccess");
  find(d.error_name, "cuGetErrorName");
  return d;
}

CUmemAllocationProp properties_of(int gpu) {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
  return p;
}

/// About a thousandth of the memory: small enough to fit well, large enough that moving a few is quick.
std::uint64_t page_of(byte_count size, std::uint64_t granularity) {
  return round_up(byte_count{std::max<std::uint64_t>(size.value() / 1024, 1)}, granularity).value();
}

class gpu_pages final : public page_source {
 public:
  gpu_pages(int gpu, byte_count size);
  ~gpu_pages() override { give_back(); }
  gpu_pages(const gpu_pages&) = delete;
  gpu_pages& operator=(const gpu_pages&) = delete;

  c10::DeviceType device_type() const noexcept override { return c10::kCUDA; }
  std::byte* base() const noexcept override { return reinterpret_cast<std::byte*>(range_); }
  byte_count page() const noexcept override { return byte_count{page_}; }
  std::size_t pages() const noexcept override { return handles_.size(); }
  std::size_t spread() const noexcept override { return times; }
  void map(std::span<const std::pair<std::size_t, std::size_t>> places) override;
  void unmap(std::size_t place) override;

 private:
  static constexpr std::size_t times = 8;
  void check(CUresult r, fault_code code, const char* what, const char* advice = nullptr) const;
  void take(std::size_t pages);
  void give_back() noexcept;
  CUdeviceptr address(std::size_t place) const noexcept { return range_ + place * page_; }

  const driver_functions driver_ = find_functions();
  const CUmemAllocationProp properties_;
  const CUmemAccessDesc access_;
  std::uint64_t page_ = 0;
  CUdeviceptr range_ = 0;
  std::uint64_t range_size_ = 0;
  std::vector<CUmemGenericAllocationHandle> handles_;
  std::vector<bool> mapped_;   ///< per place
};

gpu_pages::gpu_pages(int gpu, byte_count size)
    : properties_(properties_of(gpu)), access_{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE} {
  std::size_t granularity = 0;
  check(driver_.granularity(&granularity, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), fault_code::bad_input,
        "the page size cannot be queried");
  page_ = page_of(size, granularity);
  try {
    take(size.value() / page_);
  } catch (...) {
    give_back();
    throw;
  }
}

/// `advice`: what to do; null: what usually helps.
void gpu_pages::check(CUresult r, fault_code code, const char* what, const char* advice) const {
  if (r == CUDA_SUCCESS) {
    return;
  }
  const char* name = nullptr;
  if (driver_.error_name(r, &name) != CUDA_SUCCESS || name == nullptr) {
    name = "an error without a name";
  }
  const auto usual = advice_on(static_cast<cudaError_t>(r));  // the runtime's errors have the driver's numbers
  throw fault_error(code,
                    fmt::format("CUDA: {}: {} ({}); {}", what, name, static_cast<int>(r), advice ? advice : usual));
}

void gpu_pages::take(std::size_t pages) {
  range_size_ = page_ * pages * times;
  check(driver_.reserve(&range_, range_size_, 0, 0, 0), fault_code::out_of_memory, "addresses cannot be reserved");
  mapped_.resize(pages * times);
  const auto what = fmt::format("{} of GPU memory are not available", to_string(byte_count{page_ * pages}));
  for (std::size_t i = 0; i < pages; ++i) {
    CUmemGenericAllocationHandle handle{};
    check(driver_.create(&handle, page_, &properties_, 0), fault_code::out_of_memory, what.c_str(),
          "lower memory of the device, or end what else uses the GPU (nvidia-smi shows it)");
    handles_.push_back(handle);
  }
}

void gpu_pages::give_back() noexcept {
  for (std::size_t place = 0; place < mapped_.size(); ++place) {
    if (mapped_[place]) {
      driver_.unmap(address(place), page_);
    }
  }
  for (const auto handle : handles_) {
    driver_.release(handle);
  }
  if (range_ != 0) {
    driver_.free_range(range_, range_size_);
  }
}

/// Access is what takes long: it is given to neighbours at once.
void gpu_pages::map(std::span<const std::pair<std::size_t, std::size_t>> places) {
  for (const auto& [place, page] : places) {
    check(driver_.map(address(place), page_, 0, handles_[page], 0), fault_code::device_lost, "a page cannot be mapped");
    mapped_[place] = true;
  }
  for (std::size_t i = 0, past = 0; i < places.size(); i = past) {
    for (past = i + 1; past < places.size() && places[past].first == places[past - 1].first + 1;) ++past;
    check(driver_.set_access(address(places[i].first), (past - i) * page_, &access_, 1), fault_code::device_lost,
          "pages cannot be used");
  }
}

void gpu_pages::unmap(std::size_t place) {
  check(driver_.unmap(address(place), page_), fault_code::device_lost, "a page cannot be unmapped");
  mapped_[place] = false;
}

}  // namespace

std::unique_ptr<page_source> make_gpu_pages(int gpu, byte_count size) { return std::make_unique<gpu_pages>(gpu, size); }

}  // namespace hydra
