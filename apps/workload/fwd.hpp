#pragma once
// apps/workload/ answers: what does a workload file say? It turns TOML into a validated `workload`, and that into a
// session. What a key may hold is data (key_rule): the same rules check a file, resolve the keys of a grid and print
// the help. Nothing here starts a thread, opens a device or writes a file.
//
// Read in this order: value (the file as a tree), key_rule and check (what is allowed), grid (one model becomes many),
// *_keys and *_kinds (one table of the file each: its keys and what they become), workload (the story), assemble
// (workload -> session), forbidden_changes (what a resumed run may not change).

namespace hydra::apps {

struct place;
struct value;
struct value_table;
struct key_rule;
struct table_rules;
struct workload;

}  // namespace hydra::apps
