#include "models/weights/checkpoint_sums.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace hydra;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using hydra::test::temporary_folder;

namespace checkpoint_sums_test {

namespace fs = std::filesystem;

constexpr const char* settings = "tokenizer_config.json";
constexpr const char* weights = "model.safetensors";

/// An export, as far as its sums tell.
struct exported {
  temporary_folder parent;
  fs::path folder = parent.path() / "export";

  exported() {
    durable_folder into{posix_file_system(), folder};
    for (const char* const name : {settings, weights}) into.write(name, std::string_view{"as it was"});
    into.commit();
  }
  void change(const char* file, std::string_view text = "other") const {
    parent.write(fs::path{"export"} / file, text);
  }
  std::string refusal_of_settings() const { return refusal(verify_settings); }
  std::string refusal_of_all() const { return refusal(verify_checkpoint); }

 private:
  std::string refusal(void (*verify)(const fs::path&)) const try {
    verify(folder);
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
};

TEST_CASE("settings that were edited are called so before weights are read, and again then") {
  const exported e;
  CHECK(e.refusal_of_settings().empty());
  CHECK(e.refusal_of_all().empty());
  e.change(settings);
  const std::string refusal = e.refusal_of_settings();
  CHECK_THAT(refusal, Contains((e.folder / settings).string() + " is not the file that was exported: its SHA-256") &&
                          Contains("remove its line from " + (e.folder / checksum_file).string()) &&
                          !Contains("damaged"));
  CHECK(e.refusal_of_all() == refusal);
}

TEST_CASE("an edited file whose line is removed from the sums is accepted, as the refusal says") {
  const exported e;
  e.change(settings);
  std::vector<checksum> sums = parse_checksums(read_text(e.folder / checksum_file, text_kind::checksums));
  REQUIRE(std::erase_if(sums, [](const checksum& s) { return s.file == settings; }) == 1);
  e.change(checksum_file, to_text(sums));
  CHECK(e.refusal_of_all().empty());
}

TEST_CASE("weights that differ are damaged, and are compared only when they are read") {
  const exported e;
  e.change(weights);
  CHECK(e.refusal_of_settings().empty());
  CHECK_THAT(e.refusal_of_all(), Contains("export is damaged: model.safetensors has the SHA-256") &&
                                     Contains("get the checkpoint again, or remove SHA256SUMS") &&
                                     EndsWith("when weights are read, which hydra plan does not.)"));
}

TEST_CASE("settings that are missing are found before weights are read, and without sums nothing is compared") {
  const exported e;
  fs::remove(e.folder / settings);
  CHECK_THAT(e.refusal_of_settings(), Contains("tokenizer_config.json is missing") && EndsWith("meant to be so"));
  fs::remove(e.folder / checksum_file);
  CHECK(e.refusal_of_all().empty());
}

}  // namespace checkpoint_sums_test
