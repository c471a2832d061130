#pragma once
// The header of a safetensors file, checked against the format and the file's size.

#include "models/weights/safetensors.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// One tensor of a header. Its data are the bytes [begin, end) after the header.
struct header_entry {
  std::string name;
  stored_type type = stored_type::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

/// The texts of "__metadata__" and the tensors.
struct safetensors_header {
  std::map<std::string, std::string> metadata;
  std::vector<header_entry> entries;
};

/// Entries in the order of their data (empty ones at the same offset by name), which they cover from 0 to `data_bytes`
/// without gap or overlap, each as long as its type and shape say. Unknown keys of an entry are ignored. Throws
/// fault_error{bad_input} with the tensor's name for anything else: not a JSON object, a name given twice, an unknown
/// type, a shape or offsets that are not integers or do not fit.
safetensors_header parse_safetensors_header(std::string_view json, std::uint64_t data_bytes);

}  // namespace hydra
