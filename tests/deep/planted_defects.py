#!/usr/bin/env python3
"""Eighty-four defects, planted in a copy of the tree, to see whether the tiers fast and core find them.

    git clone --depth 1 file://$PWD /tmp/planted && tests/deep/planted_defects.py plant /tmp/planted
    (cd /tmp/planted && cmake --preset release && cmake --build --preset release)
    tests/deep/planted_defects.py run /tmp/planted/build/release --log /tmp/planted.log

One build has all of them; HYDRA_PLANTED=N in the environment of a process switches the N-th on, and none without it. Each is a
mistake of one line that changes results, or loses or repeats work, or breaks a budget or an account, or reads a user's file
wrong or past in silence.

    check [TREE]    whether all can be planted: each text is once in its file
    plant TREE      writes them into the files of TREE; git -C TREE checkout . takes them out again
    run BUILD       for each defect the tests that most likely find it, then all of fast and core, until one fails. With --log
                    FILE, a run that was cut off goes on. Exit status 1 if more than three are not found."""
import collections, concurrent.futures, os, pathlib, re, subprocess, sys, threading, time

from planting import PATIENCE_S, TREE, can_be_planted, numbered, parsers, say

MOST_MISSED = 3
NOT_RUN = ["quoted-code", "include-directions", "plugin-template", "installed-package", "planted-defects"]  # read sources, compile
DECLARATION = 'extern "C" bool hydra_planted(int which) noexcept;\n'
DEFINED_IN = "runtime/base/fault.cpp"
DEFINITION = f"""
#include <cstdlib>

{DECLARATION}extern "C" bool hydra_planted(int which) noexcept {{
  static const int chosen = [] {{
    const char* const text = std::getenv("HYDRA_PLANTED");
    return text ? std::atoi(text) : 0;
  }}();
  return chosen != 0 && which == chosen;
}}
"""

# hints: names of ctest tests; old: once in the file, or once in `within`, which is; planted: a function of `old`.
Defect = collections.namedtuple("Defect", "name file hints old planted within", defaults=[""])


def instead(new):
    """Another expression. Both have a common type."""
    return lambda old: f"(@ ? ({new}) : ({old}))"


def text(new):
    """@ stands for whether the defect is there."""
    return lambda old: new


def skipped(old):
    """A statement."""
    return "if (!@) { " + old + " }"


