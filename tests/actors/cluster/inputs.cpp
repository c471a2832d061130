// Files and folders of a workload that a node lacks come from the coordinator.

#include "actors/cluster/inputs.hpp"
#include "actors/cluster/input_receiver.hpp"
#include "actors/cluster/transfer_progress.hpp"
#include "actors/protocol/system_config.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace inputs_test {

namespace fs = std::filesystem;
using contents = std::map<std::string, std::string>;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

contents all_below(const fs::path& folder) {
  contents all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      all[entry.path().lexically_relative(folder).string()] = read_text(entry.path(), text_kind::record);
  return all;
}

/// A process with the inputs "text" and "pictures", and one that has neither.
struct two_machines {
  explicit two_machines(const fs::path& at)
      : here(at / "here"), there(at / "there"), config(make_system_config()), system(*config) {
    write(here / "text.txt", std::string(700'004, 'x'));
    write(here / "copy" / "text.txt", read_text(here / "text.txt", text_kind::record));
    write(here / "copy" / "beside.json", "{}");
    for (const auto& [name, text] : pictures) write(here / "pictures" / name, text);
    write(here / "pictures" / ".cache" / "x", "not this");
    write(here / "pictures" / "cat" / ".hidden", "nor this");
    source = spawn_inputs(system, {{"text", {here / "text.txt"}},
                                   {"pictures", {here / "pictures"}},
                                   {"copy", {here / "copy" / "text.txt"}},
                                   {"two", {here / "copy" / "text.txt", here / "copy" / "beside.json"}},
                                   {"none", {here / "none"}}});
  }
  ~two_machines() { caf::anon_send_exit(source, caf::exit_reason::user_shutdown); }

  fs::path receive(const std::string& name, const std::function<bool()>& cancelled = nullptr) {
    return receive_input(system, {.name = name, .from = source, .into = there, .cancelled = cancelled, .say = nullptr});
  }

  const contents pictures{{"cat/1.png", "one"}, {"cat/2.png", ""}, {"dog/old/3.png", "three"}, {"classes", "cat dog"}};
  fs::path here, there;
  std::unique_ptr<caf::actor_system_config> config;
  caf::actor_system system;
  input_source source;
};

TEST_CASE("a file and a folder come as they are, without hidden files", "[cluster]") {
  const temporary_folder at;
  two_machines machines(at.path());
  const auto text = machines.receive("text");
  CHECK(text.filename() == "text.txt");
  CHECK(read_text(text, text_kind::record) == read_text(machines.here / "text.txt", text_kind::record));
  CHECK(all_below(machines.receive("pictures")) == machines.pictures);
  CHECK(read_text(machines.receive("two").parent_path() / "beside.json", text_kind::record) == "{}");
}

TEST_CASE("what has come once is not pulled again, and is known by its content", "[cluster]") {
  const temporary_folder at;
  two_machines machines(at.path());
  const auto first = machines.receive("text");
  fs::remove(machines.here / "text.txt");  // its checksum is known
  CHECK(machines.receive("text") == first);
  CHECK(machines.receive("copy") == first);
}

TEST_CASE("an input that cannot be read, has changed, or is not one comes with the reason", "[cluster]") {
  const temporary_folder at;
  two_machines machines(at.path());
  CHECK_THROWS_WITH(machines.receive("none"), Catch::Contains("\"none\"") && Catch::Contains("No such file"));
  CHECK_THROWS_WITH(machines.receive("/etc/passwd"), Catch::Contains("names no"));
  const auto text = machines.receive("text");
  fs::remove_all(machines.there);
  write(machines.here / "text.txt", std::string(700'004, 'y'));
  CHECK_THROWS_WITH(machines.receive("text"), Catch::Contains("has changed"));
  CHECK(fs::is_empty(machines.there));
}

TEST_CASE("a transfer of an input that is cancelled, or whose source ends, leaves nothing", "[cluster]") {
  const temporary_folder at;
  two_machines machines(at.path());
  int asked = 0;
  CHECK_THROWS_WITH(machines.receive("text", [&asked] { return ++asked > 2; }), Catch::Contains("not needed"));
  CHECK(fs::is_empty(machines.there));
  CHECK_THROWS_WITH(machines.receive("pictures",
                                     [&] {
                                       caf::anon_send_exit(machines.source, caf::exit_reason::user_shutdown);
                                       return false;
                                     }),
                    Catch::Contains("connection was lost"));
  CHECK_FALSE(fs::exists(machines.there / "pictures"));
}

TEST_CASE("a transfer that takes long is told of in intervals, with the time that is left", "[cluster]") {
  const auto at = [](int seconds) { return time_point{} + std::chrono::seconds(seconds); };
  transfer_progress p(4_GiB, at(0));
  CHECK(p.came(512_MiB, at(5)) == "");
  CHECK(p.came(512_MiB, at(10)) == "25 %, 1.0 GiB of 4.0 GiB, 30 s left");
  CHECK(p.came(1_GiB, at(19)) == "");
  CHECK(p.came(1_GiB, at(30)) == "75 %, 3.0 GiB of 4.0 GiB, 10 s left");
  CHECK(p.came(1_GiB, at(40)) == "");  // that was all
}

TEST_CASE("what a node that was killed had pulled of an input is removed when the next one is pulled", "[cluster]") {
  const temporary_folder at;
  two_machines machines(at.path());
  const auto left = machines.there / ".digest.2000000000.tmp";
  write(left / "text.txt", "a part");
  machines.receive("pictures");
  CHECK_FALSE(fs::exists(left));
}

}  // namespace inputs_test
