#include "apps/steering/live_script.hpp"

namespace hydra::apps {

// Elements are made once and then changed: a button that is replaced between press and release would not be clicked.
// Texts from the run are only ever set as texts; charts and tables come escaped from the program.
const char* const live_script = R"js(
"use strict";
const at = id => document.getElementById(id);
const token = location.search;

function make(tag, parent, properties = {}) {
  return parent.appendChild(Object.assign(document.createElement(tag), properties));
}
function write(element, text) { if (element.textContent !== text) element.textContent = text; }

const known = x => typeof x === "number" && isFinite(x);
const fixed = x => known(x) ? x.toFixed(4) : "-";
function bytes(n) {
  if (!known(n)) return "-";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; ++i) n /= 1024;
  return (i ? n.toFixed(1) : n) + " " + units[i];
}
function time(s) {
  if (!known(s)) return "";
  const two = n => String(Math.floor(n)).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)} min` : `${Math.floor(s / 3600)}:${two(s % 3600 / 60)} h`;
}

// -- commands ---------------------------------------------------------------------------------------------------------

function tell(text, fault) {
  write(at("message"), text);
  at("message").className = fault ? "note fault" : "note";
}

/// Returns whether the run has done it.
async function command(request, told) {
  tell("...", false);
  try {
    const response = await fetch("command" + token, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(request)});
    const text = await response.text();
    const answer = text.startsWith("{") ? JSON.parse(text) : {error: text || `the run answers ${response.status}`};
    tell(answer.error || told(answer), Boolean(answer.error));
    return !answer.error;
  } catch (error) {
    tell("The run cannot be reached: " + error.message, true);
    return false;
  }
}

/// Asks before `then` is done; with `input`, for a text that `then` gets.
function ask(question, explanation, yes, input, then) {
  write(at("question"), question);
  write(at("explanation"), explanation);
  write(at("yes"), yes);
  at("changes").hidden = !input;
  at("changes").placeholder = input || "";
  at("changes").value = "";
  at("ask").returnValue = "";
  at("ask").onclose = () => { if (at("ask").returnValue === "yes") then(at("changes").value); };
  at("ask").showModal();
  (input ? at("changes") : at("yes")).focus();
}
// Enter in the text means yes, not the form's first button, which is Cancel.
at("changes").onkeydown = event => { if (event.key === "Enter") { event.preventDefault(); at("yes").click(); } };

function stop(model) {
  ask(`Stop ${model}?`, "It ends now and its memory is free for others. Its best and last state are in its checkpoints.", "Stop", "",
      () => command({command: "stop", model}, () => `${model}: stopped`));
}
function clone(model) {
  ask(`Clone ${model}`, "A new model starts from its state. Keys that change, with spaces between them:", "Clone",
      "optimizer.learning_rate=1e-4 steps=200",
      text => command({command: "clone", model, changes: text.split(/\s+/).filter(Boolean)},
                      answer => `${answer.model}: a clone of ${model}`));
}
function pause_or_resume(model, state) {
  const name = state === "paused" ? "resume" : "pause";
  command({command: name, model}, () => `${model}: ${name === "pause" ? "saved and paused" : "resumed"}`);
}
at("quit").onclick = () => ask("End the run?", "All models are saved; hydra train --resume continues them.", "Save and end", "",
                               () => command({command: "quit"}, () => "The run saves its state and ends."));
at("add").onclick = async () => {
  const added = await command({command: "add", workload: at("workload").value}, answer => `${answer.models.join(", ")}: added`);
  if (added) at("workload").value = "";
};

// -- state ------------------------------------------------------------------------------------------------------------

const rows = new Map(), gauges = new Map();
const over = ["finished", "stopped", "failed"];

function new_row(name) {
  const row = make("tr", at("now").tBodies[0]);
  row.dataset.model = name;
  const label = make("td", row);
  const cell = {row, swatch: make("i", label), badge: null};
  make("span", label, {textContent: name});
  const state = make("td", row);
  cell.badge = make("span", state);
  cell.why = make("span", state, {className: "why"});
  cell.fill = make("div", make("div", make("td", row), {className: "track"}), {className: "fill"});
  cell.steps = make("td", row);
  for (const key of ["loss", "validation", "rate"]) cell[key] = make("td", row, {className: "n"});
  const buttons = make("td", row, {className: "buttons"});
  cell.pause = make("button", buttons, {onclick: () => pause_or_resume(name, row.dataset.state)});
  make("span", buttons, {textContent: " "});
  cell.clone = make("button", buttons, {textContent: "Clone", onclick: () => clone(name)});
  make("span", buttons, {textContent: " "});
  cell.stop = make("button", buttons, {textContent: "Stop", className: "danger", onclick: () => stop(name)});
  return cell;
}

function show_model(model) {
  if (!rows.has(model.name)) rows.set(model.name, new_row(model.name));
  const cell = rows.get(model.name);
  cell.row.dataset.state = model.state;
  cell.badge.className = "badge " + model.state;
  write(cell.badge, model.state);
  write(cell.why, model.note || "");
  cell.fill.style.width = (model.of ? 100 * model.steps / model.of : 0) + "%";
  write(cell.steps, `${model.steps} / ${model.of ?? "-"}`);
  write(cell.loss, fixed(model.loss));
  write(cell.validation, fixed(model.validation));
  write(cell.rate, known(model.learning_rate) ? String(Number(model.learning_rate.toPrecision(3))) : "-");
  write(cell.pause, model.state === "paused" ? "Resume" : "Pause");
  cell.pause.disabled = over.includes(model.state) || model.state === "pausing";
  cell.clone.disabled = false;
  cell.stop.disabled = over.includes(model.state);
}

function gauge(name, lines) {
  if (!gauges.has(name)) {
    const box = make("div", at("gauges"), {className: "gauge"});
    make("b", box, {textContent: name});
    gauges.set(name, lines.map(() => {
      const text = make("span", box), track = make("div", box, {className: "track"});
      return {text, fill: make("div", track, {className: "fill"}), peak: make("div", track, {className: "peak", hidden: true})};
    }));
  }
  lines.forEach((line, i) => {
    const part = gauges.get(name)[i];
    write(part.text, line.text);
    part.fill.style.width = 100 * Math.min(line.share || 0, 1) + "%";
    part.peak.hidden = !known(line.peak);
    if (known(line.peak)) part.peak.style.left = `calc(${100 * Math.min(line.peak, 1)}% - 2px)`;
  });
}
function memory_line(used, peak, budget) {
  return {text: `memory ${bytes(used)} of ${bytes(budget)}, peak ${bytes(peak)}`, share: used / budget, peak: peak / budget};
}

/// Work of all models, in seconds where their steps are measured: what is done, and what there is in all.
function work_of(models) {
  const costs = models.map(model => model.step_s).filter(known);
  const usual = costs.length ? costs.reduce((a, b) => a + b) / costs.length : 1;
  let done = 0, all = 0;
  for (const model of models) {
    const cost = known(model.step_s) ? model.step_s : usual;
    done += cost * model.steps;
    all += cost * (over.includes(model.state) || !known(model.of) ? model.steps : model.of);
  }
  return {done, all};
}

/// By the pace of the last states that this page has seen: a run that was resumed has done steps before.
const seen = [];
function time_left(status) {
  if (!known(status.elapsed_s)) return "";
  const {done, all} = work_of(status.models || []);
  const share = all ? done / all : 1;
  if (seen.length && share < seen.at(-1).share) seen.length = 0;  // models were added
  seen.push({at: status.elapsed_s, share});
  if (seen.length > 120) seen.shift();
  const first = seen[0], last = seen.at(-1), took = last.at - first.at, pace = (last.share - first.share) / took;
  return took >= 3 && pace > 0 && last.share < 1 ? time((1 - last.share) / pace) + " left" : "";
}

/// Of the run so far, as far as it is known.
function expense(status) {
  return [known(status.cost) ? `cost ${status.cost.toFixed(4)} ${status.currency || ""}`.trim() : "",
          known(status.joules) ? `energy ${(status.joules / 1000).toFixed(3)} kJ` : ""];
}

function show_status(status) {
  if (status.error) return tell(status.error, true);
  const models = status.models || [];
  models.forEach(show_model);
  const count = {};
  for (const model of models) count[model.state] = (count[model.state] || 0) + 1;
  write(at("summary"), [...Object.entries(count).map(([state, n]) => `${n} ${state}`), time(status.elapsed_s), time_left(status), ...expense(status)].filter(Boolean).join(", "));
  const host = status.host || {};
  gauge("Host", [memory_line(host.used, host.peak, host.budget)]);
  for (const device of status.devices || [])
    gauge(device.name, [memory_line(device.memory, device.peak, device.budget),
                        {text: known(device.busy) ? `busy ${Math.round(100 * device.busy)} %` : "busy -", share: device.busy}]);
  at("quit").disabled = false;
}

/// Replaces what has changed; the rest keeps its selection and its scroll position.
function show_parts(html) {
  const content = at("content"), fresh = document.createElement("div");
  fresh.innerHTML = html;
  const news = [...fresh.children], olds = [...content.children];
  news.forEach((part, i) => {
    if (!olds[i]) content.append(part);
    else if (olds[i].outerHTML !== part.outerHTML) olds[i].replaceWith(part);
  });
  olds.slice(news.length).forEach(part => part.remove());
  paint();
}

/// The colours of the charts, which their legend tells.
function paint() {
  for (const entry of document.querySelectorAll("#content .legend span")) {
    const cell = rows.get(entry.textContent), colour = entry.firstElementChild.style.background;
    if (cell) cell.swatch.style.background = colour;
  }
}

// -- events -----------------------------------------------------------------------------------------------------------

function connection(text, kind) {
  write(at("connection"), text);
  at("connection").className = kind;
}
function no_buttons() { for (const button of document.querySelectorAll("button")) button.disabled = true; }

const events = new EventSource("events" + token);
events.onopen = () => connection("live", "live");
events.onerror = () => connection(events.readyState === EventSource.CLOSED
  ? "not live: the run has ended, or too many watch it" : "connection lost, trying again", "lost");
events.addEventListener("status", event => { show_status(JSON.parse(event.data)); paint(); });
events.addEventListener("parts", event => show_parts(JSON.parse(event.data)));
events.addEventListener("end", () => {
  events.close();
  no_buttons();
  connection("the run has ended; this is its last state", "");
});
)js";

}  // namespace hydra::apps
