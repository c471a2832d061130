#include "apps/steering/live_view.hpp"

#include "apps/report/page_parts.hpp"
#include "apps/steering/live_script.hpp"

#include <fmt/format.h>
#include <hydra/version.hpp>

namespace hydra::apps {

namespace {

constexpr const char* style = R"(
#bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin: 10px 0 18px; }
#bar .push { margin-left: auto; }
#connection::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 7px;
                      background: #9aa5b1; }
#connection.live::before { background: #59a14f; } #connection.lost::before { background: #e15759; }
#gauges { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 12px; }
.gauge { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px 12px; }
.gauge b { display: block; } .gauge span { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
.track { position: relative; height: 8px; border-radius: 4px; background: var(--line); margin: 3px 0 7px; overflow: hidden; }
.track .fill { position: absolute; inset: 0 auto 0 0; border-radius: 4px; background: #4e79a7; transition: width .4s; }
.track .peak { position: absolute; top: 0; bottom: 0; width: 2px; background: var(--ink); }
#now td { padding-top: 5px; padding-bottom: 5px; } #now .track { width: 110px; margin: 2px 0; }
#now td:nth-child(3) { width: 110px; }
#now .buttons { text-align: right; white-space: nowrap; }
.badge { display: inline-block; min-width: 62px; text-align: center; border-radius: 10px; padding: 0 9px; font-size: 13px;
         color: #fff; background: #7f8fa6; }
.badge.training { background: #3f8a45; } .badge.waiting { background: #b3730a; } .badge.finished { background: #4e79a7; }
.badge.failed { background: #c93c3f; }
.why { display: block; color: var(--soft); font-size: 12px; white-space: normal; max-width: 240px; }
button { font: inherit; font-size: 13px; color: var(--ink); background: var(--ground); border: 1px solid var(--line);
         border-radius: 6px; padding: 2px 10px; cursor: pointer; }
button:hover:enabled { border-color: var(--soft); } button:disabled { opacity: .4; cursor: default; }
button.danger { color: #c93c3f; } #message { min-height: 1.5em; } #message.fault { color: #e15759; }
dialog, details textarea, dialog input { color: var(--ink); background: var(--ground); border: 1px solid var(--line);
                                         border-radius: 8px; }
dialog { padding: 18px 22px; width: min(520px, 90vw); } dialog::backdrop { background: #0006; }
dialog input { font: inherit; width: 100%; box-sizing: border-box; padding: 5px 9px; margin: 8px 0; }
dialog p { margin: 6px 0; } dialog div { text-align: right; margin-top: 12px; }
details textarea { display: block; width: 100%; box-sizing: border-box; min-height: 150px; padding: 8px 10px; margin: 8px 0;
                   font: 13px/1.45 ui-monospace, monospace; }
summary { cursor: pointer; color: var(--soft); margin-top: 10px; }
body { display: flex; flex-direction: column; } body > h1 { order: -3; } #bar { order: -2; } footer { order: 3; }
#content { display: contents; } #content > section { min-width: 0; } #content > .facts { order: -1; }
#content > section:has(svg) { order: 1; } #content > section:not(:has(svg)) { order: 2; }
@media print { #bar .push, .buttons, details, #message { display: none; } }
)";

constexpr const char* state = R"(<div id="bar"><span id="connection">connecting</span><span id="summary"></span>
<button id="quit" class="push danger" disabled="">Save all and end the run</button></div>
<div id="gauges"></div>
<section><h2>Now</h2>
<div class="wide"><table id="now"><thead><tr><th>model</th><th>state</th><th colspan="2">steps</th><th class="n">loss</th>
<th class="n">validation</th><th class="n">learning rate</th><th></th></tr></thead><tbody></tbody></table></div>
<p id="message" class="note" role="status"></p>
<details id="more"><summary>Add models</summary>
<textarea id="workload" spellcheck="false" placeholder="[[model]]&#10;name = &quot;...&quot;"></textarea>
<button id="add">Add</button></details></section>
<dialog id="ask"><form method="dialog"><b id="question"></b><p id="explanation" class="note"></p>
<input id="changes" spellcheck="false" autocomplete="off"/>
<div><button value="">Cancel</button> <button id="yes" value="yes"></button></div></form></dialog>
)";

}  // namespace

std::string live_view(const std::string& title, const std::string& content, const std::string& nonce) {
  return page_of(title,
                 state + fmt::format("<div id=\"content\">{}</div>\n<script nonce=\"{}\">{}</script>\n", content, nonce,
                                     live_script),
                 std::string{version}, style);
}

}  // namespace hydra::apps
