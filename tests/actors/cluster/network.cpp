// Who reaches a process of a cluster, and what strangers can do to it.

#include "actors/cluster/network.hpp"

#include "actors/cluster/member.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/temporary_folder.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace network_test {

namespace fs = std::filesystem;

using echo_actor = caf::typed_actor<caf::replies_to<int>::with<int>>;

echo_actor::behavior_type echo() {
  return {[](int n) { return n + 1; }};
}

void no_messages(caf::actor_system_config&) {}

/// A process that listens, and answers.
struct listener {
  explicit listener(const cluster_keys& keys) : network(keys, no_messages) {
    actor = network.system().spawn(echo);
    at.port = network.listen(actor, at);
  }
  ~listener() { caf::anon_send_exit(actor, caf::exit_reason::user_shutdown); }
  cluster_network network;
  echo_actor actor;
  network_address at{"127.0.0.1", 0};
};

/// The answer to `n`; 0 if there is none.
int asked(cluster_network& from, const echo_actor& actor, int n) {
  caf::scoped_actor self{from.system()};
  int answer = 0;
  self->request(actor, patience, n).receive([&](int m) { answer = m; }, [](const caf::error&) {});
  return answer;
}

bool answers(const listener& l, const cluster_keys& keys) {
  cluster_network other(keys, no_messages);
  return asked(other, other.reach<echo_actor>(l.at), 4) == 5;
}

cluster_keys new_keys(const fs::path& folder) {
  make_cluster_keys(folder);
  return cluster_keys::in(folder);
}

/// A process that listens, and a member that is connected to it.
struct cluster_of_two {
  temporary_folder folder;
  cluster_keys keys = new_keys(folder.path() / "keys");
  listener l{keys};
  cluster_network member{keys, no_messages};
  echo_actor actor = member.reach<echo_actor>(l.at);
};

