#include "tests/support/host_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace hydra::test {

namespace {

void require(bool holds, const char* what) {
  if (!holds) {
    throw std::runtime_error(what);
  }
}

class host_pages final : public page_source {
 public:
  host_pages(byte_count page, std::size_t pages, std::size_t spread)
      : page_(page.value()), pages_(pages), spread_(spread), file_(memfd_create("pages", 0)) {
    require(file_ >= 0 && ftruncate(file_, static_cast<off_t>(page_ * pages_)) == 0, "no memory file");
    void* const range =
        mmap(nullptr, page_ * pages_ * spread_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(range != MAP_FAILED, "no range of addresses");
    base_ = static_cast<std::byte*>(range);
  }
  ~host_pages() override {
    munmap(base_, page_ * pages_ * spread_);
    close(file_);
  }
  host_pages(const host_pages&) = delete;
  host_pages& operator=(const host_pages&) = delete;

  c10::DeviceType device_type() const noexcept override { return c10::kCPU; }
  std::byte* base() const noexcept override { return base_; }
  byte_count page() const noexcept override { return byte_count{page_}; }
  std::size_t pages() const noexcept override { return pages_; }
  std::size_t spread() const noexcept override { return spread_; }

  void map(std::span<const std::pair<std::size_t, std::size_t>> places) override {
    for (const auto& [place, page] : places) {
      require(mmap(base_ + place * page_, page_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                   static_cast<off_t>(page * page_)) != MAP_FAILED, "a page cannot be mapped");
    }
  }
  void unmap(std::size_t place) override {
    require(mmap(base_ + place * page_, page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                 0) != MAP_FAILED,
            "a page cannot be unmapped");
  }

 private:
  std::uint64_t page_;
  std::size_t pages_;
  std::size_t spread_;
  int file_;
  std::byte* base_ = nullptr;
};

}  // namespace

std::unique_ptr<page_source> make_host_pages(byte_count page, std::size_t pages, std::size_t spread) {
  return std::make_unique<host_pages>(page, pages, spread);
}

}  // namespace hydra::test
