#pragma once
// Small models of SentencePiece for tests, written as the protobuf ModelProto of sentencepiece_model.proto.

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace hydra::test {

struct made_piece {
  enum class kind { normal = 1, unknown, control, user_defined, unused, byte };
  std::string text;
  float score = 0;
  kind what = kind::normal;
};

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes += static_cast<char>(value);
}

inline std::string number_field(unsigned field, std::uint64_t value) { return varint(field << 3) + varint(value); }

inline std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

inline std::string float_field(unsigned field, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes = varint(field << 3 | 5);
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> 8 * i & 255);
  return bytes;
}

enum class made_model { unigram = 1, bpe };

/// A model that writes blanks as U+2581, also before a text, and leaves white space as it is.
inline std::string sentencepiece_file(made_model type, const std::vector<made_piece>& pieces) {
  std::string file;
  for (const auto& [text, score, what] : pieces)
    file += bytes_field(1, bytes_field(1, text) + float_field(2, score) + number_field(3, static_cast<unsigned>(what)));
  file += bytes_field(2, number_field(3, static_cast<unsigned>(type)));
  return file + bytes_field(3, bytes_field(1, "identity") + number_field(4, 0));
}

}  // namespace hydra::test
