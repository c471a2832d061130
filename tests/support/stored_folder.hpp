#pragma once
// Small folders on disk, and ways to change and damage them.

#include "runtime/storage/file_system.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace hydra::test {

/// Commits a durable folder of two files with text, "parameters" and "state", and an empty one, "notes".
void store_folder(file_system& files, const std::filesystem::path& place);

/// The text of the fault_error{io} that `step` throws; empty if it throws nothing.
std::string refusal_of(const std::function<void()>& step);

std::string text_of(const std::filesystem::path& file);
void overwrite(const std::filesystem::path& file, std::string_view text);

}  // namespace hydra::test
