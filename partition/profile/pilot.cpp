#include "partition/profile/pilot.hpp"

#include "partition/profile/contract.hpp"
#include "runtime/device/device_block.hpp"
#include "runtime/memory/block_copy.hpp"
#include "runtime/memory/host_arena.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <hydra/version.hpp>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace hydra {

/// One operation on each device, awaited together. A device that was late once is excluded: its later completions
/// belong to an earlier operation. Outlives the pilot while such a completion may still arrive.
class pilot::round {
 public:
  explicit round(std::size_t devices) : done_(devices), out_(devices) {}

  void begin() {
    const std::lock_guard lock{mutex_};
    done_ = out_;
  }

  /// Excludes the device permanently.
  void leave_out(std::size_t device, fault why) {
    const std::lock_guard lock{mutex_};
    out_[device] = completion{.operation = {}, .begin = {}, .end = {}, .error = std::move(why)};
  }

  bool is_out(std::size_t device) {
    const std::lock_guard lock{mutex_};
    return out_[device].has_value();
  }

  void complete(std::size_t device, const completion& c) {
    {
      const std::lock_guard lock{mutex_};
      if (!out_[device]) {
        done_[device] = c;
      }
    }
    changed_.notify_all();
  }

  /// Completions of all devices; a fault for those that are late. `limit` zero: no limit.
  std::vector<completion> wait(duration limit) {
    std::unique_lock lock{mutex_};
    const auto all_done = [this] { return std::ranges::all_of(done_, &std::optional<completion>::has_value); };
    if (limit > duration{}) {
      changed_.wait_for(lock, limit, all_done);
    } else {
      changed_.wait(lock, all_done);
    }
    std::vector<completion> all;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (!done_[i]) {
        out_[i] = completion{.operation = {}, .begin = {}, .end = {}, .error = late(limit)};
      }
      all.push_back(done_[i] ? *done_[i] : *out_[i]);
    }
    return all;
  }

 private:
  static fault late(duration limit) {
    return {fault_code::device_lost, fmt::format("the pilot pass has not ended within {}", to_string(limit))};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<completion>> done_;
  std::vector<std::optional<completion>> out_;   ///< the fault of each device that was late
};

namespace {

using namespace literals;

constexpr byte_count unlimited{std::uint64_t{1} << 62};

/// "cpu", "cuda (NVIDIA H200)".
std::string name_of_kind(const device_info& d) {
  return d.model.empty() ? d.kind : fmt::format("{} ({})", d.kind, d.model);
}

/// Throws measuring_error of the first fault if all devices have failed.
void require_one(const std::vector<completion>& all) {
  const auto failed = [](const completion& c) { return static_cast<bool>(c.error); };
  if (std::ranges::all_of(all, failed)) {
    throw measuring_error(all.front().error);
  }
}

}  // namespace

/// Copied to one device and back: too large for a cache, small enough for any machine. An operation that is late keeps
/// only the buffer of its own device alive, whose locker lives as long.
struct pilot::probe_buffer {
  static constexpr byte_count least = 4_MiB, of_all_devices = 64_MiB;

  probe_buffer(device& d, byte_count n)
      : place(d),
        size(n),
        arena(make_host_arena(unlimited, pool_sizes(d, size))),
        home(arena->allocate(size, "the pilot's copies", host_use::transferred)) {}

  /// As large as the device's memory and the host's locked pages allow, so that the copy takes much longer than the
  /// notification that it is complete. `shared`: among how many devices the locked pages are divided.
  static std::shared_ptr<probe_buffer> make_for(device& d, std::size_t shared) {
    const auto part = byte_count{of_all_devices.value() / shared};
    const auto most = std::max(least, std::min(part, d.info().memory));
    try {
      return std::make_shared<probe_buffer>(d, most);
    } catch (...) {
      return std::make_shared<probe_buffer>(d, least);
    }
  }

  static pinned_pool_sizes pool_sizes(device& d, byte_count n) {
    return d.locker() ? pinned_pool_sizes{.lockers = {d.locker()}, .size = host_charge(n)} : pinned_pool_sizes{};
  }

  device& place;
  byte_count size;
  std::unique_ptr<host_arena> arena;
  host_block_ptr home;
  device_block_ptr block = std::make_shared<device_block>();
};

pilot::pilot(std::span<device* const> devices, duration limit)
    : devices_(devices), limit_(limit), round_(std::make_shared<round>(devices.size())) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i]->on_completion([r = round_, i](const completion& c) { r->complete(i, c); });
  }
}

/// On devices that are not excluded; one without work counts as complete.
std::vector<completion> pilot::everywhere(queue_kind queue, const std::function<closure(std::size_t)>& work_of) {
  round_->begin();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (round_->is_out(i)) {
      continue;
    }
    try {
      auto work = work_of(i);
      if (!work) {
        round_->complete(i, {.operation = {}, .begin = {}, .end = {}, .error = {}});
        continue;
      }
      devices_[i]->submit(queue, {.work = std::move(work), .bytes = {}, .estimate = {}, .label = {"pilot", {}}}, {});
    } catch (...) {
      round_->complete(i, {.operation = {}, .begin = {}, .end = {}, .error = to_fault(std::current_exception())});
    }
  }
  return round_->wait(limit_);
}

/// Results of the devices that completed the work, at least one; the others have failed.
template <class Result>
std::vector<Result> pilot::results_of(const std::function<Result(device&)>& work) {
  const auto results = std::make_shared<std::vector<Result>>(devices_.size());
  const auto ended = everywhere(queue_kind::compute, [&](std::size_t i) {
    return [=, on = devices_[i]] { (*results)[i] = work(*on); };
  });
  require_one(ended);
  std::vector<Result> good;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!ended[i].error) {
      good.push_back(std::move((*results)[i]));
    }
  }
  return good;
}

