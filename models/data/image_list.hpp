#pragma once
// The images of a folder of class folders.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

struct labelled_image {
  std::filesystem::path file;
  std::int64_t label = 0;
};

/// Names of the folders in `folder`, sorted. Hidden ones are ignored. Throws
/// fault_error{bad_input} if the folder does not exist or has fewer than two folders.
std::vector<std::string> class_folders(const std::filesystem::path& folder);

/// The files below each class folder whose names are those of images, sorted by class and path. `classes`: the folder
/// of class 0, 1, ...; some may not be there. Throws fault_error{bad_input} for a folder that is not a class, one of a
/// class without an image (if `complete`), or no image at all; fault_error{io} for a folder that cannot be read.
std::vector<labelled_image> list_images(const std::filesystem::path& folder, const std::vector<std::string>& classes,
                                        bool complete);

/// What list_images() passes over: files with other names, those outside of the class folders, and what is not a file:
/// links that lead nowhere or back, pipes. Sorted; hidden ones are left out.
std::vector<std::filesystem::path> other_files(const std::filesystem::path& folder);

/// Moves `share` of each class (rounded, but never all of it) from `images` to the result, chosen by seed and name.
/// Both keep their order. Throws fault_error{bad_input} unless the share is at least 0 and below 1.
std::vector<labelled_image> take_share(std::vector<labelled_image>& images, double share, std::uint64_t seed);

}  // namespace hydra
