#include "partition/checkpoint/checkpoint_size.hpp"

#include "models/moment_layout.hpp"
#include "models/parameter_layout.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"

#include <cstddef>
#include <system_error>

namespace hydra {

namespace {

std::size_t moment_bytes(const moment_place& p) {
  return p.in_blocks ? p.elements + moment_blocks(p.elements) * sizeof(float) : p.elements * sizeof(float);
}

}  // namespace

byte_count checkpoint_bytes(const chain& model, const update_options& update) {
  const parameter_layout layout(model, 0, model.size());
  const moment_layout moments(layout, update);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < layout.parameters().size(); ++i) {
    const auto& p = layout.parameters()[i];
    if (!p.tied_to.empty() || p.frozen) continue;  // as in a checkpoint
    bytes += p.elements * sizeof(float);
    for (std::size_t b = 0; b < moments.buffers(); ++b) bytes += moment_bytes(moments.places(b)[i]);
  }
  return byte_count{bytes};
}

byte_count saved_bytes(const std::filesystem::path& of_model) {
  byte_count sum;
  std::error_code error;
  for (const auto& state : list_states(of_model)) {
    for (const auto& file : std::filesystem::directory_iterator(state, error)) {
      const auto bytes = file.file_size(error);
      sum += byte_count{error ? 0 : bytes};
    }
  }
  return sum;
}

}  // namespace hydra
