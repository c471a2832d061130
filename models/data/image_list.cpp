#include "models/data/image_list.hpp"

#include "models/data/image_file.hpp"
#include "models/random.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const fs::path& path, const std::string& what) {
  refuse(fmt::format("{} {}", path.string(), what));
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

/// Lists what is in a folder, but for what is hidden, and follows links but for those that lead back. An entry that
/// cannot be read is a fault, not the end of the list.
template <class Iterator>
void each_entry(const fs::path& folder, const std::function<void(const fs::directory_entry&)>& look) {
  std::error_code error;
  for (Iterator at{folder, fs::directory_options::follow_directory_symlink, error}; !error && at != Iterator{};
       at.increment(error)) {
    if (!is_hidden(at->path())) look(*at);
    if constexpr (requires { at.disable_recursion_pending(); })
      if (is_hidden(at->path()) || leads_back(*at)) at.disable_recursion_pending();
  }
  if (error) throw fault_error{fault_code::io, fmt::format("{}: {}", folder.string(), error.message())};
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) refuse_folder(folder, "does not exist");
  if (!fs::is_directory(folder, error))
    refuse_folder(folder, "is not a folder; one folder of images per class is expected");
  std::vector<std::string> names;
  each_entry<fs::directory_iterator>(folder, [&](const fs::directory_entry& e) {
    std::error_code ignored;
    if (e.is_directory(ignored) && !leads_back(e)) names.push_back(e.path().filename().string());
  });
  std::ranges::sort(names);
  return names;
}

std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> files;
  each_entry<fs::recursive_directory_iterator>(folder, [&](const fs::directory_entry& e) {
    std::error_code ignored;
    if (is_image_name(e.path()) && e.is_regular_file(ignored)) files.push_back(e.path());
  });
  std::ranges::sort(files);
  return files;
}

/// The share of the class with the smallest keyed numbers. At least one image is left.
std::set<fs::path> draw(const std::vector<labelled_image>& images, std::int64_t label, double share,
                        std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, fs::path>> drawn;
  for (const labelled_image& i : images)
    if (i.label == label) drawn.emplace_back(random_key(seed, i.file.filename().string()), i.file);
  std::ranges::sort(drawn);
  const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(drawn.size())));
  drawn.resize(std::min(wanted, drawn.empty() ? 0 : drawn.size() - 1));
  std::set<fs::path> files;
  for (const auto& [lot, file] : drawn) files.insert(file);
  return files;
}

}  // namespace

std::vector<std::string> class_folders(const fs::path& folder) {
  std::vector<std::string> names = folders_in(folder);
  if (names.size() < 2)
    refuse_folder(folder,
                  fmt::format("has {} folders; a folder for each class is expected, two or more", names.size()));
  return names;
}

std::vector<labelled_image> list_images(const fs::path& folder, const std::vector<std::string>& classes,
                                        bool complete) {
  for (const std::string& name : folders_in(folder))
    if (std::ranges::find(classes, name) == classes.end())
      refuse_folder(folder / name, "is not a class: the training images have no folder of that name");
  std::vector<labelled_image> images;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::error_code ignored;
    const bool there = fs::is_directory(folder / classes[c], ignored);
    const std::vector<fs::path> files = there ? images_below(folder / classes[c]) : std::vector<fs::path>{};
    if (complete && there && files.empty()) refuse_folder(folder / classes[c], "has no file of an image");
    for (const fs::path& file : files) images.push_back({file, static_cast<std::int64_t>(c)});
  }
  if (images.empty()) refuse_folder(folder, "has no file of an image");
  return images;
}

std::vector<fs::path> other_files(const fs::path& folder) {
  std::vector<fs::path> others;
  each_entry<fs::recursive_directory_iterator>(folder, [&](const fs::directory_entry& e) {
    std::error_code ignored;
    const bool in_a_folder = e.path().lexically_relative(folder).has_parent_path();
    const bool of_a_class = in_a_folder && e.is_regular_file(ignored) && is_image_name(e.path());
    if (!of_a_class && (!e.is_directory(ignored) || leads_back(e))) others.push_back(e.path());
  });
  std::ranges::sort(others);
  return others;
}

std::vector<labelled_image> take_share(std::vector<labelled_image>& images, double share, std::uint64_t seed) {
  if (!(share >= 0 && share < 1))
    refuse(fmt::format("images: validation_share is {}; it must be at least 0 and below 1", share));
  std::set<fs::path> chosen;
  for (std::int64_t c = 0; !images.empty() && c <= images.back().label; ++c) chosen.merge(draw(images, c, share, seed));
  std::vector<labelled_image> taken, left;
  std::ranges::partition_copy(images, std::back_inserter(taken), std::back_inserter(left),
                              [&](const labelled_image& i) { return chosen.contains(i.file); });
  images = std::move(left);
  return taken;
}

}  // namespace hydra