DEFECTS = [
    # -- partition -----------------------------------------------------------------------------------------------------------
    Defect("parts of the last layer are added once for all chunks", "partition/execute/shard.cpp", "partition numerics",
           "add_part_of_last_layer(bound);", skipped),
    Defect("upstream gradients of all chunks but the first are dropped", "partition/execute/shard.cpp", "partition numerics",
           "rows_of(upstream, rows).copy_(x.grad());",
           text("if (!@ || rows.begin == 0) { rows_of(upstream, rows).copy_(x.grad()); }")),
    Defect("evaluations have dropout", "partition/execute/visit.cpp", "partition numerics.exactness",
           "what_.way != direction::evaluate", instead("true")),
    Defect("each wave draws the dropout of the first one", "partition/execute/visit.cpp", "numerics.waves numerics.replicas",
           "what_.first_micro_batch.value + static_cast<std::uint32_t>(k)", instead("static_cast<std::uint32_t>(k)")),
    Defect("a tied copy is complete before its owner is stepped", "partition/execute/model_update.cpp", "partition numerics",
           "t.copy_shard != shard || stepped_[t.owner_shard]", instead("true")),
    Defect("the gradients of the second replica are not added", "partition/execute/model_update.cpp",
           "partition numerics.replicas", "std::views::drop(1)", text("std::views::drop(@ ? 2 : 1)")),
    Defect("norms of earlier steps are part of the norm", "partition/execute/model_update.cpp", "partition numerics.exactness",
           "norms_[shard].clear();", skipped),
    Defect("masters are not rounded when a run resumes", "partition/execute/model_update.cpp", "numerics.bf16 numerics.resume",
           "to_bf16(home.parameters->floats(), home.copy->halves());", skipped),
    Defect("a backward visit is planned to save its largest layer only", "partition/profile/footprint.cpp",
           "partition numerics", "const auto saved = sum_of(&layer_profile::saved, profile, first, last);",
           text("const auto from = profile.layers.begin(); const auto saved = @ ? std::ranges::max_element(from + "
                "static_cast<std::ptrdiff_t>(first), from + static_cast<std::ptrdiff_t>(last), {}, &layer_profile::saved)"
                "->saved : sum_of(&layer_profile::saved, profile, first, last);")),
    Defect("host memory is planned without boundary activations", "partition/plan/host_demand.cpp",
           "partition numerics", "m.micro_batches", instead("0U"), "(joined + output) * m.micro_batches;"),
    Defect("a unit does not wait for the wave before", "actors/model/task_tracker.cpp", "actors numerics.waves",
           "p < lanes_[p.lane].done", instead("true")),
    Defect("a gradient sum that was passed on is not freed", "actors/memory/block_store.cpp", "actors numerics.waves",
           "blocks_.erase(found);", text("if (!(@ && use.role == block_role::sum)) { blocks_.erase(found); }")),
    Defect("a greedy cut takes one layer too many", "partition/plan/cut.cpp", "partition",
           "demand_of(profile, first, layer + 1)", instead("demand_of(profile, first, layer)")),
    Defect("gradients of a saved graph go nowhere", "partition/execute/saved_graph.cpp", "partition numerics.saved_tensors",
           "leaf.mutable_grad() = with_gradients[p].grad();", skipped),
    # -- actors --------------------------------------------------------------------------------------------------------------
    Defect("a lost unit is not tried again", "actors/model/task_tracker.cpp", "actors numerics.exactness",
           "lane.next = found->at;", skipped),
    Defect("a step begins before the one before it is acknowledged", "actors/model/task_tracker.cpp", "actors",
           "acknowledged_ < lane.next.step", instead("acknowledged_ + 1 < lane.next.step")),
    Defect("steps do not wait for what an evaluation decides", "actors/model/task_tracker.cpp", "actors numerics",
           "released_ < p.step", instead("false")),
    Defect("a lane that is ahead is saved as one that has not begun", "actors/model/task_tracker.cpp",
           "actors numerics.replicas numerics.resume", "lane.done.step > saved.step && saved.step < units_.steps()", instead("false")),
    Defect("a lost device may lease blocks", "actors/memory/block_store.cpp", "actors", "fenced_.insert(device);", skipped),
    Defect("minibatches that a backward visit reads again are not restored", "actors/memory/block_store.cpp",
           "actors numerics.resume", "std::ranges::count_if(graph.readers(found->block), reads)",
           text("(@ && resumed && graph.is_done(graph.readers(found->block).front(), r.begins) ? 0 : "
                "std::ranges::count_if(graph.readers(found->block), reads))")),
    Defect("a shard that is a step ahead is saved as one that waits", "actors/memory/block_store.cpp",
           "actors numerics.device_steps", "r.versions[s] > least", instead("false")),
    Defect("losses of a node are put in the place of the first node's", "actors/memory/shared_steps.cpp",
           "numerics.shared_steps cluster.training", "what.first_micro_batch() + u.first_micro_batch.value",
           instead("u.first_micro_batch.value")),
    Defect("a checkpoint that was due once is due after each step", "actors/checkpoint/save_tracker.cpp", "actors",
           "due_ = false;", skipped),
    Defect("targets of earlier evaluations are counted again", "actors/model/model_results.cpp", "actors numerics.exactness",
           "scored_ = evaluated_targets_ = 0;", text("scored_ = 0; if (!@) { evaluated_targets_ = 0; }")),
    Defect("an evaluation before a checkpoint is repeated", "actors/model/resumed_position.cpp",
           "actors numerics.resume numerics", "done, evaluated, lane)", text("done, !@ && evaluated, lane)")),
    Defect("a model of a lost node keeps its epoch", "actors/cluster/assignments.cpp", "cluster", "++m.epoch;", skipped),
    Defect("devices of the same speed count as faster ones", "actors/policy/level.cpp", "policy simulation",
           "d.speed > device.speed", instead("d.speed >= device.speed")),
    Defect("a failed unit leaves those that follow it in later waves", "actors/policy/flight_table.cpp",
           "policy numerics.waves", "all.push_back(*here);", skipped),
    Defect("a host worker updates several shards at the same time", "actors/simulation/loop_run.cpp", "simulation",
           "std::max(worker, now_)", instead("now_")),
    Defect("halving rounds down how many trials continue", "actors/selection/halving.cpp", "policy numerics.searching",
           "(ranked.size() + factor_ - 1) / factor_", instead("ranked.size() / factor_")),
    Defect("a trial begins again from itself", "actors/selection/pbt.cpp", "policy numerics",
           "all_[best[chosen]].is", instead("all_[trial].is")),
    Defect("a unit does not wait for the one whose bytes it takes over", "actors/device/working_bytes.cpp", "actors",
           "got.after.push_back(before.last_compute());", skipped),
    # -- models --------------------------------------------------------------------------------------------------------------
    Defect("adamw corrects its moments for one step too many", "models/optimizer/update_rule.cpp", "models",
           "step + 1.0;", text("step + (@ ? 2.0 : 1.0);")),
    Defect("biases decay though only matrices should", "models/optimizer/parameter_rule.cpp", "models",
           "own.weight_decay = 0;", skipped),
    Defect("small gradients are scaled up to the largest norm", "models/optimizer/gradient_clip.cpp", "models",
           "std::min(1.0f / (norm + 1e-6f) * max_norm, 1.0f)", instead("1.0f / (norm + 1e-6f) * max_norm")),
    Defect("muon has the rate of the transposed matrix", "models/optimizer/muon_update.cpp", "models",
           "std::max(1.0, rows / columns)", instead("std::max(1.0, columns / rows)")),
    Defect("a schedule does not reach its floor", "models/optimizer/schedule.cpp", "models",
           "now.total - 1 - first", instead("now.total - first")),
    Defect("all epochs have the order of the first one", "models/data/batch_order.cpp", "models",
           "epoch_ != epoch", instead("!permutation_")),
    Defect("all layers have the same dropout", "models/dropout.cpp", "models", "context.layer", instead("0U")),
    Defect("every second block of nf4 has the scale of the one before", "models/frozen/nf4.cpp", "models python-base-formats",
           "* scales[b];", text("* scales[@ ? b / 2 * 2 : b];")),
    Defect("running averages keep the share of one micro-batch", "models/running_average.cpp", "models",
           "std::pow(1 - averaging, micro_batches)", instead("1 - averaging")),
    Defect("positions of new tokens begin at zero again", "models/layers/llama_block.cpp", "models apps.generate",
           "memory.seen", instead("std::int64_t{0}")),
    Defect("a window shows one token too many", "models/layers/attention.cpp", "models python-models",
           "visible.triu(seen - window + 1)", instead("visible.triu(seen - window)")),
    Defect("key heads are dealt to the query heads in turn", "models/layers/attention.cpp", "models python-models",
           "const std::int64_t group = heads / x.size(1);",
           text("const std::int64_t group = heads / x.size(1);\n  if (@) return x.repeat({1, group, 1, 1});")),
    Defect("packed records see those before them", "models/data/record_windows.cpp", "models",
           "places.starts[0] = 1;", skipped),
    Defect("every answer has a loss, not the last one only", "models/data/chat_encoding.cpp", "models",
           "answers.erase(answers.begin(), answers.end() - 1);", skipped),
    Defect("a record of several lines begins at its last one", "models/data/csv_reader.cpp", "models",
           "!inside", instead("true"), "if (!inside) next.line = number"),
    Defect("of equal pairs the last one is merged first", "models/tokenizers/merge_table.cpp", "models python-tokenizers",
           "std::tie(a.rank, a.at) > std::tie(b.rank, b.at)", instead("std::tie(a.rank, b.at) > std::tie(b.rank, a.at)")),
    Defect("adapters are merged without their scale", "models/weights/merged_values.cpp", "models python-adapters",
           "m.scale", instead("1.0"), "added.t() : added, m.scale)"),
    Defect("values of a graph lose their strides at a boundary", "models/exported/boundary.cpp", "models",
           "x.strides() == c10::IntArrayRef{strides}", instead("true")),
    # -- runtime -------------------------------------------------------------------------------------------------------------
    Defect("a freed place is not joined with the one behind it", "runtime/memory/offset_pool.cpp", "runtime",
           "next->first == end", instead("false")),
    Defect("the last of failed tickets in a row is forgotten", "runtime/device/ticket_tracker.cpp", "runtime",
           "run->second >= n", instead("run->second > n")),
    Defect("entries that wait for the disk do not count", "runtime/storage/append_log.cpp", "runtime",
           "bytes_waiting_ += entry.size();", skipped),
    Defect("bytes split off a reservation are returned twice", "runtime/memory/byte_budget.cpp", "runtime actors",
           "bytes_ -= n;", skipped),
    Defect("own values are added behind those of all others", "runtime/collective/collective_run.cpp",
           "runtime cluster.exchange", "adds_own && from > state.party", instead("false")),
    # -- apps ----------------------------------------------------------------------------------------------------------------
    Defect("top-p leaves out the token that makes up the share", "partition/inference/sampling.cpp", "partition apps.generate",
           "i + 1", instead("std::max<std::size_t>(i, 1)"), ">= enough) return i + 1;"),
    Defect("lines of steps that are repeated stay in metrics.jsonl", "actors/report/run_metrics.cpp", "actors apps.resume",
           "line->step > line->among(reported[line->model])", instead("false")),
    Defect("a grid makes some of its combinations only", "apps/workload/grid.cpp", "apps",
           "index /= axis->values.size();", skipped),
    Defect("the second of betas is the first", "apps/workload/optimizer_keys.cpp", "apps",
           "to<double>(pair.at(1))", instead("to<double>(pair.at(0))")),
    Defect("a page shows the losses of repeated steps twice", "apps/run_folder/metrics_record.cpp", "apps",
           "m.loss.resize(step - 1, std::numeric_limits<float>::quiet_NaN());", skipped),
    # -- files of users ------------------------------------------------------------------------------------------------------
    Defect("a name matches a pattern that matches its beginning", "models/weights/module_pattern.cpp", "models",
           "full_match, &error", text("@ ? full_match & ~std::uint32_t{PCRE2_ENDANCHORED} : full_match, &error")),
    Defect("patterns of ranks are tried in the order of the alphabet", "models/weights/adapter_targets.cpp", "models",
           "parse_ordered_json(read_text(config.file(), text_kind::settings))", instead("nlohmann::ordered_json(config.content())")),
    Defect("magnitudes of a state_dict() keep the adapter's name", "models/weights/hub_tensors.cpp", "models",
           "at != std::string_view::npos", instead('at != std::string_view::npos && !with.starts_with(".lora_magnitude")')),
    Defect("modules_to_save means names after a dot only", "models/weights/saved_modules.cpp", "models python-adapters",
           "meant_by_peft(modules, name) == meant_by_hydra(modules, name)", instead("true")),
    Defect("a vocabulary that grows has as many rows as the data have ids", "models/families/hub_folder.cpp",
           "models apps", "std::clamp(ids_of(data), stored_tokens, stored_tokens + std::ssize(named))",
           instead("ids_of(data)")),
    Defect("the mean for new rows counts them, too", "models/weights/new_token_rows.cpp", "models",
           "static_cast<double>(rows_)", instead("static_cast<double>(rows_ + 1)")),
    Defect("nested scales of 4 bits have no offset", "models/weights/four_bit_values.cpp", "models python-base-formats",
           "n.offset", instead("0.0F")),
    Defect("4 bits in blocks of any size are said to be kept", "models/weights/quantised_weights.cpp", "models",
           "values.block == nf4_block", instead("true")),
    Defect("colours of a TIFF file are divided by every alpha", "models/data/tiff_layout.cpp", "models",
           "kinds[0] == EXTRASAMPLE_ASSOCALPHA", instead("true")),
    Defect("colours of 16 bits are rounded", "models/data/png_decoder.cpp", "models",
           "(png_get_color_type(codec_, info_) & PNG_COLOR_MASK_COLOR) != 0", instead("false")),
    Defect("padding may be the id after the last one", "models/families/config_text.cpp", "models",
           "id >= vocabulary", instead("id > vocabulary")),
    Defect("an old rope_scaling is none", "models/families/rope_config.cpp", "models",
           'table.has("rope_type")', instead("true")),
    Defect("of two chat templates the older one counts", "models/data/stored_template.cpp", "models",
           "fs::is_regular_file(jinja)", instead("fs::is_regular_file(jinja) && !fs::is_regular_file(file)")),
    Defect("names of classes are in the order of their numbers as texts", "models/families/labels.cpp", "models",
           "label_at(*labels, number)", instead("label_at(*labels, std::next(labels->content().begin(), i).key())")),
    Defect("the end of a text is there twice if the tokenizer puts it there", "models/tokenizers/text_frame.cpp", "models",
           "!ends_with(ids, {*special.end_of_text})", instead("true")),
    Defect("a file may lose all of its records", "models/data/record_check.cpp", "models",
           "bad_ < records_", instead("true"), "rule_ == bad_row_rule::leave_out && bad_ < records_"),
    Defect("keys of tables in a configuration count as read", "models/weights/model_config.cpp", "models python-config-keys",
           'asked_->open(fmt::format("{}{}", prefix_, key));', skipped,
           'return std::nullopt;\n  asked_->open(fmt::format("{}{}", prefix_, key));'),
    Defect("keys of special_tokens_map.json are not noted", "models/tokenizers/settings_notes.cpp", "models",
           "map && settings.uses_map()", instead("false")),
    Defect("keys of an image processor are not noted", "models/data/image_preparation.cpp", "models",
           "known && *found == false", instead("known")),
    Defect("keys of an adapter are not noted", "models/weights/adapter_folder.cpp", "models",
           "for (const std::string& note : notes) adapted.note(note);", skipped),
    Defect("where a message is from is a field that is not read", "models/data/unread_fields.cpp", "models",
           "name.substr(name.rfind('.') + 1)", instead("name")),
    Defect("an orientation has 32 bits, whatever its type", "models/data/exif_directory.cpp", "models",
           "type == of_16_bits ? 2 : 4", instead("4")),
    Defect("tied tensors that are large are compared with the beginning of the other", "models/weights/stored_values.cpp",
           "models", "read_part(b, i, of_b);", text("read_part(b, @ ? 0 : i, of_b);")),
    Defect("a head that was tied has no rows of new tokens", "models/untied_head.cpp", "models",
           "stored_as(parameter)", instead("parameter"), "differs_from_base(stored_as(parameter))"),
]


