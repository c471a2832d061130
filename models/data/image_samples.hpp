#pragma once
// Image files as samples.

#include "models/data/image_file.hpp"
#include "models/data/image_list.hpp"
#include "models/data/pixel_values.hpp"
#include "models/data_source.hpp"

#include <string>

namespace hydra {

struct image_samples_options {
  std::string name;  ///< for messages
  std::vector<labelled_image> train{};
  std::vector<labelled_image> validation{};  ///< may be empty
  std::int64_t classes = 0;
  std::vector<std::string> names{};  ///< of the classes
  std::vector<std::string> notes{};
  std::vector<std::string> resizing{};  ///< notes for the user if an image has to be resized
  image_size size{};  ///< 0 x 0: that of the files, which must all have the same size
  std::int64_t channels = 3;
  pixel_scale scale{};
  bool flip = false;
  std::uint64_t seed = 0;
};

/// f32[channels, height, width]; the target is the class. An image is decoded when it is read.
class image_samples final : public data_source {
 public:
  /// Reads the header and the end of every file. Throws as outline_of and pixel_values do, and
  /// fault_error{bad_input} if the images have different sizes and none was given, or channels is neither 1 nor 3.
  explicit image_samples(image_samples_options options);

  std::size_t samples(split part) const override { return list(part).size(); }
  tensor_spec sample_input() const override {
    return {{options_.channels, options_.size.height, options_.size.width}, element::f32};
  }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return options_.classes; }
  /// Throws fault_error{bad_input} naming a file that is damaged after its header.
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::vector<std::string> class_names() const override { return options_.names; }
  std::optional<pixel_scale> pixel_scaling() const override { return options_.scale; }
  std::vector<std::string> notes() const override { return options_.notes; }
  std::string describe() const override { return options_.name; }
  std::string fingerprint() const override { return fingerprint_; }

 private:
  const std::vector<labelled_image>& list(split part) const noexcept {
    return part == split::train ? options_.train : options_.validation;
  }
  /// Takes its size if there is none yet, and adds to the notes; throws as the constructor does.
  void look_at_files();
  void require_equal_size(const labelled_image& i, image_size size) const;

  image_samples_options options_;
  pixel_values values_;
  std::string fingerprint_;
};

}  // namespace hydra
