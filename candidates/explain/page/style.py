"""The page's style sheet, of which the page's policy allows exactly this text; and that policy.

Light and dark by the reader's own preference. The measures of rows are those of `lanes`.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from candidates.explain.page.lanes import EDGE, ROW

STYLE = (
    """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f6f8; --rule: #d7dae0; --faint: #eceef1;
  --ink: #1b1f26; --soft: #565d69; --accent: #0b5cad; --band: #dcebfb;
  --good: #1a6b35; --part: #8a5300; --bad: #b3261e; --open: #8a4b00; --open-ground: #fff4e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --raised: #1d2128; --rule: #3a404b; --faint: #262b33;
    --ink: #e6e8ec; --soft: #a4abb8; --accent: #7db8f7; --band: #1c3450;
    --good: #7ccf95; --part: #e8b45c; --bad: #ff9b91; --open: #f2bd6b; --open-ground: #33270f;
  }
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; margin: 0; }
header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
footer { padding: 24px; color: var(--soft); font-size: 13px; }
code, .tag, .tick, .flag text { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .92em; overflow-wrap: break-word; unicode-bidi: isolate; }
code.long { overflow-wrap: anywhere; }
td code.short, th code.short { white-space: nowrap; }
h1 { font-size: 25px; line-height: 1.3; margin: 6px 0 4px; font-weight: 650; overflow-wrap: anywhere; max-width: 62em; }
h2 { font-size: 18px; line-height: 1.3; margin: 40px 0 10px; font-weight: 650; }
p { margin: 6px 0; max-width: 78em; overflow-wrap: anywhere; }
.about { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
.answer-more { font-size: 17px; }
nav { margin: 18px 0 0; padding: 8px 0; border-block: 1px solid var(--rule); }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 20px; list-style: none; margin: 0; padding: 0; font-size: 14px; }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.strong { font-weight: 650; }
.taken { font-weight: 650; color: var(--good); }
.open { font-weight: 650; color: var(--open); }
.good { color: var(--good); } .part { color: var(--part); } .bad { color: var(--bad); }
.dim { color: var(--soft); }
h1 .open, h1 .strong, h1 .taken { font-weight: inherit; }
.badge { border: 1px solid var(--soft); border-radius: 4px; padding: 0 5px; font-size: 11.5px; line-height: 16px;
  white-space: nowrap; color: var(--ink); }
.badge.answer { background: var(--accent); border-color: var(--accent); color: var(--ground); font-weight: 650; }

