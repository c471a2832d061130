#include "runtime/device/cuda/cuda_options.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <charconv>

namespace hydra {

namespace {

[[noreturn]] void refuse(const std::string& device, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("device {}: {}", device, why));
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

std::vector<option> cuda_option_list() {
  const std::vector<std::string> formats{to_string(precision::fp32), to_string(precision::bf16)};
  return {{.name = "index", .standard = std::int64_t{0}, .help = "which GPU", .range = {0, 1023}},
          {.name = "memory",
           .standard = std::string{},
           .help = "budget: a size, or a share of the GPU's memory",
           .otherwise = "90% of what is free"},
          {.name = "precision",
           .standard = formats.front(),
           .help = "of parameters and activations; all devices alike",
           .choices = formats},
          {.name = "gradients",
           .standard = formats.front(),
           .help = "as they are copied to the host; bf16 only with that precision; all devices alike",
           .choices = formats},
          {.name = "tf32", .standard = false, .help = "lets fp32 products round their factors to 10 bits"},
          {.name = "pool",
           .standard = "arena",
           .help = "arena: a fixed number of pages; expandable: LibTorch's allocator, for comparison",
           .choices = {"arena", "expandable"}},
          {.name = "context",
           .standard = byte_count{},
           .help = "set aside for the driver's context",
           .otherwise = "measured"}};
}

cuda_options read_cuda_options(const device_request& request) {
  const auto given = complete("device " + request.name, request.options, cuda_option_list());
  const auto format = [&](const char* key) {
    return get<std::string>(given, key) == to_string(precision::bf16) ? precision::bf16 : precision::fp32;
  };
  cuda_options o;
  o.name = request.name;
  o.use = request.use;
  o.index = static_cast<int>(get<std::int64_t>(given, "index"));
  o.memory = given.contains("memory") ? get<std::string>(given, "memory") : "";
  o.numbers = format("precision");
  o.gradients = format("gradients");
  o.tf32 = get<bool>(given, "tf32");
  o.pool = get<std::string>(given, "pool") == "expandable" ? pool_kind::expandable : pool_kind::arena;
  if (given.contains("context")) {
    o.context = get<byte_count>(given, "context");
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
