#pragma once
// The options of each kind of data, as plain structs.

#include "models/data/chat_template.hpp"
#include "models/data/file_list.hpp"
#include "models/pixel_scale.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <cstdint>
#include <filesystem>
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
  std::vector<std::int64_t> shape{};  ///< [channels, height, width]; then `features` is ignored
  std::int64_t classes = 10;
  std::int64_t samples = 4096;
  std::int64_t validation_samples = 512;
  double noise = 1.0;
  std::uint64_t seed = 0;
};

/// How tokens are masked: a sample has the same masks whenever it is read.
struct mask_options {
  double share = 0.15;  ///< of the tokens, at least one of each sample
  std::uint64_t seed = 0;
};

/// A UTF-8 text. Where the tokenizer is bytes, the vocabulary is 256.
struct text_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  tokenizer_choice tokenizer{};
  mask_options masking{};
};

/// Flat little-endian uint32 token ids, of a known vocabulary or of a tokenizer (masked samples need its special
/// tokens).
struct token_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  std::int64_t vocabulary = 0;         ///< 0: the tokenizer's
  tokenizer_choice tokenizer{};
  mask_options masking{};
};

/// What becomes of a file with records that cannot be read.
enum class bad_row_rule : std::uint8_t { refuse, leave_out };

/// A class as it is named in the data.
using class_label = std::variant<std::int64_t, std::string>;

/// JSON Lines: one object per line. Samples are a text, or `prompt` and `answer` with a loss on the answer only, or
/// `text` and `label`. Each but the label is the name of a field or a text with several (field_template.hpp).
struct jsonl_files {
  std::string kind = "jsonl";  ///< for messages
  file_list train{};
  file_list validation{};       ///< empty: none
  double validation_share = 0;  ///< of the records, taken from `train` if there is no validation file
  tokenizer_choice tokenizer{};
  std::string text = "text";
  std::string prompt{}, answer{};     ///< both or none; `text` is ignored then
  std::string short_prompt{};         ///< where a field of `prompt` is missing or empty; empty: there is no such prompt
  std::string label{};                ///< name of the field; for classification
  std::vector<class_label> labels{};  ///< class i is labels[i]; empty: see class_names.hpp
  bad_row_rule bad_rows = bad_row_rule::refuse;
  bool packing = false;    ///< several records in a window (record_windows.hpp); masked models: all texts joined
  mask_options masking{};  ///< its seed is also that of the validation share and of which records share a window
};

/// JSON Lines of conversations (read_conversation.hpp).
struct chat_files {
  file_list train{};
  file_list validation{};       ///< empty: none
  double validation_share = 0;  ///< of the records, taken from `train` if there is no validation file
  tokenizer_choice tokenizer{};
  template_choice format{};  ///< how a conversation becomes a text (chat_template.hpp)
  chat_loss loss = chat_loss::assistant;
  bad_row_rule bad_rows = bad_row_rule::refuse;
  bool packing = true;
  std::uint64_t seed = 0;  ///< of the validation share and of which conversations share a window
};

/// Comma-separated values with a header line. Samples are columns of numbers, or a column of text.
struct csv_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  std::string target{};                ///< column of classes, or of numbers
  std::vector<std::string> columns{};  ///< of numbers; empty: all but the target
  std::vector<class_label> labels{};   ///< class i is labels[i]; empty: see class_names.hpp
  bool regression = false;             ///< the target is a number
  bool standardise = true;             ///< each column to mean 0 and deviation 1 over the training file
  std::string text{};                  ///< column of texts; `columns` is ignored then
  tokenizer_choice tokenizer{};        ///< of the texts
  char separator = ',';
  bad_row_rule bad_rows = bad_row_rule::refuse;
  mask_options masking{};
};

/// A folder of class folders of images (image_file.hpp).
struct image_folders {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  double validation_share = 0;         ///< of each class, taken from `train` if there is no validation folder
  std::vector<class_label> labels{};   ///< class i is the folder labels[i]; empty: see class_names.hpp
  std::vector<std::int64_t> size{};    ///< [height, width]; empty: the model's, else its checkpoint's, else the files'
  std::int64_t channels = 0;           ///< 1 or 3; 0: what the model requires, else 3
  pixel_scale scale{};
  bool flip = false;       ///< a random half of the training images is mirrored left to right
  std::uint64_t seed = 0;  ///< of flips and of the validation share
};

/// CIFAR-10 or CIFAR-100 in the binary version: files of records, or folders with them under their original names.
struct cifar_files {
  std::vector<std::filesystem::path> train{};
  std::vector<std::filesystem::path> validation{};  ///< empty: the test batch of a `train` folder, else none
  std::int64_t classes = 10;                        ///< 10: CIFAR-10; 100 or 20: fine or coarse labels of CIFAR-100
  pixel_scale scale{};
  bool flip = false;
  std::uint64_t seed = 0;
};

/// Files in the format of safetensors: tensors whose first dimension is that of the samples.
struct tensor_files {
  std::filesystem::path train{};
  std::filesystem::path validation{};  ///< empty: none
  std::string target = "target";  ///< name of the tensor to predict; without it, a loss inside the model needs none
};

}  // namespace hydra
