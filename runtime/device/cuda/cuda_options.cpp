#include "runtime/device/cuda/cuda_options.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <charconv>

namespace hydra {

namespace {

[[noreturn]] void refuse(const std::string& device, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("device {}: {}", device, why));
}

/// The value must be one of two words.
bool is_second(const device_request& r, const char* key, const std::string& first, const std::string& second) {
  const auto given = value_or(r, key, first);
  if (given != first && given != second) {
    refuse(r.name, fmt::format("{}: must be \"{}\" or \"{}\", got \"{}\"", key, first, second, given));
  }
  return given == second;
}

byte_count share_of(const std::string& device, const std::string& memory, byte_count total) {
  double percent = 0;
  const auto* end = memory.data() + memory.size() - 1;
  const auto [at, error] = std::from_chars(memory.data(), end, percent);
  if (error != std::errc{} || at != end || !(percent > 0) || percent > 100) {
    refuse(device, fmt::format("memory: \"{}\" is not a share of a GPU's memory; use one like \"60%\"", memory));
  }
  return byte_count{static_cast<std::uint64_t>(percent / 100 * static_cast<double>(total.value()))};
}

}  // namespace

std::vector<device_option> cuda_option_list() {
  return {{.name = "index", .help = "which GPU", .type = std::int64_t{0}, .fallback = "0"},
          {.name = "memory", .help = "budget: a size, or a share of the GPU's memory, such as \"60%\"", .type = std::string{},
           .fallback = "90 % of what is free"},
          {.name = "precision", .help = "\"fp32\" or \"bf16\"; of all devices alike", .type = std::string{}, .fallback = "fp32"},
          {.name = "gradients", .help = "as they are copied to the host: \"fp32\", or \"bf16\" with that precision; of all devices "
                                        "alike", .type = std::string{}, .fallback = "fp32"},
          {.name = "tf32", .help = "let fp32 products round their factors to 10 bits", .type = false, .fallback = "false"},
          {.name = "pool", .help = "\"arena\": a fixed number of pages; \"expandable\": LibTorch's allocator, for comparison",
           .type = std::string{}, .fallback = "arena"},
          {.name = "context", .help = "set aside for the driver's context", .type = byte_count{}, .fallback = "measured"}};
}

cuda_options read_cuda_options(const device_request& request) {
  cuda_options o;
  o.name = request.name;
  o.use = request.use;
  o.index = static_cast<int>(value_or(request, "index", std::int64_t{0}));
  o.memory = value_or(request, "memory", std::string{});
  o.numbers = is_second(request, "precision", "fp32", "bf16") ? precision::bf16 : precision::fp32;
  o.gradients = is_second(request, "gradients", "fp32", "bf16") ? precision::bf16 : precision::fp32;
  o.tf32 = value_or(request, "tf32", false);
  o.pool = is_second(request, "pool", "arena", "expandable") ? pool_kind::expandable : pool_kind::arena;
  if (request.options.contains("context")) {
    o.context = value_or(request, "context", byte_count{});
  }
  if (o.index < 0) {
    refuse(o.name, fmt::format("index: must be at least 0, got {}", o.index));
  }
  return o;
}

byte_count memory_budget(const std::string& device, const std::string& memory, byte_count free, byte_count total) {
  if (memory.empty()) {
    return byte_count{free.value() / 10 * 9};
  }
  const auto budget = memory.ends_with('%') ? share_of(device, memory, total) : parse_bytes(memory);
  if (budget > free) {
    refuse(device, fmt::format("memory: {} requested, but of the GPU's {} only {} are free; request less, or stop what "
                               "else uses the GPU", to_string(budget), to_string(total), to_string(free)));
  }
  return budget;
}

}  // namespace hydra