chain_profile pilot::measure(const std::shared_ptr<const chain>& model, const profiled_step& step) {
  return merge(results_of<chain_samples>([=, first = devices_.front()](device& d) {
    const auto meter = d.measure();
    const measurement_context on{*meter, d.info().torch_device};
    auto here = step;
    here.progress = &d == first ? step.progress : nullptr;
    check_contract(*model, here, on);
    return sample_costs(*model, here, on);
  }));
}

element_rate pilot::update_rate(const update_options& rule, precision numbers) {
  const auto rates = results_of<element_rate>([=](device& d) {
    const auto meter = d.measure();
    return measure_update(rule, numbers, {*meter, d.info().torch_device});
  });
  return *std::ranges::min_element(rates, {}, &element_rate::per_second);
}

std::string pilot::setting() {
  const auto threads = std::make_shared<std::vector<int>>(devices_.size());
  const auto ended = everywhere(queue_kind::compute,
                                [&](std::size_t i) { return [=] { (*threads)[i] = at::get_num_threads(); }; });
  require_one(ended);
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!ended[i].error) {
      kinds.insert(fmt::format("{} with threads = {}", name_of_kind(devices_[i]->info()), (*threads)[i]));
    }
  }
  return fmt::format("{}; Hydra {}, LibTorch {}", fmt::join(kinds, ", "), version, TORCH_VERSION);
}

/// None for a device whose link is limited, and for one where it cannot be allocated, which is excluded.
std::vector<std::shared_ptr<pilot::probe_buffer>> pilot::probe_buffers() {
  std::vector<std::shared_ptr<probe_buffer>> buffers(devices_.size());
  const auto unlimited = [](const device* d) { return !d->info().link.limited(); };
  const auto sharing = static_cast<std::size_t>(std::ranges::count_if(devices_, unlimited));
  for (std::size_t d = 0; d < buffers.size(); ++d) {
    if (!unlimited(devices_[d]) || round_->is_out(d)) {
      continue;
    }
    try {
      buffers[d] = probe_buffer::make_for(*devices_[d], sharing);
    } catch (...) {
      round_->leave_out(d, to_fault(std::current_exception()));
    }
  }
  return buffers;
}

/// One copy on each device that has a probe buffer, as measured by its meter.
std::vector<std::optional<duration>> pilot::copies(queue_kind queue,
                                                   const std::vector<std::shared_ptr<probe_buffer>>& buffers,
                                                   copy_maker make) {
  const auto taken = std::make_shared<std::vector<duration>>(devices_.size());
  const auto ended = everywhere(queue, [&](std::size_t d) -> closure {
    if (!buffers[d]) {
      return {};
    }
    return [=, c = buffers[d]] {
      const auto meter = c->place.measure();
      const auto begin = meter->now();
      make(*c)();
      (*taken)[d] = meter->now() - begin;
    };
  });
  std::vector<std::optional<duration>> times(devices_.size());
  for (std::size_t d = 0; d < times.size(); ++d) {
    if (buffers[d] && !ended[d].error) {
      times[d] = (*taken)[d];
    }
  }
  return times;
}

std::vector<byte_rate> pilot::link_rates() {
  constexpr int trips = 5;
  const copy_maker first = [](const probe_buffer& c) {
    return copy_in(c.home, c.size, c.block, c.place.info().torch_device);
  };
  const copy_maker there = [](const probe_buffer& c) { return copy_over(c.home, c.block); };
  const copy_maker back = [](const probe_buffer& c) { return copy_out(c.block, c.home); };
  std::vector<byte_rate> rates;
  std::ranges::transform(devices_, std::back_inserter(rates), [](const device* d) { return d->info().link; });
  if (std::ranges::all_of(rates, &byte_rate::limited)) {
    return rates;
  }
  const auto buffers = probe_buffers();
  copies(queue_kind::h2d, buffers, first);
  copies(queue_kind::d2h, buffers, back);  // warm-up-up-up
  std::vector<std::vector<duration>> times(devices_.size());
  for (int i = 0; i < trips; ++i) {
    const auto in = copies(queue_kind::h2d, buffers, there);
    const auto out = copies(queue_kind::d2h, buffers, back);
    for (std::size_t d = 0; d < times.size(); ++d) {
      if (in[d] && out[d]) {
        times[d].push_back(*in[d] + *out[d]);
      }
    }
  }
  for (std::size_t d = 0; d < rates.size(); ++d) {
    if (!rates[d].limited() && !times[d].empty()) {
      rates[d] = byte_rate{2.0 * static_cast<double>(buffers[d]->size.value()) / seconds(median(times[d]))};
    }
  }
  return rates;
}

std::string fingerprint(const chain& model, const tensor_spec& sample_target, std::int64_t samples) {
  std::string text = fmt::format("{} samples of {} -> {} by {}", samples, to_string(model.sample_input()),
                                 to_string(sample_target), model.objective().name());
  if (model.numbers() != precision::fp32) {
    text += " in " + to_string(model.numbers());
  }
  if (model.loss_chunk() > 0) {
    text += fmt::format(" in chunks of {} rows", model.loss_chunk());
  }
  for (std::size_t i = 0, same = 0; i < model.size(); i += same) {
    const auto signature = model.signature(i);
    for (same = 1; i + same < model.size() && model.signature(i + same) == signature;) {
      ++same;
    }
    text += fmt::format("; {} x {}", same, signature);
  }
  return text;
}

}  // namespace hydra