# -- planting ----------------------------------------------------------------------------------------------------------------

def check(tree):
    for d in DEFECTS:
        if not callable(d.planted) or (d.within or d.old).count(d.old) != 1:
            raise ValueError(f"{d.name}: the entry is not complete")
    return can_be_planted(tree, DEFECTS, lambda d: [d.within or d.old])


def with_defects(file, content):
    places = []
    for number, d in enumerate(DEFECTS, start=1):
        if d.file == file:
            begin = content.index(d.within or d.old) + (d.within or d.old).index(d.old)
            places.append((begin, begin + len(d.old), d.planted(d.old).replace("@", f"hydra_planted({number})")))
    for begin, end, planted in sorted(places, reverse=True):
        content = content[:begin] + planted + content[end:]
    return DECLARATION + content + (DEFINITION if file == DEFINED_IN else "")


def plant(tree):
    files = sorted({d.file for d in DEFECTS} | {DEFINED_IN})
    changed = subprocess.run(["git", "-C", tree, "status", "--porcelain", "--", *files], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    if changed:
        print(f"{tree} has changes that are not committed; nothing is planted:\n{changed}", end="")
        return 1
    if check(tree):
        return 1
    for file in files:
        (tree / file).write_text(with_defects(file, (tree / file).read_text()))
    print(f"planted in {len(files)} files; git -C {tree} checkout . takes them out again")
    return 0


# -- finding them ------------------------------------------------------------------------------------------------------------

def environment(number):
    variables = os.environ | {"HYDRA_PLANTED": str(number)}
    if not variables.get("HYDRA_TEST_SEED"):  # as tests/run has it
        commit = subprocess.run(["git", "-C", TREE, "rev-parse", "--short=7", "HEAD"], check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        variables["HYDRA_TEST_SEED"] = str(int(commit.stdout or "1", 16))
    return variables


def first_failed(build, number, only=None):
    """The name of the first test that fails, or None. `only`: the name of one test."""
    options = ["-R", f"^{re.escape(only)}$"] if only else []
    command = ["ctest", "--test-dir", build, "-LE", "deep", "-E", f"^({'|'.join(NOT_RUN)})$", *options, "-j1",
               "--stop-on-failure", "--timeout", str(PATIENCE_S)]
    done = subprocess.run(command, env=environment(number), check=False, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    failed = re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) .*\*\*\*(?!Skipped|Not Run)", done.stdout, re.M)
    if not failed and (done.returncode != 0 or "No tests were found" in done.stdout):
        raise RuntimeError(f"ctest has not run the tests of defect {number}:\n{done.stdout[-2000:]}")
    return failed[0] if failed else None


def search(build, number, d, hints_alone):
    """Its hints first, one after the other."""
    for only in [*d.hints.split(), *([] if hints_alone else [None])]:
        if found := first_failed(build, number, only):
            return found
    return None


class Log:
    """A line for each defect: its name, the test that finds it, and seconds."""

    def __init__(self, file):
        self.file, self.lock = file, threading.Lock()
        lines = file.read_text().splitlines() if file and file.exists() else []
        self.known = {parts[0]: parts[1] for parts in (line.split("\t") for line in lines) if len(parts) == 3}

    def add(self, number, d, found, seconds):
        with self.lock:
            self.known[d.name] = found or ""
            say(number, d, found, seconds)
            if self.file:
                with self.file.open("a") as out:
                    out.write(f"{d.name}\t{found or ''}\t{seconds:.0f}\n")


def run(o):
    log = Log(o.log)
    chosen = numbered(DEFECTS, o.only)

    def look_for(numbered):
        start = time.monotonic()
        found = search(o.build, *numbered, o.hints)
        log.add(*numbered, found, time.monotonic() - start)

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(look_for, [(n, d) for n, d in chosen if d.name not in log.known]))
    missed = [d.name for _, d in chosen if not log.known[d.name]]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} found", *missed, sep="\n  ")
    return 1 if len(missed) > MOST_MISSED else 0


def main():
    parser, commands, of_run = parsers(__doc__)
    commands.add_parser("plant").add_argument("tree", type=pathlib.Path)
    of_run.add_argument("--jobs", type=int, default=2, help="defects at a time")
    of_run.add_argument("--hints", action="store_true", help="only the tests that most likely find them")
    of_run.add_argument("--log", type=pathlib.Path)
    o = parser.parse_args()
    return run(o) if o.command == "run" else check(o.tree) if o.command == "check" else plant(o.tree)


if __name__ == "__main__":
    sys.exit(main())
