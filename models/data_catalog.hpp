#pragma once
// The kinds of data a workload can name, as plain options, and the function that opens them.

#include "models/data_source.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// Markov source of the given order over `symbols` symbols (interfaces: `synthetic-language`).
struct synthetic_language {
  std::int64_t symbols = 32;
  std::int64_t order = 2;
  std::int64_t tokens = 200000;
  std::int64_t validation_tokens = 20000;
  std::uint64_t seed = 0;
};

/// Gaussian clusters: class c of `classes` has a random centre in `features` dimensions; samples are centre + noise.
/// With a shape they are images, and the centres smooth patterns.
struct synthetic_classes {
  std::int64_t features = 32;
  std::vector<std::int64_t> shape{};  ///< [channels, height, width]; then `features` is not looked at
  std::int64_t classes = 10;
  std::int64_t samples = 4096;
  std::int64_t validation_samples = 512;
  double noise = 1.0;
  std::uint64_t seed = 0;
};

/// Bytes of a UTF-8 text file as tokens (vocabulary 256).
struct text_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
};

/// Flat little-endian uint32 token ids.
struct token_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  std::int64_t vocabulary = 0;
};

/// One entry of `[data.NAME]`, or a user's own source.
struct data_description {
  std::variant<synthetic_language, synthetic_classes, text_files, token_files, std::shared_ptr<const data_source>> what;
  bool shuffle = true;
};

/// C++ API: hydra::text("corpus.txt").
data_description text(std::filesystem::path train, std::filesystem::path validation = {});

/// Opens a source. Of a text, sample i is the window of context+1 tokens at i*context. Throws fault_error{bad_input} or {io} with the file named: missing, not
/// readable, empty, not UTF-8, too short for one sample, a token id not below the vocabulary (with its position).
std::shared_ptr<const data_source> open_data(const data_description& data, const sample_request& wants);
inline std::shared_ptr<const data_source> open_data(const data_description& data, std::int64_t context) {
  return open_data(data, sample_request{.context = context});
}

/// Names for `kind = "..."`.
std::vector<std::string> data_kinds();

}  // namespace hydra
