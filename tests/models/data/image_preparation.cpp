#include "models/data/image_preparation.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

using reals = std::vector<double>;

/// Of a checkpoint whose preprocessor_config.json holds this.
image_preparation prepared(const std::string& config) {
  const temporary_folder folder;
  folder.write("preprocessor_config.json", config);
  return read_preparation(folder.path());
}

bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  return std::ranges::any_of(notes, [&](const std::string& n) { return n.find(part) != n.npos; });
}

/// Two classes with an image of 8 x 8 pixels each.
void write_pets(const temporary_folder& folder) {
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(folder.path() / "pets" / name);
    write_png(folder.path() / "pets" / name / "1.png", ramp({8, 8}, 3));
  }
}

}  // namespace

// The files are those beside google/vit-base-patch16-224 and microsoft/resnet-50, of facebook/deit-base-patch16-224 the
// keys that matter here.
TEST_CASE("the numbers and the size of a checkpoint's images are read as transformers reads them") {
  const auto vit = prepared(R"({"do_normalize": true, "do_resize": true, "image_mean": [0.5, 0.5, 0.5],
                                "image_std": [0.5, 0.5, 0.5], "size": 224})");
  CHECK(vit.scale.mean == reals{0.5, 0.5, 0.5});
  CHECK(vit.size == image_size{224, 224});
  CHECK(vit.notes.empty());
  CHECK(vit.resizing.empty());

  const auto resnet = prepared(R"({"crop_pct": 0.875, "do_normalize": true, "do_resize": true,
                                   "feature_extractor_type": "ConvNextFeatureExtractor", "image_mean": [0.485, 0.456, 0.406],
                                   "image_std": [0.229, 0.224, 0.225], "resample": 3, "size": 224})");
  CHECK(resnet.scale.deviation == reals{0.229, 0.224, 0.225});
  CHECK(resnet.size == image_size{224, 224});
  CHECK(resnet.resizing.size() == 1);
  CHECK(has_note(resnet.resizing, "resample = 3 (bicubic)"));
  CHECK(resnet.notes.size() == 1);
  CHECK(has_note(resnet.notes, "lose their borders"));  // also those of 224 x 224: they are made larger before

  const auto deit =
      prepared(R"({"image_processor_type": "DeiTImageProcessor", "crop_size": {"height": 224, "width": 224},
                                 "do_center_crop": true, "size": {"height": 256, "width": 256}, "resample": 2})");
  CHECK(deit.size == image_size{224, 224});
  CHECK(deit.resizing.empty());
  CHECK(has_note(deit.notes, "lose their borders"));

  const auto shortest = prepared(R"({"size": {"shortest_edge": 224}})");
  CHECK(shortest.notes.empty());
  CHECK(has_note(shortest.resizing, "images keep their shape"));
  CHECK(prepared(R"({"do_center_crop": true, "size": 224, "crop_size": 224})").resizing.size() == 1);
}

TEST_CASE("what a file leaves out is as the image processor that it names has it") {
  CHECK(prepared("{}").scale.mean == reals{0.5});
  CHECK(prepared(R"({"image_processor_type": "ViTImageProcessor"})").resizing.empty());
  CHECK(prepared(R"({"image_processor_type": "ConvNextImageProcessorFast", "size": {"shortest_edge": 384}})")
            .resizing.size() == 1);
  CHECK(prepared(R"({"image_processor_type": "DeiTImageProcessor"})").resizing.size() == 1);
  CHECK(prepared(R"({"image_processor_type": "DeiTImageProcessor"})").notes.size() == 1);
  CHECK(has_note(prepared(R"({"image_processor_type": "BitImageProcessor"})").notes, "\"BitImageProcessor\""));
  CHECK(read_preparation({}).scale.mean.empty());
  CHECK(read_preparation(temporary_folder{}.path()).scale.mean.empty());
}

// transformers: value * rescale_factor, then minus image_mean, by image_std.
TEST_CASE("other factors become means and deviations of values in [0, 1]") {
  const auto doubled = prepared(R"({"rescale_factor": 0.00784313725490196, "image_mean": 1, "image_std": [0.5]})");
  CHECK(doubled.scale.mean[0] == Approx(0.5));
  CHECK(doubled.scale.deviation[0] == Approx(0.25));
  CHECK_THROWS_WITH(prepared(R"({"rescale_factor": 0})"),
                    Contains("preprocessor_config.json: rescale_factor: 0 is not positive"));
  const auto whole = prepared(R"({"do_rescale": false, "image_mean": [127.5, 0, 255], "image_std": [255, 1, 1]})");
  CHECK(whole.scale.mean == reals{0.5, 0, 1});
  CHECK(whole.scale.deviation[1] == Approx(1 / 255.0));
  CHECK(prepared(R"({"do_normalize": false})").scale.deviation == reals{1});
}

