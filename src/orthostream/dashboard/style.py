"""How pages look, on light and dark, on wide and narrow screens."""

from __future__ import annotations

STYLE = """
:root { --page: #f3f5f7; --panel: #ffffff; --text: #1f2933; --faint: #52606d; --line: #d9dfe5; --own: #0b62c4;
  --good: #0f7b5f; --warn: #9a5b00; --bad: #b42318; }
body.body--dark { --page: #10161c; --panel: #182028; --text: #e6ebf0; --faint: #a9b5c1; --line: #35414d;
  --own: #6cb2ff; --good: #4fd6ae; --warn: #ffc46b; --bad: #ff8a80; }
body, body.body--dark { background: var(--page); color: var(--text);
  font: 15px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; margin: 0; }
.nicegui-content { padding: 0; gap: 0; display: block; width: 100%; max-width: 1500px; margin: 0 auto; }
header.top { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; padding: 10px 20px 2px; }
header.top h1 { font-size: 19px; font-weight: 650; line-height: 1.3; margin: 0; letter-spacing: 0;
  overflow-wrap: anywhere; }
header.top .grow { flex: 1 1 60px; }
.notice { padding: 0 20px 4px; min-height: 24px; color: var(--faint); }
a { color: var(--own); }
.button, .choice select { font: inherit; font-size: 14px; color: var(--text); background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px; padding: 5px 11px; min-height: 34px; cursor: pointer; }
.button:hover, .choice select:hover { border-color: var(--own); }
.button[aria-pressed="true"] { background: var(--own); color: var(--panel); border-color: var(--own); }
:focus-visible { outline: 3px solid var(--own); outline-offset: 2px; }
.choice { display: inline-flex; gap: 7px; align-items: center; font-size: 14px; color: var(--faint); }
.choice select { max-width: 210px; }
.parts { padding: 4px 20px 28px; display: grid; gap: 12px; grid-template-columns: repeat(12, minmax(0, 1fr)); }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 9px; padding: 12px 14px;
  grid-column: span 12; min-width: 0; }
.panel h2 { font-size: 15px; font-weight: 650; line-height: 1.3; margin: 0 0 8px; letter-spacing: 0; }
.panel p { margin: 6px 0 0; font-size: 13px; color: var(--faint); }
.half { grid-column: span 6; } .third { grid-column: span 4; } .wide { grid-column: span 8; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 8px; }
.tools .span { color: var(--faint); font-size: 13px; font-variant-numeric: tabular-nums; }
.chart { width: 100%; height: 330px; } .chart.low { height: 210px; } .chart.bar { height: 74px; }
.chart.map { height: 330px; }
dl.tiles { grid-column: span 12; display: grid; gap: 10px; margin: 0;
  grid-template-columns: repeat(auto-fit, minmax(138px, 1fr)); }
dl.tiles div { background: var(--panel); border: 1px solid var(--line); border-radius: 9px; padding: 9px 13px; }
dl.tiles dt { font-size: 12.5px; color: var(--faint); font-weight: 400; }
dl.tiles dd { margin: 0; font-size: 20px; font-weight: 620; font-variant-numeric: tabular-nums; }
dl.tiles dd.word { font-size: 17px; line-height: 28px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--faint); padding: 3px 8px 3px 0; }
td { text-align: right; padding: 3px 0 3px 8px; } thead td, thead th { color: var(--faint); font-size: 12.5px; }
tbody tr { border-top: 1px solid var(--line); }
tr.own th, tr.own td { color: var(--own); font-weight: 650; }
dl.counts { margin: 0; display: grid; gap: 0 26px; font-size: 14px; font-variant-numeric: tabular-nums;
  grid-template-columns: repeat(auto-fill, minmax(225px, 1fr)); }
dl.counts div { display: flex; justify-content: space-between; gap: 10px; border-top: 1px solid var(--line);
  padding: 3px 0; }
dl.counts dt { color: var(--faint); } dl.counts dd { margin: 0; }
header.top nav { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; }
details summary { cursor: pointer; font-size: 14px; color: var(--own); min-height: 34px; line-height: 34px; }
fieldset.sensors { border: 0; margin: 0 0 8px; padding: 0; display: grid; gap: 2px 10px; max-height: 190px;
  overflow: auto; grid-template-columns: repeat(auto-fill, minmax(118px, 1fr)); }
fieldset.sensors label { display: flex; gap: 6px; align-items: center; font-size: 13.5px; min-height: 26px; }
ul.edges { grid-column: span 12; list-style: none; margin: 0; padding: 0; display: grid; gap: 6px;
  grid-template-columns: repeat(auto-fill, minmax(245px, 1fr)); }
ul.edges a { display: grid; grid-template-columns: 1fr auto; gap: 0 10px; color: var(--text); text-decoration: none;
  background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 4px 10px; font-size: 13px;
  line-height: 18px; }
ul.edges a:hover { border-color: var(--own); }
ul.edges .name { font-weight: 650; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
ul.edges .bits, ul.edges .lag { text-align: right; font-variant-numeric: tabular-nums; }
ul.edges .lag, ul.edges .fault { color: var(--faint); }
ul.edges .fault { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
ul.edges .fault.is-bad { color: var(--bad); }
ul.edges .spark { color: var(--own); height: 20px; } ul.edges .spark svg { width: 100%; height: 20px; }
.state { white-space: nowrap; } .state::before { content: "●"; margin-right: 5px; }
.state.streaming::before, .state.complete::before { color: var(--good); }
.state.quiet::before { color: var(--faint); } .state.catching-up::before { color: var(--warn); }
.state.offline::before { color: var(--bad); }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 900px) { .half, .third, .wide { grid-column: span 12; } }
@media (max-width: 560px) { header.top { padding: 10px 12px 2px; } .parts { padding: 6px 10px 22px; gap: 10px; }
  .notice { padding: 0 12px 2px; font-size: 14px; } .panel { padding: 10px; } .chart { height: 270px; }
  dl.tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; } dl.tiles dd { font-size: 18px; }
  .button, .choice select { min-height: 40px; } fieldset.sensors label { min-height: 36px; }
  .tools .button { flex: 1 1 auto; } }
"""
