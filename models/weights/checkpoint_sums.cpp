#include "models/weights/checkpoint_sums.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/verify_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kinds_of_weights{".safetensors", ".bin", ".pt",   ".pth",    ".ckpt",
                                                           ".gguf",        ".h5",  ".onnx", ".msgpack"};

bool is_small(const std::string& file) {
  return std::ranges::find(kinds_of_weights, fs::path{file}.extension().string()) == kinds_of_weights.end();
}

bool has_sums(const fs::path& folder) { return fs::exists(folder / checksum_file); }

/// A person edits settings, a chat template for instance; no one edits weights: those are damaged.
void refuse_changed_settings(const fs::path& folder) {
  if (const auto file = changed_file(folder, is_small))
    refuse(
        fmt::format("{} is not the file that was exported: its SHA-256 differs from {}. If it was edited on purpose, "
                    "remove its line from {}; otherwise export or get the checkpoint again",
                    (folder / *file).string(), checksum_file, (folder / checksum_file).string()));
}

/// `note`: what may surprise.
template <class Verify>
void refuse_damage(const Verify& verify, std::string_view note = {}) try {
  verify();
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  refuse(fmt::format("{}; get the checkpoint again, or remove {} if it is meant to be so{}", e.what_happened().text,
                     checksum_file, note));
}

}  // namespace

void verify_settings(const fs::path& folder) {
  if (has_sums(folder)) refuse_damage([&] { refuse_changed_settings(folder); });
}

void verify_checkpoint(const fs::path& folder) {
  verify_settings(folder);
  if (has_sums(folder))
    refuse_damage([&] { verify_listed(folder); },
                  ". (It is compared when weights are read, which hydra plan does not.)");
}

}  // namespace hydra