TEST_CASE("keys that are not used are named, but for those without an effect") {
  const auto p =
      prepared(R"({"do_thumbnail": true, "do_pad": false, "pad_size": 9, "do_convert_rgb": true, "size": {"height": 8,
                              "width": 9, "longest_edge": 10}, "rescale_offset": true, "crop_size": 3, "do_resize": true})");
  CHECK(p.notes.size() == 3);
  CHECK(has_note(p.notes, "preprocessor_config.json: Hydra does not use do_thumbnail = true"));
  CHECK(has_note(p.notes, "Hydra does not use size.longest_edge"));
  CHECK(has_note(p.notes, "Hydra does not use rescale_offset"));
  CHECK_THROWS_WITH(prepared(R"({"do_flip_channel_order": true})"),
                    Contains("do_flip_channel_order: true is not supported"));
  CHECK_THROWS_WITH(prepared(R"({"size": 0})"), Contains("size: is not at least 1"));
  CHECK_THROWS_WITH(prepared(R"({"resample": 6})"), Contains("resample: is none of Pillow's filters"));
}

TEST_CASE("the table of processor_config.json comes first") {
  const temporary_folder folder;
  folder.write("preprocessor_config.json", R"({"image_mean": [0.1, 0.2, 0.3]})");
  folder.write("processor_config.json",
               R"({"processor_class": "P", "image_processor": {"image_mean": [0.4, 0.5, 0.6], "x": 1}})");
  const auto p = read_preparation(folder.path());
  CHECK(p.scale.mean == reals{0.4, 0.5, 0.6});
  CHECK(has_note(p.notes, "processor_config.json: Hydra does not use image_processor.x = 1"));
  folder.write("processor_config.json", R"({"processor_class": "P"})");
  CHECK(read_preparation(folder.path()).scale.mean == reals{0.1, 0.2, 0.3});
}

TEST_CASE("images are scaled as the checkpoint of the model says it, unless the data say otherwise, which is noted") {
  const temporary_folder folder;
  write_pets(folder);
  folder.write("vit/preprocessor_config.json",
               R"({"image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25], "size": 4})");
  image_folders o{.train = folder.path() / "pets"};
  const sample_request wants{.checkpoint = folder.path() / "vit"};
  const auto stored = open_data(images(o), wants);
  CHECK(stored->sample_input().shape == std::vector<std::int64_t>{3, 4, 4});
  CHECK(stored->pixel_scaling()->deviation == reals{0.25, 0.25, 0.25});
  CHECK(stored->notes().empty());

  o.size = {8, 8};
  o.scale.mean = {0, 0, 0};
  const auto own = open_data(images(o), wants);
  CHECK(own->pixel_scaling()->mean == reals{0, 0, 0});
  CHECK(read_sample<float>(*own, 0).input[0] == Approx(10 / 255.0 / 0.25));
  CHECK(has_note(own->notes(), "image_mean is [0.5, 0.5, 0.5], but the data's mean = [0, 0, 0] is used"));
  CHECK(has_note(own->notes(), "size is 4 x 4, but samples are 8 x 8"));
  CHECK(open_data(images(o), 0)->notes().empty());
  o.scale.mean = {};
  o.channels = 1;
  CHECK_THROWS_WITH(open_data(images(o), wants),
                    Contains("preprocessor_config.json: image_mean has 3 numbers, but images have 1"));
}

