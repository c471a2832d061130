#include "models/families/preprocessor_config.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/resnet/resnet.hpp"
#include "models/families/vit/vit.hpp"
#include "models/weights/hub_export.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace hydra;
using namespace hydra::test;

namespace preprocessor_config_test {

using nlohmann::json;

/// Two classes with one image of 8 x 8 pixels each.
std::shared_ptr<const data_source> pets(const temporary_folder& folder, image_folders options = {}) {
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(folder.path() / "pets" / name);
    write_png(folder.path() / "pets" / name / "1.png", ramp(image_size{8, 8}, 3));
  }
  options.train = folder.path() / "pets";
  return open_data(images(std::move(options)), 0);
}

TEST_CASE("the preprocessing of images is written as transformers' image processors read it") {
  const temporary_folder folder;
  const auto data = pets(folder, {.size = {12, 16}, .scale = {.mean = {0.5, 0.25, 0.125}, .deviation = {1, 2, 4}}});
  const json reported = json::parse(preprocessor_config(*data));
  CHECK(reported["size"] == json{{"height", 12}, {"width", 16}});
  CHECK(reported["image_mean"] == json{0.5, 0.25, 0.125});
  CHECK(reported["image_std"] == json{1, 2, 4});
  CHECK(reported["rescale_factor"].get<double>() == 1.0 / 255);
  for (const char* key : {"do_resize", "do_rescale", "do_normalize", "do_convert_rgb"}) CHECK(reported[key] == true);
}

TEST_CASE("numbers that the user leaves out are written as they are used") {
  const temporary_folder folder;
  const json reported = json::parse(preprocessor_config(*pets(folder)));
  CHECK(reported["image_mean"] == json{0.485, 0.456, 0.406});
  CHECK(reported["size"] == json{{"height", 8}, {"width", 8}});
}

TEST_CASE("data other than images of three channels have no image processor") {
  const temporary_folder folder;
  CHECK(preprocessor_config(*pets(folder, {.channels = 1})).empty());
  CHECK(preprocessor_config(*open_data({synthetic_classes{.shape = {3, 8, 8}}}, 0)).empty());
  CHECK(preprocessor_config(*open_data({synthetic_language{}}, 4)).empty());
}

TEST_CASE("a folder whose name is not UTF-8 becomes a label with the invalid bytes replaced") {
  const temporary_folder folder;
  std::filesystem::create_directories(folder.path() / "pets" / "caf\xE9");
  write_png(folder.path() / "pets" / "caf\xE9" / "1.png", ramp(image_size{8, 8}, 3));
  const chain model = vit({.layers = 1, .width = 8, .heads = 2, .patch = 4}).build(*pets(folder));
  CHECK(json::parse(model.hub().config)["id2label"]["0"] == "caf\xEF\xBF\xBD");
}

TEST_CASE("models of images have the folders' names as labels, and their processor next to the weights") {
  const temporary_folder folder;
  const auto data = pets(folder, {.size = {32, 32}});
  for (const chain& model : {vit({.layers = 1, .width = 8, .heads = 2, .patch = 4}).build(*data),
                             resnet({.depths = {1}, .hidden_sizes = {8}, .embedding_size = 4}).build(*data)}) {
    CAPTURE(model.family());
    CHECK(json::parse(model.hub().config)["id2label"] == json{{"0", "cat"}, {"1", "dog"}});
    const auto out = folder.path() / model.family();
    durable_folder into{posix_file_system(), out};
    const std::vector<float> zeros(1 << 16);
    write_hub_files(into, model, [&](const parameter_spec& p) {
      return stored_tensor{stored_type::f32, p.shape,
                           std::as_bytes(std::span{zeros}).first(p.elements() * sizeof(float))};
    });
    into.commit();
    CHECK(json::parse(std::ifstream{out / "preprocessor_config.json"}) == json::parse(preprocessor_config(*data)));
  }
}

}  // namespace preprocessor_config_test
