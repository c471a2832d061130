#include "apps/commands/found_devices.hpp"

#include "actors/session/device_registry.hpp"
#include "apps/commands/commented_line.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/memory/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace hydra::apps {

namespace {

/// "index 0: NVIDIA H100, 80 GiB, ..." for each; none where they cannot be used, whatever is missing.
std::vector<std::string> usable_gpus() {
  try {
    device_registry registry;
    const known_device known = registry.find("cuda");
    return known.about.find ? known.about.find() : std::vector<std::string>{};
  } catch (const std::exception&) {
    return {};
  }
}

/// Without a rest, as a key has it.
std::string in_whole_units(byte_count n) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t all = std::max(n.value() / mib, std::uint64_t{64});
  return all < 4096 ? fmt::format("{}MiB", all) : fmt::format("{}GiB", all / 1024);
}

std::string processor() {
  const byte_count available = available_host_memory();
  const byte_count budget{available.value() == 0 ? std::uint64_t{4} << 30 : available.value() / 4};
  return commented("[[device]]", "no GPU can be used here: `hydra devices` says why (docs/devices.md)") +
         commented("kind = \"cpu\"", "threads of this machine with a budget of memory") +
         commented(fmt::format("memory = \"{}\"", in_whole_units(budget)),
                   fmt::format("a quarter of what is available ({}); models that need more are cut into shards",
                               to_string(available))) +
         fmt::format("threads = {}\n", std::max(std::thread::hardware_concurrency(), 1U));
}

std::string gpu(std::size_t index, const std::string& about) {
  return commented("[[device]]", about) + "kind = \"cuda\"\n" +
         commented(fmt::format("index = {}", index),
                   "nine tenths of its free memory; memory = \"60%\" leaves others more") +
         commented("# precision = \"bf16\"",
                   "half the bytes of fp32, and faster; for all devices alike (docs/devices.md)");
}

}  // namespace

std::string found_devices() {
  std::string text;
  const std::vector<std::string> gpus = usable_gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) text += (i == 0 ? "" : "\n") + gpu(i, gpus[i]);
  return text.empty() ? processor() : text;
}

}  // namespace hydra::apps