// transformers: "mean must have 3 elements if it is an iterable, got 1".
TEST_CASE("one number is that of each channel, a list of one only that of one") {
  const temporary_folder folder;
  write_pets(folder);
  const sample_request wants{.checkpoint = folder.path() / "vit"};
  image_folders o{.train = folder.path() / "pets"};
  folder.write("vit/preprocessor_config.json", R"({"image_mean": 0.25, "image_std": [0.5]})");
  CHECK_THROWS_WITH(open_data(images(o), wants),
                    Contains("image_std has 1 number, but images have 3 channels: give the data deviation = [...]"));
  o.channels = 1;
  CHECK(open_data(images(o), wants)->pixel_scaling()->deviation == reals{0.5});
  o.channels = 3;
  folder.write("vit/preprocessor_config.json", R"({"image_mean": 0.25, "image_std": 0.5})");
  CHECK(open_data(images(o), wants)->pixel_scaling()->mean == reals{0.25, 0.25, 0.25});
  folder.write("vit/preprocessor_config.json", R"({"image_mean": [0.5], "image_std": 0.5})");
  CHECK_THROWS_WITH(open_data(images(o), wants), Contains("image_mean has 1 number, but images have 3 channels"));
  folder.write("vit/preprocessor_config.json", R"({"image_mean": [0.5], "image_std": [0.5], "do_normalize": false})");
  CHECK(open_data(images(o), wants)->pixel_scaling()->mean == reals{0, 0, 0});
}

TEST_CASE("what scales images is noted where the checkpoint does not say it") {
  const temporary_folder folder;
  write_pets(folder);
  std::filesystem::create_directories(folder.path() / "vit");
  const sample_request wants{.checkpoint = folder.path() / "vit"};
  image_folders o{.train = folder.path() / "pets", .scale = {.deviation = {1, 1, 1}}};
  CHECK(has_note(
      open_data(images(o), wants)->notes(),
      "vit/preprocessor_config.json is not there: images are scaled by mean = [0.485, 0.456, 0.406] and deviation = "
      "[1, 1, 1]"));
  CHECK(open_data(images(o), 0)->notes().empty());
  o.scale.mean = {0, 0, 0};
  CHECK(open_data(images(o), wants)->notes().empty());
  const cifar_files c{.train = {folder.write("a.bin", std::string(3073, '\0'))}};
  CHECK(has_note(open_data(cifar(c), wants)->notes(), "images are scaled by mean = [0.4914, 0.4822, 0.4465]"));
}

TEST_CASE("how the checkpoint's images are resized is noted where one of the data has another size") {
  const temporary_folder folder;
  write_pets(folder);
  image_folders o{.train = folder.path() / "pets"};
  const auto notes = [&](int size) {
    folder.write("vit/preprocessor_config.json",
                 R"({"image_mean": 0.5, "image_std": 0.5, "resample": 3, "size": )" + std::to_string(size) + "}");
    return open_data(images(o), {.checkpoint = folder.path() / "vit"})->notes();
  };
  CHECK(notes(8).empty());
  CHECK(has_note(notes(4), "resample = 3 (bicubic), but Hydra resizes images bilinearly"));
  write_png(folder.path() / "pets" / "dog" / "2.png", ramp({8, 9}, 3));
  CHECK(has_note(notes(8), "resample = 3 (bicubic)"));
}

TEST_CASE("CIFAR's images are scaled as the checkpoint of the model says it, too") {
  const temporary_folder folder;
  folder.write("vit/preprocessor_config.json", R"({"image_mean": 0.5, "image_std": 0.5, "size": 224, "resample": 3})");
  const cifar_files o{.train = {folder.write("a.bin", std::string(3073, '\0'))}};
  const auto data = open_data(cifar(o), {.checkpoint = folder.path() / "vit"});
  CHECK(read_sample<float>(*data, 0).input[0] == -1);
  CHECK(data->notes().size() == 1);
  CHECK(has_note(data->notes(), "size is 224 x 224, but samples are 32 x 32"));
}

TEST_CASE("files that are not images of a class are counted and named") {
  const temporary_folder folder;
  write_pets(folder);
  const image_folders o{.train = folder.path() / "pets"};
  CHECK(open_data(images(o), 0)->notes().empty());
  folder.write("pets/metadata.csv", "");
  const std::string one = open_data(images(o), 0)->notes().at(0);
  CHECK(one.ends_with("pets: 1 file is not read (by name and place not an image of a class): metadata.csv"));
  for (const char* name : {"cat/a.txt", "cat/b.txt", "dog/c.json"})
    folder.write(std::filesystem::path{"pets"} / name, "");
  CHECK(open_data(images(o), 0)
            ->notes()
            .at(0)
            .ends_with("4 files are not read (by name and place not an image of a class): "
                       "cat/a.txt, cat/b.txt, dog/c.json, ..."));
}