.table { overflow-x: auto; border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 7px 12px; }
thead th { font-size: 13px; font-weight: 600; color: var(--soft); background: var(--raised); white-space: nowrap; }
tbody tr { border-top: 1px solid var(--rule); }
tbody th { font-weight: 400; }
tr.answer { background: var(--band); }
tr.answer th code { font-weight: 700; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.number.score { font-weight: 650; }
.candidates { min-width: 800px; }
.candidates th[scope=row] { min-width: 120px; }
.candidates th code.long { display: inline-block; min-width: 190px; }
.plain th[scope=row], .deciding th[scope=row], .plain td:nth-child(2), .deciding td:nth-child(2) { width: 12%; }
.plain th[scope=row] { white-space: nowrap; }
.candidates .badge { display: inline-block; margin-top: 3px; }
.day { white-space: nowrap; font-variant-numeric: tabular-nums; }
.carries { width: 17%; min-width: 150px; }
.evidence { list-style: none; margin: 0; padding: 0; font-size: 14px; }
.evidence li { display: grid; grid-template-columns: 42px 1fr; gap: 0 8px; padding: 1px 0; }
.evidence b { text-align: right; font-variant-numeric: tabular-nums; font-weight: 650; }
.evidence .kind { color: var(--soft); }
.evidence .none, .evidence .none b { color: var(--soft); font-weight: 400; }
.words { font-size: 14px; min-width: 700px; }
details { margin: 12px 0; }
summary { cursor: pointer; color: var(--accent); padding: 2px 0; }
details > .table { margin-top: 8px; }
.table + .rows { margin-top: 14px; }
.rows { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; margin: 0; }
.rows dt { color: var(--soft); } .rows dd { margin: 0; overflow-wrap: anywhere; }
.list { margin: 0; padding-left: 20px; } .list li { margin: 3px 0; overflow-wrap: anywhere; max-width: 78em; }
#deciding ~ .table { border-left: 4px solid var(--accent); }
.unknown { background: var(--open-ground); border-radius: 8px; padding: 10px 16px 12px; margin-top: 40px; }
.unknown h2 { margin: 0 0 6px; }

figure { margin: 0; }
.picture { display: flex; border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; }
.lanes { flex: 0 0 auto; min-width: 200px; max-width: 300px; list-style: none; margin: 0; padding: """
    f"{EDGE}px 0;"
    """ background: var(--raised); border-right: 1px solid var(--rule); font-size: 13px; }
.lanes li { height: """
    f"{ROW}px;"
    """ display: flex; align-items: center; justify-content: flex-end; gap: 8px; padding: 6px 10px 0 12px;
  line-height: 20px; white-space: nowrap; }
.lanes li.answer { background: var(--band); }
.lanes li.answer code { font-weight: 700; }
.lanes li.lost { color: var(--soft); font-style: italic; }
/* A name that is too long loses its beginning: lines differ at the end. */
.clip { overflow: hidden; text-overflow: ellipsis; direction: rtl; min-width: 0; }
.clip code { direction: ltr; overflow-wrap: normal; font-size: 13px; }
/* Begins at its right end, which is now. */
.scroll { flex: 1 1 0; min-width: 0; overflow-x: auto; direction: rtl; }
.scroll > svg { display: block; direction: ltr; }
.scroll:focus-visible { outline-offset: -3px; }
.guide { stroke: var(--faint); stroke-width: 1; }
.grid { stroke: var(--faint); stroke-width: 1; }
.now { stroke: var(--soft); stroke-width: 1; }
.band { fill: var(--band); }
.tick { fill: var(--soft); font-size: 11px; } .tick.strong { fill: var(--ink); }
.mid { text-anchor: middle; } .end { text-anchor: end; }
.tag { fill: var(--ink); font-size: 10px; paint-order: stroke; stroke: var(--ground); stroke-width: 3px;
  stroke-linejoin: round; }
.lane .tick { paint-order: stroke; stroke: var(--ground); stroke-width: 4px; }
.lane.answer .tick { stroke: var(--band); }
.lane.answer .tag { stroke: var(--band); }
.own { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.before { stroke: var(--soft); stroke-width: 1.4; stroke-dasharray: 4 3; fill: none; }
.link { stroke: var(--soft); stroke-width: 1.3; stroke-dasharray: 1.3 2.6; fill: none; }
.release { fill: var(--ink); stroke: var(--ground); stroke-width: 1; }
.early { fill: var(--ground); stroke: var(--ink); stroke-width: 1.3; }
.last { fill: var(--ink); }
.lane.answer .own { stroke: var(--accent); stroke-width: 5; }
.lane.answer .before { stroke: var(--accent); stroke-width: 3; }
.lane.answer .release, .lane.answer .last { fill: var(--accent); }
.lane.answer .early { stroke: var(--accent); }
.lane.lost .release { fill: var(--soft); } .lane.lost .tag { fill: var(--soft); }
.flag path { fill: var(--ground); stroke: var(--open); stroke-width: 1.5; }
.flag text { fill: var(--open); font-size: 11px; font-weight: 700; }
figcaption { color: var(--soft); font-size: 13px; margin-top: 10px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 0; padding: 0; }
figure + .list { margin-top: 12px; font-size: 14px; }
.legend li { display: flex; gap: 8px; align-items: flex-start; }
.swatch { flex: none; margin-top: 2px; }

@media (max-width: 700px) {
  header, main, footer { padding-inline: 14px; }
  h1 { font-size: 21px; } .answer-more { font-size: 16px; }
  .lanes { min-width: 0; max-width: 42%; } .lanes .badge { display: none; } .lanes .badge.answer { display: inline; }
  .candidates { min-width: 0; } .candidates thead { display: none; }
  .candidates tr { display: grid; grid-template-columns: 40px 1fr max-content; }
  .candidates td:nth-child(n + 4) { grid-column: 1 / 4; padding-top: 0; }
  .candidates td.carries { width: auto; }
  .candidates .day::before { content: "last commit "; color: var(--soft); }
  .rows { grid-template-columns: 1fr; gap: 0; } .rows dd { margin-bottom: 8px; }
}
@media print { .scroll, .table { overflow: visible; } nav { display: none; } }
"""
)


def policy(style: str) -> str:
    """The content security policy under which nothing is loaded, run or sent, and only this style sheet counts."""
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
