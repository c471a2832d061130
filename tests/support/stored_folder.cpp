#include "tests/support/stored_folder.hpp"

#include "runtime/storage/durable_folder.hpp"

#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>

namespace hydra::test {

void store_folder(file_system& files, const std::filesystem::path& place) {
  durable_folder folder{files, place};
  const auto text = [](std::string_view t) { return [t](byte_sink& out) { out.add(std::as_bytes(std::span{t})); }; };
  folder.write("parameters", text("three weights"));
  folder.write("state", text("{\"step\": 120}"));
  folder.write("notes", text(""));
  folder.commit();
}

std::string refusal_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const fault_error& e) {
    const fault_code code = e.what_happened().code;
    if (code != fault_code::io && code != fault_code::damaged) throw;
    return e.what();
  }
  return {};
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

void overwrite(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out{file, std::ios::binary};
  out << text << std::flush;
  if (!out) throw std::runtime_error{"cannot overwrite " + file.string()};
}

}  // namespace hydra::test
