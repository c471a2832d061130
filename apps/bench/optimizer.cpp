#include "apps/bench/optimizer.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/read_modify_write.hpp"
#include "apps/bench/torch_adamw.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/memory/mapped_pages.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

namespace hydra::apps {

namespace {

/// Four buffers whose first bytes do not lie at equal distances in the cache, as in the host's arena.
class buffers {
 public:
  explicit buffers(std::size_t n) : n_(n) {
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      pages_[i] = map_pages((n * sizeof(float) + pages_.size() * stagger + page_size) / page_size * page_size);
      std::fill_n(at(i), n, i == 1 ? 1e-3F : 0.0F);
    }
  }

  adamw_memory memory() const { return {n_, at(0), at(1), at(2), at(3)}; }

 private:
  static constexpr std::size_t stagger = 4096 + 1024;
  float* at(std::size_t i) const { return reinterpret_cast<float*>(pages_[i].get() + i * stagger); }

  std::size_t n_;
  std::array<mapped_pages, 4> pages_;
};

/// Computes until its end.
class computing_thread {
 public:
  computing_thread() : thread_([this] { run(); }) {}
  ~computing_thread() {
    ends_ = true;
    thread_.join();
  }
  computing_thread(const computing_thread&) = delete;
  computing_thread& operator=(const computing_thread&) = delete;

 private:
  void run() {
    at::set_num_threads(1);
    const at::Tensor a = at::ones({512, 512});
    while (!ends_) at::mm(a, a);
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// As the host's optimizer divides a shard among its threads.
template <class Use>
void in_ranges(oneapi::tbb::task_arena& arena, std::size_t n, const Use& use) {
  constexpr std::size_t grain = 1 << 16;
  arena.execute([&] {
    oneapi::tbb::parallel_for(std::size_t{0}, (n + grain - 1) / grain,
                              [&](std::size_t i) { use(i * grain, std::min(grain, n - i * grain)); });
  });
}

void measure(optimizer_cell& cell, double each) {
  const buffers all(cell.parameters.value() / sizeof(float));
  const adamw_memory b = all.memory();
  oneapi::tbb::task_arena arena(cell.threads);
  at::set_num_threads(cell.threads);
  const update_constants now = constants_of(adamw({}), 0, 1, 1.0F);
  std::optional<computing_thread> device;
  if (cell.beside_device) device.emplace();
  const auto loop = [&] {
    in_ranges(arena, b.n, [&](std::size_t i, std::size_t n) {
      read_modify_write(n, b.parameters + i, b.gradients + i, b.first + i, b.second + i);
    });
  };
  const auto own = [&] {
    in_ranges(arena, b.n, [&](std::size_t i, std::size_t n) {
      apply_update(now, update_slices{.parameters = {b.parameters + i, n},
                                      .gradients = {b.gradients + i, n},
                                      .first_moment = {b.first + i, n},
                                      .second_moment = {b.second + i, n}});
    });
  };
  const auto warm = [&](const std::function<void()>& step) {
    step();
    return seconds_of(step, each);
  };
  const double of_loop = warm(loop), of_own = warm(own), of_fused = warm(fused_adamw(b)),
               of_torch = warm(torch_adamw(b));
  constexpr double bytes_of_value = 28;
  cell.gigabytes.values.push_back(bytes_of_value * static_cast<double>(b.n) / of_loop / 1e9);
  cell.over_loop.values.push_back(of_loop / of_own);
  cell.over_fused.values.push_back(of_fused / of_own);
  cell.over_torch.values.push_back(of_torch / of_own);
}

}  // namespace

std::vector<optimizer_cell> measure_optimizer(const optimizer_bench_options& o) {
  std::vector<optimizer_cell> cells;
  for (const byte_count size : o.sizes) {
    for (const int threads : o.threads)
      cells.push_back({.parameters = size, .threads = threads, .beside_device = false});
    cells.push_back({.parameters = size, .threads = 1, .beside_device = true});
  }
  const int before = at::get_num_threads();
  for (int repeat = 0; repeat < o.repeats; ++repeat)
    for (optimizer_cell& cell : cells) measure(cell, o.seconds_each);
  at::set_num_threads(before);
  return cells;
}

std::string to_table(const std::vector<optimizer_cell>& cells) {
  text_table t{{{"parameters", alignment::right},
                {"threads", alignment::right},
                {"beside", alignment::left},
                {"loop GB/s", alignment::right},
                {"over loop", alignment::right},
                {"over fused", alignment::right},
                {"over torch::optim", alignment::right}}};
  for (const optimizer_cell& c : cells)
    t.add({to_string(c.parameters), std::to_string(c.threads), c.beside_device ? "a device" : "-",
           fmt::format("{:.1f}", c.gigabytes.median()), to_string(c.over_loop), to_string(c.over_fused),
           to_string(c.over_torch)});
  return t.to_string();
}

std::string to_json(const std::vector<optimizer_cell>& cells, const machine_description& on) {
  nlohmann::ordered_json j{{"name", "optimizer"},
                           {"processor", on.processor},
                           {"cores_used", on.cores_used},
                           {"cells", nlohmann::ordered_json::array()}};
  for (const optimizer_cell& c : cells)
    j["cells"].push_back({{"parameter_bytes", c.parameters.value()},
                          {"threads", c.threads},
                          {"beside_device", c.beside_device},
                          {"loop_gigabytes_per_second", json_of(c.gigabytes)},
                          {"over_loop", json_of(c.over_loop)},
                          {"over_fused", json_of(c.over_fused)},
                          {"over_torch", json_of(c.over_torch)}});
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
