#pragma once
// How a checkpoint's images were made into samples: preprocessor_config.json beside the weights.

#include "models/data/image.hpp"
#include "models/pixel_scale.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

struct image_preparation {
  std::filesystem::path file{};         ///< empty: there is no checkpoint
  pixel_scale scale{};                  ///< one number: of each channel; empty: there is no file
  bool lists_means = false;             ///< its numbers are those of a list, which is not spread over channels
  bool lists_deviations = false;        ///< the same
  image_size size{};                    ///< 0 x 0: it says none
  std::vector<std::string> notes{};     ///< for the user: what of it is not used, or done otherwise with all images
  std::vector<std::string> resizing{};  ///< and what of it Hydra does otherwise with images that are not of this size

  /// The data's own numbers, else these; a note where they differ. Throws fault_error{bad_input} if these are taken and
  /// are not as many as the channels.
  pixel_scale scale_for(const pixel_scale& own, std::int64_t channels);
  /// A note of what is used if the checkpoint does not say how its images were scaled, and the data's own numbers not
  /// all.
  void note_usual(const pixel_scale& own, const pixel_scale& used);
  /// A note if samples have another size.
  void compare_size(image_size samples);
};

/// Reads the file as transformers' image processors of vision transformers and ResNets do (of processor_config.json its
/// table "image_processor", which comes first there, too). Keys without an effect on pixels aside, a note for each that
/// is not used. Nothing if `checkpoint` is empty or has no such file. Throws as model_config does.
image_preparation read_preparation(const std::filesystem::path& checkpoint);

}  // namespace hydra
