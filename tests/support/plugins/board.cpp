// Devices that share the memory of one board, as parts of a GPU do: each takes its budget from its construction to its
// destruction, unless it is made to measure while others exist.

#include "apps/examples/thread_device.hpp"

#include <hydra/plugin.hpp>

#include <fmt/format.h>

#include <atomic>

namespace {

using namespace hydra;

constexpr std::uint64_t all_there_is = 64 << 20;
std::atomic<std::uint64_t> taken{0};

/// Of the board's memory.
class claim {
 public:
  claim(const std::string& device, byte_count n) : n_{n.value()} {
    if (taken.fetch_add(n_) + n_ <= all_there_is) return;
    taken -= n_;
    throw fault_error{fault_code::bad_input, fmt::format("{}: the board has no {} left", device, to_string(n))};
  }
  ~claim() { taken -= n_; }
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

 private:
  std::uint64_t n_;
};

byte_count memory_of(const device_request& r) { return get<byte_count>(r.options, "memory"); }

class board final : public device {
 public:
  explicit board(const device_request& r)
      : claim_{r.name, r.use == device_use::run ? memory_of(r) : byte_count{}},
        inside_{r.name, memory_of(r)},
        info_{inside_.info()} {
    info_.kind = "board";
    info_.model = "B64";
    info_.reserve = get<byte_count>(r.options, "reserve");
    info_.numbers = get<std::string>(r.options, "precision") == "bf16" ? precision::bf16 : precision::fp32;
  }

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override { inside_.on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_.memory(); }
  bool stop(duration limit) noexcept override { return inside_.stop(limit); }
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    return inside_.submit(queue, std::move(op), after);
  }

 private:
  claim claim_;
  thread_device inside_;
  device_info info_;
};

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_device<board>("board", "a part of a board of 64 MiB",
                                  {{{.name = "memory", .standard = byte_count{}, .required = true, .help = "budget"},
                                    {.name = "reserve", .standard = byte_count{}, .help = "not for blocks"},
                                    {.name = "precision", .standard = "fp32"},
                                    {.name = "threads", .standard = std::int64_t{3}}},
                                   {}})}};
  return &plugin;
}
