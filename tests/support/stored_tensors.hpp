#pragma once
// Tensors whose elements are the bytes of a text.

#include "models/weights/safetensors.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hydra::test {

/// The text outlives the tensor.
stored_tensor tensor_of(stored_type type, std::vector<std::int64_t> shape, std::string_view text);
std::string text_of(const stored_tensor& tensor);

/// What write_safetensors() writes.
std::string safetensors_text(const std::vector<named_tensor>& tensors);

}  // namespace hydra::test