/// Sends bytes to a port, waits until the other side has closed the connection or a moment has passed.
void send_as_a_stranger(std::uint16_t port, const std::vector<unsigned char>& bytes) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  const timeval moment{.tv_sec = 0, .tv_usec = 20'000};
  ::setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
  static_cast<void>(::send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  char answer[64];
  while (::recv(s, answer, sizeof answer, 0) > 0) {
  }
  ::close(s);
}

/// A header of CAF's protocol: a handshake whose payload has no bytes. Plain CAF 0.17.6 does not survive it.
std::vector<unsigned char> empty_handshake() {
  std::vector<unsigned char> header(32);
  header[0] = 0;
  return header;
}

std::vector<unsigned char> random_bytes(std::mt19937& draw) {
  std::vector<unsigned char> bytes(1 + draw() % 2000);
  for (auto& b : bytes) b = static_cast<unsigned char>(draw());
  return bytes;
}

// -- keys -------------------------------------------------------------------------------------------------------------

TEST_CASE("keys are made for their owner alone, and never over something that is there", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  check_cluster_keys(keys);
  CHECK(fs::status(folder.path() / "keys").permissions() == fs::perms::owner_all);
  CHECK(fs::status(keys.key).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const auto before = read_text(keys.key, text_kind::key);
  CHECK_THROWS_WITH(make_cluster_keys(folder.path() / "keys"), Contains("exists, and is not overwritten"));
  CHECK(read_text(keys.key, text_kind::key) == before);
}

TEST_CASE("keys that do not belong together are refused, with the file", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  const auto other = new_keys(folder.path() / "other");
  CHECK_THROWS_WITH(check_cluster_keys({other.authority, keys.certificate, keys.key}),
                    Contains("keys/certificate.pem: was not signed by"));
  CHECK_THROWS_WITH(check_cluster_keys({keys.authority, keys.certificate, other.key}),
                    Contains("other/key.pem: is not the key of"));
  CHECK_THROWS_WITH(check_cluster_keys({keys.authority, keys.key, keys.key}),
                    Contains("key.pem: is not a certificate"));
  CHECK_THROWS_WITH(check_cluster_keys({keys.authority, keys.certificate, keys.authority}),
                    Contains("authority.pem: is not a private key"));
  CHECK_THROWS_WITH(check_cluster_keys(cluster_keys::in(folder.path() / "none")), Contains("hydra cluster keys DIR"));
}

TEST_CASE("keys that others may read or replace are refused", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  for (const auto wrong : {fs::perms::group_read, fs::perms::others_read, fs::perms::others_write}) {
    fs::permissions(keys.key, fs::perms::owner_read | wrong);
    CHECK_THROWS_WITH(check_cluster_keys(keys), Contains("keys/key.pem: others may read") && Contains("chmod 600"));
  }
  fs::permissions(keys.key, fs::perms::owner_read);
  check_cluster_keys(keys);
  for (const auto& changed : {keys.authority, keys.certificate, folder.path() / "keys"}) {
    const auto before = fs::status(changed).permissions();
    fs::permissions(changed, fs::perms::group_write, fs::perm_options::add);
    CHECK_THROWS_WITH(check_cluster_keys(keys),
                      Contains(changed.string() + ": others may change it") && Contains("chmod go-w"));
    fs::permissions(changed, before);
  }
  fs::permissions(folder.path() / "keys", fs::perms::all | fs::perms::sticky_bit);  // as Kubernetes mounts secrets
  check_cluster_keys(keys);
  fs::permissions(folder.path() / "keys", fs::perms::owner_all);
  if (::geteuid() != 0) return;  // nobody else can give files away
  for (const auto& given : {keys.key, keys.authority, folder.path() / "keys"}) {
    REQUIRE(::chown(given.c_str(), 65534, 65534) == 0);
    CHECK_THROWS_WITH(check_cluster_keys(keys), Contains("another user's"));
    REQUIRE(::chown(given.c_str(), 0, 0) == 0);
  }
}

TEST_CASE("the keys of a run are made once, and again if they cannot be used", "[cluster]") {
  const temporary_folder folder;
  const auto keys = take_keys_of_run(folder.path());
  const auto first = read_text(keys.key, text_kind::key);
  check_cluster_keys(keys);
  CHECK(fs::status(keys_of_run(folder.path())).permissions() == fs::perms::owner_all);
  CHECK(read_text(take_keys_of_run(folder.path()).key, text_kind::key) == first);
  fs::resize_file(keys.certificate, 100);  // as if the process had been killed meanwhile
  check_cluster_keys(take_keys_of_run(folder.path()));
  CHECK(read_text(keys.key, text_kind::key) != first);
}

// -- addresses --------------------------------------------------------------------------------------------------------

TEST_CASE("addresses are a host and a port", "[cluster]") {
  CHECK(parse_address("node-1:4000").host == "node-1");
  CHECK(parse_address("node-1:4000").port == 4000);
  CHECK(parse_address("[::1]:4000").host == "::1");
  CHECK(to_string(parse_address("[::1]:4000")) == "[::1]:4000");
  for (const char* text : {"", "node", "node:", ":4000", "node:70000", "node:4000x", "tcp://node:4000", "node:4000/"}) {
    CHECK_THROWS_WITH(parse_address(text), Contains("is not an address"));
  }
}

TEST_CASE("a port that is taken is refused", "[cluster]") {
  cluster_of_two c;
  CHECK_THROWS_WITH(c.member.listen(c.member.system().spawn(echo), c.l.at), Contains("the port is taken"));
}

TEST_CASE("a node that reaches nobody within its patience says why it gives up, once", "[cluster]") {
  const temporary_folder folder;
  cluster_network network{new_keys(folder.path() / "keys"), add_cluster_messages};
  std::vector<std::string> said;
  cluster_member node{{.name = "node",
                       .folder = folder.path(),
                       .patience = duration::zero(),
                       .say = [&](const std::string& text) { said.push_back(text); }},
                      nullptr};
  CHECK(node.join(network, [] { return network_address{"127.0.0.1", 1}; }) == node_end::lost);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Contains("no coordinator of this cluster answers there") && Contains("; gave up after"));
}

TEST_CASE("a node asks at each attempt where its coordinator is: one that is started again may listen elsewhere",
          "[cluster]") {
  const temporary_folder folder;
  cluster_network network{new_keys(folder.path() / "keys"), add_cluster_messages};
  cluster_member node{{.name = "node", .folder = folder.path()}, nullptr};
  int asked = 0;
  const auto where = [&] {
    if (++asked == 2) node.leave();
    return network_address{"127.0.0.1", 1};
  };
  CHECK(node.join(network, where) == node_end::done);
  CHECK(asked == 2);
}

// -- members and strangers --------------------------------------------------------------------------------------------

TEST_CASE("who has the keys of a cluster is answered, nobody else", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  const listener l{keys};
  CHECK(answers(l, keys));
  CHECK_THROWS_WITH(answers(l, new_keys(folder.path() / "other")),
                    Contains("no coordinator of this cluster answers there"));
  CHECK(answers(l, keys));
}

TEST_CASE("key files are not needed any more once a process has started", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  fs::copy(folder.path() / "keys", folder.path() / "copy");
  const listener l{keys};
  fs::remove_all(folder.path() / "keys");
  CHECK(answers(l, cluster_keys::in(folder.path() / "copy")));
}

TEST_CASE("two processes never have the same id, whatever their process numbers and network cards are", "[cluster]") {
  const temporary_folder folder;
  const auto keys = new_keys(folder.path() / "keys");
  cluster_network a{keys, no_messages}, b{keys, no_messages};
  const auto of_the_machine = [](cluster_network& n) {
    return caf::to_string(n.system().node()).substr(0, 32);
  };  // 16 bytes of 20
  CHECK(of_the_machine(a) != of_the_machine(b));
}

TEST_CASE("whatever strangers send, members stay connected", "[cluster]") {
  cluster_of_two c;
  caf::scoped_actor watch{c.member.system()};
  watch->monitor(c.actor);
  std::mt19937 draw{7};
  send_as_a_stranger(c.l.at.port, empty_handshake());
  for (int i = 0; i < 60; ++i) {
    send_as_a_stranger(c.l.at.port, random_bytes(draw));
    REQUIRE(asked(c.member, c.actor, i) == i + 1);
  }
  bool lost = false;
  watch->receive([&](const caf::down_msg&) { lost = true; }, caf::after(0s) >> [] {});
  CHECK_FALSE(lost);
}

TEST_CASE("the end of one member does not disconnect others", "[cluster]") {
  cluster_of_two c;
  for (int i = 0; i < 5; ++i) {
    CHECK(answers(c.l, c.keys));
    REQUIRE(asked(c.member, c.actor, i) == i + 1);
  }
}

}  // namespace network_test
