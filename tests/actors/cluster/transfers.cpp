// Folders that another process offers arrive as they are, or not at all.

#include "actors/cluster/chunk_puller.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/protocol/system_config.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/verify_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>

using namespace hydra;
using namespace hydra::test;

namespace transfers_test {

namespace fs = std::filesystem;
using contents = std::map<std::string, std::string>;

fs::path stored(const fs::path& place, const contents& files) {
  durable_folder folder(posix_file_system(), place);
  for (const auto& [name, text] : files)
    folder.write(name, [&](byte_sink& sink) { sink.add(std::as_bytes(std::span(text))); });
  folder.commit();
  return place;
}

contents read_all(const fs::path& folder) {
  contents all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != checksum_file)
      all[entry.path().filename().string()] = read_text(entry.path(), text_kind::record);
  return all;
}

/// A text of so many bytes without a period that is a power of two.
std::string text_of(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 23 + i / 1000 % 3);
  return text;
}

/// What a process with folders does; `spoil` may change its answers, or drop one by returning false.
class source_process {
 public:
  using spoiler = std::function<bool(chunk&)>;

  explicit source_process(spoiler spoil = [](chunk&) { return true; })
      : config_(make_system_config()), system_(*config_) {
    actor_ = system_.spawn([this, spoil]() -> chunk_source::behavior_type {
      return {[this, spoil](const want_chunk& m) {
                asked_.push_back(m);
                auto answer = folders.read(m);
                if (spoil(answer)) caf::anon_send(m.to, answer);
              },
              [this](const drop_folders& m) { folders.drop(m.offer); }};
    });
  }
  ~source_process() { caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown); }

  offered_folders offer(std::vector<fs::path> all) { return folders.offer(all, actor_); }

  fault pull(offered_folders what, const fs::path& into, bool replaces = false) {
    auto done = std::make_shared<std::promise<fault>>();
    auto why = done->get_future();
    receive_folders(system_, {std::move(what), into, replaces}, [done](const fault& f) { done->set_value(f); });
    return why.get();
  }

  void end() { caf::anon_send_exit(actor_, caf::exit_reason::kill); }
  std::size_t asked() const { return asked_.size(); }

  folder_source folders;

 private:
  std::vector<want_chunk> asked_;  // the actor uses it, and ends with the system
  std::unique_ptr<caf::actor_system_config> config_;
  caf::actor_system system_;
  chunk_source actor_;
};

const contents some_files{{"a", text_of(3 * chunk_bytes + 17)}, {"b", ""}, {"c", text_of(chunk_bytes)}, {"d", "x"}};

TEST_CASE("folders arrive as they are, with files of every size", "[cluster]") {
  const temporary_folder at;
  source_process source;
  const auto first = stored(at.path() / "1", some_files);
  const auto second = stored(at.path() / "2", {{"only", "one"}});
  const auto into = at.path() / "there";
  CHECK_FALSE(source.pull(source.offer({first, second}), into));
  verify_folder(into / "1");
  CHECK(read_all(into / "1") == some_files);
  CHECK(read_all(into / "2") == contents{{"only", "one"}});
  CHECK(read_text(into / "1" / checksum_file, text_kind::record) ==
        read_text(first / checksum_file, text_kind::record));
}

TEST_CASE("a folder that is there is not pulled again, unless all is replaced", "[cluster]") {
  const temporary_folder at;
  source_process source;
  const auto folder = stored(at.path() / "1", some_files);
  const auto into = at.path() / "there";
  stored((fs::create_directories(into), into / "old"), {{"x", "y"}});
  CHECK_FALSE(source.pull(source.offer({folder}), into));
  const auto asked = source.asked();
  CHECK_FALSE(source.pull(source.offer({folder}), into));
  CHECK(source.asked() == asked);
  CHECK(fs::exists(into / "old"));
  CHECK_FALSE(source.pull(source.offer({folder}), into, true));
  CHECK(source.asked() == 2 * asked);
  CHECK_FALSE(fs::exists(into / "old"));
}

TEST_CASE("folders that are removed while they are offered arrive", "[cluster]") {
  const temporary_folder at;
  source_process source;
  const auto folder = stored(at.path() / "1", some_files);
  const auto offered = source.offer({folder});
  fs::remove_all(folder);
  CHECK_FALSE(source.pull(offered, at.path() / "there"));
  CHECK(read_all(at.path() / "there" / "1") == some_files);
  CHECK_THAT(source.pull(offered, at.path() / "again").text, Catch::Contains("not offered any more"));
}

TEST_CASE("what comes otherwise than it was offered leaves no folder behind", "[cluster]") {
  const temporary_folder at;
  const auto folder = stored(at.path() / "1", some_files);
  const auto spoilers = std::map<std::string, source_process::spoiler>{
      {"a byte", [](chunk& c) { return !(c.file == 1 && c.offset > 0) || (c.bytes[0] ^= 1, true); }},
      {"the order", [](chunk& c) { return c.offset += 1, true; }},
      {"a file", [](chunk& c) { return ++c.file, true; }},
      {"nothing in it", [](chunk& c) { return c.bytes.clear(), true; }},
      {"an error",
       [](chunk& c) {
         return c.why = {fault_code::io, "no"}, true;
       }},
  };
  for (const auto& [what, spoil] : spoilers) {
    INFO(what);
    source_process source(spoil);
    const auto into = at.path() / what;
    CHECK(source.pull(source.offer({folder}), into));
    CHECK(fs::is_empty(into));
  }
}

TEST_CASE("a source that is gone is noticed at once", "[cluster]") {
  const temporary_folder at;
  const auto folder = stored(at.path() / "1", some_files);
  source_process* gone = nullptr;
  source_process source([&](chunk&) { return gone->end(), false; });
  gone = &source;
  const auto why = source.pull(source.offer({folder}), at.path() / "there");
  CHECK(why.text.find("connection was lost") != std::string::npos);
}

TEST_CASE("names that lead out of a folder are refused", "[cluster]") {
  const temporary_folder at;
  source_process source;
  for (const auto* name : {"..", "a/b", ""}) {
    const auto place = stored(at.path() / "of", {{"x", "y"}});
    auto folder = source.offer({place}), file = source.offer({place});
    fs::remove_all(place);
    for (auto& f : folder.files) f.folder = name;
    for (auto& f : file.files) f.name = f.name == checksum_file ? f.name : name;
    CHECK(source.pull(folder, at.path() / "there"));
    CHECK(source.pull(file, at.path() / "there"));
    CHECK(fs::is_empty(at.path() / "there"));
  }
}

}  // namespace transfers_test
