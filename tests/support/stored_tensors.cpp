#include "tests/support/stored_tensors.hpp"

#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/writable_file.hpp"

#include <utility>

namespace hydra::test {

namespace {

struct text_file final : writable_file {
  std::size_t write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return bytes.size();
  }
  void flush() override {}
  void sync() override {}
  void close() override {}

  std::string text;
};

}  // namespace

stored_tensor tensor_of(stored_type type, std::vector<std::int64_t> shape, std::string_view text) {
  return {type, std::move(shape), std::as_bytes(std::span{text})};
}

std::string text_of(const stored_tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
}

std::string safetensors_text(const std::vector<named_tensor>& tensors) {
  text_file file;
  byte_sink sink{file};
  write_safetensors(sink, tensors);
  return file.text;
}

}  // namespace hydra::test
