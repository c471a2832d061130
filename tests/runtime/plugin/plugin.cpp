#include "runtime/plugin/plugin.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"
#include "tests/support/test_plugin.hpp"

#include <hydra/plugin.hpp>

#include <catch2/catch.hpp>

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string_view>

using namespace hydra;
using Catch::Contains;
using hydra::test::test_plugin;

namespace {

std::string refusal(const std::filesystem::path& file, const std::string& abi = plugin_abi) {
  try {
    load_plugin(file, abi);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(), Contains(file.filename().string()));
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a plug-in lists what it offers", "[plugin]") {
  const auto p = load_plugin(test_plugin("two_policies"), plugin_abi);
  CHECK(p.file == std::filesystem::canonical(test_plugin("two_policies")));
  REQUIRE(p.items->size() == 2);
  CHECK(p.items->front().kind == plugin_kind::policy);
  CHECK(p.items->front().name == "first-candidate");
  CHECK(p.items->front().help == "the first one");
  CHECK(p.describe() == "policy \"first-candidate\", policy \"last-candidate\"");
}

TEST_CASE("a file that is not a plug-in is refused with its path and the reason", "[plugin]") {
  CHECK_THAT(refusal("/nowhere/libx.so"), Contains("no such file"));
  CHECK_THAT(refusal(std::filesystem::temp_directory_path()), Contains("not a file"));
  const test::temporary_file text{"this is not a shared object"};
  CHECK_THAT(refusal(text.path()), Contains("cannot be loaded"));
  CHECK_THAT(refusal(test_plugin("no_entry_point")), Contains("no function hydra_plugin_v1"));
  CHECK_THAT(refusal(test_plugin("null_table")), Contains("returns no table"));
  CHECK_THAT(refusal(test_plugin("unresolved")), Contains("needs hydra::test::function_of_nobody(int)"));
  CHECK_THAT(refusal(test_plugin("unknown_kind")), Contains("\"oracle\" is of an unknown kind (77)"));
}

TEST_CASE("a plug-in that is cut short is refused, wherever it ends", "[plugin]") {
  std::ifstream whole{test_plugin("two_policies"), std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{whole}, {}};
  for (const std::size_t there : {std::size_t{64}, bytes.size() / 4, bytes.size() / 2, bytes.size() - 1}) {
    INFO(there << " bytes of " << bytes.size());
    const test::temporary_file part{std::string_view{bytes}.substr(0, there)};
    CHECK_THAT(refusal(part.path()), Contains("it is cut short: " + std::to_string(there) + " bytes are there"));
  }
  const test::temporary_file copy{bytes};
  CHECK(refusal(copy.path()) == "accepted");
  auto damaged = bytes;
  damaged.replace(offsetof(ElfW(Ehdr), e_shoff), 8, 8, '\xff');
  CHECK_THAT(refusal(test::temporary_file{damaged}.path()),
             Contains("it is cut short"));  // a table that no file can have
}

TEST_CASE("a library that a plug-in misses is named, one of CUDA with its package", "[plugin]") {
  CHECK_THAT(refusal(test_plugin("needs_one")),
             Contains("it needs the library libhydra_stub_one.so, which is not there") && !Contains("package"));
  CHECK_THAT(refusal(test_plugin("needs_cuda")),
             Contains("it needs the library libcudart.so.0, which is not there (PyPI package nvidia-cuda-runtime)"));
}

TEST_CASE("of a plug-in of another build only the ABI string is read", "[plugin]") {
  const auto text = refusal(test_plugin("wrong_abi"));
  CHECK_THAT(text, Contains("built for [hydra 99.0.0, of another world]") && Contains(plugin_abi) &&
                       Contains("build it again"));
  CHECK_THAT(refusal(test_plugin("two_policies"), "something else"), Contains("this program is [something else]"));
}

TEST_CASE("the ABI string names project, interfaces, LibTorch, CAF, compiler and standard library", "[plugin]") {
  CHECK_THAT(plugin_abi,
             Contains("hydra 0.") && Contains("interfaces ") && Contains("LibTorch 2.") && Contains("CAF 0.17."));
  CHECK_THAT(plugin_abi, Contains(__VERSION__) && (Contains("libstdc++ 20") || Contains("libc++ ")));
}

TEST_CASE("a plug-in is loaded once, and two that offer the same name are refused", "[plugin]") {
  plugin_set set{{.abi = plugin_abi}};
  set.load(test_plugin("two_policies"));
  set.load(test_plugin("two_policies"));
  CHECK(set.all().size() == 1);
  CHECK_THROWS_WITH(set.load(test_plugin("same_name")),
                    Contains("same_name.so") && Contains("policy \"first-candidate\"") && Contains("two_policies.so"));
  CHECK(set.all().size() == 1);
}

TEST_CASE("a program accepts what it uses from plug-ins, and no name that it has itself", "[plugin]") {
  plugin_set set{{.abi = plugin_abi, .used = {plugin_kind::device}, .own = {{plugin_kind::device, "cpu"}}}};
  CHECK_THROWS_WITH(
      set.load(test_plugin("two_policies")),
      Contains("policy \"first-candidate\"") && Contains("does not take from plug-ins (it takes: device)"));
  CHECK_THROWS_WITH(set.load(test_plugin("takes_cpu")), Contains("it offers device \"cpu\", as Hydra itself does"));
  CHECK(set.all().empty());
  set.load(test_plugin("thread_device"));
  CHECK_THROWS_WITH(set.load(test_plugin("same_device")),
                    Contains("device \"thread\"") && Contains("thread_device.so"));
  CHECK(set.load(test_plugin("devices")).items->size() == 4);  // with a policy, which it does not use
}
