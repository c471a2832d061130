#pragma once
// Data: samples by index. The position in the data is the step number, so nothing else must be restored.

#include "models/pixel_scale.hpp"
#include "models/tensor_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

enum class split : std::uint8_t { train, validation };

/// The form of samples of text for a model.
enum class sample_form : std::uint8_t {
  causal,  ///< i64[T]; targets i64[T], each the next token
  masked,  ///< i64[3, T]: ids, segments (0 or 1), 1 where a token is and 0 where padding; targets i64[T], -100 where not masked
  labelled ///< i64[3, T] as for masked; target i64[], the class of the sample
};

/// What a model requires of its data. A source ignores what does not apply to it.
struct sample_request {
  std::int64_t context = 0;  ///< tokens per sample
  sample_form form = sample_form::causal;
  std::vector<std::int64_t> image{};  ///< [channels, height, width]; empty: as in the files
  /// Folder of the checkpoint that the model starts from: text is read with its tokenizer unless the data name another.
  /// Empty: none.
  std::filesystem::path checkpoint{};
  friend bool operator==(const sample_request&, const sample_request&) = default;
};

/// Mean cross entropy per target, in nats, of a predictor that knows the source and sees the same context as a model.
struct loss_floor {
  double entropy = 0;   ///< on average over all texts of the source: exact
  double log_loss = 0;  ///< on these very samples; approaches `entropy` with their number
};

/// A finite set of samples. Thread-safe after construction. To add a kind of data, write such a class
/// (CONTRIBUTING.md).
class data_source {
 public:
  virtual ~data_source() = default;

  virtual std::size_t samples(split part) const = 0;
  virtual tensor_spec sample_input() const = 0;
  virtual tensor_spec sample_target() const = 0;
  /// Values of a model's output for one target: the number of classes it may take (vocabulary of a language model),
  /// or the size of a real target.
  virtual std::int64_t classes() const = 0;

  /// Upper bound of the token ids in the inputs of samples of text, if it is known and classes() is something else;
  /// else 0.
  virtual std::int64_t vocabulary() const { return 0; }

  /// Writes sample `index` (raw bytes of the specs above); returns the number of targets that count.
  virtual std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                           std::span<std::byte> target) const = 0;

  /// Throws fault_error{io} naming the file if a file of the samples has changed since it was opened. Called before
  /// each batch.
  virtual void require_unchanged() const {}

  /// The names of the classes, if they have any: classes() of them.
  virtual std::vector<std::string> class_names() const { return {}; }

  /// How samples were computed from images' pixels, after resizing; empty if they are not such images.
  virtual std::optional<pixel_scale> pixel_scaling() const { return std::nullopt; }

  /// For messages: "text corpus.txt".
  virtual std::string describe() const = 0;

  /// Distinguishes data that look alike: digests of the files' contents, the tokenizer's identity, the options that
  /// affect samples. A run is resumed only with the same fingerprint. Empty: nothing is known beyond the samples
  /// themselves.
  virtual std::string fingerprint() const { return {}; }

  /// A lower bound of the loss on the first `samples` samples of a split (on all, if there are fewer), if it is known.
  virtual std::optional<loss_floor> floor(split /*part*/, std::size_t /*samples*/) const { return std::nullopt; }
};

/// Targets of -100 do not count: they fill an incomplete last micro-batch.
inline bool masks_targets(const data_source& source) { return source.sample_target().type == element::i64; }
constexpr std::int64_t uncounted_target = -100;

}  // namespace hydra
