#include "models/data/image_list.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/ordinary_user.hpp"
#include "tests/support/special_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Two classes with this many empty files each.
void fill(const temporary_folder& folder, int cats, int dogs) {
  for (int i = 0; i < cats; ++i) folder.write("cat/" + std::to_string(i) + ".png", "");
  for (int i = 0; i < dogs; ++i) folder.write("dog/" + std::to_string(i) + ".jpg", "");
}

}  // namespace

TEST_CASE("classes are the folders in their order, images their files, including those in subfolders") {
  const temporary_folder folder;
  folder.write("dog/b.JPG", "");
  folder.write("dog/a/c.png", "");
  folder.write("cat/x.jpeg", "");
  folder.write("cat/notes.txt", "");
  folder.write("cat/.hidden.png", "");
  folder.write(".git/y.png", "");
  const auto classes = class_folders(folder.path());
  CHECK(classes == std::vector<std::string>{"cat", "dog"});
  const auto images = list_images(folder.path(), classes, true);
  REQUIRE(images.size() == 3);
  CHECK(images[0].file == folder.path() / "cat/x.jpeg");
  CHECK(images[1].file == folder.path() / "dog/a/c.png");
  CHECK(images[2].label == 1);
  folder.write("loose.png", "");
  CHECK(other_files(folder.path()) == std::vector{folder.path() / "cat/notes.txt", folder.path() / "loose.png"});
  CHECK(other_files(folder.path() / "").size() == 2);
}

TEST_CASE("invalid folders are refused by name") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(class_folders(folder.path() / "none"), Contains("none does not exist"));
  folder.write("cat/notes.txt", "");
  CHECK_THROWS_WITH(class_folders(folder.path()), Contains("has 1 folders"));
  folder.write("dog/a.png", "");
  CHECK_THROWS_WITH(list_images(folder.path(), {"cat", "dog"}, true), Contains("cat has no file of an image"));
  CHECK(list_images(folder.path(), {"cat", "dog"}, false).size() == 1);
  CHECK_THROWS_WITH(list_images(folder.path(), {"ant", "cat"}, false), Contains("dog is not a class"));
}

TEST_CASE("a validation share is taken from each class, the same one every time") {
  const temporary_folder folder;
  fill(folder, 40, 10);
  const auto all = list_images(folder.path(), {"cat", "dog"}, true);
  const auto split_by = [&](std::uint64_t seed) {
    auto train = all;
    auto validation = take_share(train, 0.2, seed);
    return std::pair{train, validation};
  };
  const auto [train, validation] = split_by(1);
  CHECK(train.size() == 40);
  CHECK(std::ranges::count(validation, 0, &labelled_image::label) == 8);
  CHECK(std::ranges::count(validation, 1, &labelled_image::label) == 2);
  CHECK(std::ranges::equal(validation, split_by(1).second, {}, &labelled_image::file, &labelled_image::file));
  CHECK_FALSE(std::ranges::equal(validation, split_by(2).second, {}, &labelled_image::file, &labelled_image::file));
  for (const labelled_image& v : validation) CHECK(std::ranges::count(train, v.file, &labelled_image::file) == 0);
  auto again = all;
  CHECK(take_share(again, 0, 1).empty());
  CHECK_THROWS_WITH(take_share(again, 1, 1), Contains("validation_share is 1"));
}

TEST_CASE("a validation share leaves an image of each class to train on") {
  const temporary_folder folder;
  fill(folder, 3, 1);
  auto train = list_images(folder.path(), {"cat", "dog"}, true);
  CHECK(take_share(train, 0.9, 1).size() == 2);
  CHECK(std::ranges::count(train, 0, &labelled_image::label) == 1);
  CHECK(std::ranges::count(train, 1, &labelled_image::label) == 1);
}

TEST_CASE("links that lead nowhere or back, pipes and sockets are not images, and are counted") {
  const temporary_folder folder;
  fill(folder, 1, 1);
  const std::filesystem::path cat = folder.path() / "cat";
  std::filesystem::create_symlink("nowhere", cat / "dangling.png");
  std::filesystem::create_symlink("round.png", cat / "round.png");
  std::filesystem::create_directory_symlink(".", cat / "itself");
  std::filesystem::create_directory_symlink("..", cat / "back");  // with the first one 2^40 paths lead to each image
  make_pipe(cat / "pipe.png");
  make_socket(cat / "socket.png");
  CHECK(list_images(folder.path(), {"cat", "dog"}, true).size() == 2);
  std::vector<std::string> names;
  for (const auto& file : other_files(folder.path())) names.push_back(file.filename());
  CHECK(names == std::vector<std::string>{"back", "dangling.png", "itself", "pipe.png", "round.png", "socket.png"});
}

TEST_CASE("a folder that cannot be read is refused by name") {
  const temporary_folder folder;
  fill(folder, 1, 1);
  namespace fs = std::filesystem;
  fs::permissions(folder.path(), fs::perms::all);
  fs::create_directory(folder.path() / "cat" / "deep");
  fs::permissions(folder.path() / "cat" / "deep", fs::perms::none);
  fault_code code = fault_code::none;
  try {
    const ordinary_user somebody;
    list_images(folder.path(), {"cat", "dog"}, true);
  } catch (const fault_error& e) {
    code = e.what_happened().code;
  }
  fs::permissions(folder.path() / "cat" / "deep", fs::perms::all);
  CHECK(code == fault_code::io);
}
