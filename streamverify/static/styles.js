/* The element's own style sheet. Pages set `--gs-surface` to the colour the element stands on. */
export default `
:host{display:block;color-scheme:light dark;overflow-wrap:anywhere;line-height:1.75;
--surface:var(--gs-surface,light-dark(#fff,#181c22));--text:light-dark(#15181d,#e9ecf1);--good:light-dark(#0a6b3d,#6fd49f);--bad:light-dark(#b3182b,#ff98a0);--doubt:light-dark(#8a4b00,#f3b96a);--quiet:light-dark(#555b65,#a7afbb);--line:light-dark(#dfe3e9,#333a44);--soft:light-dark(#f3f5f8,#20252d);--link:light-dark(#1d4ed8,#a9c1ff);
color:var(--text)}
*{box-sizing:border-box}
[hidden]{display:none!important}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:.3em}
svg{width:1.05em;height:1.05em;flex:none;fill:none;stroke:currentColor;stroke-width:1.8}
.supported{color:var(--good)} .contradicted{color:var(--bad)} .unsupported{color:var(--doubt)} .pending,.unverified,.no_claim,.quiet{color:var(--quiet)}
.summary{background:var(--surface);padding:.1rem 0 .55rem;margin-bottom:.7rem;font-size:.87rem;line-height:1.5}
.line{display:flex;flex-wrap:wrap;gap:.15rem 1.4rem;justify-content:space-between;min-height:1.5rem}
.counts,.figures{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem}
.counts span{display:inline-flex;align-items:center;gap:.35em;font-weight:600}
.figures{color:var(--quiet)} .figures b{color:var(--text);font-variant-numeric:tabular-nums}
.strip{display:flex;gap:2px;height:5px;margin-top:.45rem;border-radius:3px;overflow:hidden;background:var(--soft)}
.strip span{background:currentColor;min-width:2px;opacity:.85} .strip .no_claim,.strip .pending{background:var(--line)}
.summary.wide{position:sticky;top:0;z-index:1}
.summary:not(.wide) .minor{display:none}
.frame{display:grid;grid-template-columns:minmax(0,1fr);gap:0 2.25rem;position:relative}
.answer>:first-child{margin-top:0}
p,ul,ol,blockquote,hr,.code,.table{margin:0 0 .85em}
.answer :is(h3,h4,h5,h6){margin:1.1em 0 .45em;line-height:1.35;font-size:1.05em} .answer h3{font-size:1.25em} .answer h4{font-size:1.15em}
ul,ol{padding-left:1.6em} li{margin:.25em 0} li>p{margin:0 0 .5em} .tight>li>p{margin:0}
li>:is(ul,ol){margin:.25em 0}
blockquote{padding:.05em 0 .05em .9em;border-left:3px solid var(--line);color:inherit} blockquote>:last-child{margin-bottom:0}
hr{border:0;border-top:1px solid var(--line)}
code{font:.88em/1.5 ui-monospace,"DejaVu Sans Mono",monospace;background:var(--soft);border-radius:.3em;padding:.1em .3em}
pre{margin:0;padding:.7em .9em;overflow-x:auto;background:var(--soft);border-radius:.5em;line-height:1.5} pre code{padding:0;background:none}
.table{overflow-x:auto} table{border-collapse:collapse;line-height:1.55} th,td{padding:.35em .8em;border-bottom:1px solid var(--line);text-align:start;overflow-wrap:break-word} th{font-weight:650;border-bottom-width:2px} td:first-child,th:first-child{padding-left:.2em}
a{color:var(--link);text-underline-offset:.2em}
.keep{white-space:nowrap}
.badge{display:inline-flex;align-items:center;gap:.3em;margin:0 .1em 0 .5em;padding:0 .5em;height:1.6em;font-size:.72rem;font-weight:600;font-style:normal;line-height:1;font-family:system-ui,"DejaVu Sans",sans-serif;border-radius:1em;white-space:nowrap;vertical-align:middle;margin-block:-.2em;user-select:none;position:relative;background:color-mix(in srgb,currentColor 9%,transparent)}
.badge:is(.unsupported,.contradicted,.unverified){margin-right:.3em}
.badge::after{content:"";position:absolute;inset:-.25rem -.15rem}
.badge:hover,.badge[aria-expanded=true]{background:color-mix(in srgb,currentColor 14%,transparent)}
.badge[aria-expanded=true]{box-shadow:0 0 0 1.5px currentColor}
.badge:is(.supported,.pending){padding:0 .22em;background:none} .badge:is(.supported,.pending) svg{width:1.3em;height:1.3em}
.badge:is(.supported,.pending) .word{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.pending svg,.badge.provisional svg{stroke-dasharray:3 2.2} .badge.provisional{box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 40%,transparent)}
.s{border-radius:.2em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.s.chosen{background:light-dark(#e8effc,#26344f)}
.risk{text-decoration:underline wavy var(--doubt) 1px;text-underline-offset:.24em;text-decoration-skip-ink:none}
.redact{font-style:italic;color:var(--quiet);background:var(--soft);border-radius:.3em;padding:.05em .4em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.repair{border-bottom:2px dotted var(--quiet)}
.cite{cursor:pointer;color:var(--quiet);font-size:.9em} .cite:hover{text-decoration:underline} .cite[aria-expanded=true]{background:light-dark(#d6e2fb,#33466b)}
.cite:is(.fabricated,.wrong_passage){color:var(--bad);text-decoration:line-through} .cite:is(.unsupported,.partial){color:var(--doubt);text-decoration:underline dotted;text-underline-offset:.24em}
.caret:empty{display:inline-block;width:.5em;height:1.05em;margin-left:.15em;vertical-align:-.15em;border-radius:1px;background:var(--quiet);animation:blink 1s steps(2) infinite}
.caret.holding{color:var(--quiet);font-size:.85em;padding:.1em .5em;margin-left:.3em;border:1px dashed var(--line);border-radius:1em}
@keyframes blink{50%{opacity:0}}
.note{color:var(--bad);font-weight:600;margin:.6em 0 0}
aside{font-size:.9rem;line-height:1.55;min-width:0}
aside h3{display:flex;gap:.4em;align-items:center;margin:0;font-size:.95rem;line-height:1.4}
.sources h3{font-size:.78rem;letter-spacing:.06em;text-transform:uppercase;color:var(--quiet);margin-bottom:.4rem}
.sources ol{list-style:none;counter-reset:n;padding:0;margin:0} .sources li{counter-increment:n;margin:0;border-top:1px solid var(--line)}
summary{cursor:pointer;list-style:none;display:block;padding:.5rem 0} summary::-webkit-details-marker{display:none}
.name{display:block;font-weight:600;line-height:1.4} .name::before{content:counter(n) ". ";color:var(--quiet)}
.excerpt{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;color:var(--quiet);font-size:.94em}
[open] .excerpt{display:none} .whole{margin:0 0 .7rem;white-space:pre-wrap}
.panel{background:var(--surface)}
.panel:focus{outline:none}
.panel header{display:flex;gap:.6rem;justify-content:space-between;align-items:start;margin-bottom:.25rem}
.close{width:1.9rem;height:1.9rem;flex:none;margin:-.25rem -.35rem 0 0;color:var(--quiet);border-radius:.4rem} .close:hover{background:var(--soft)}
.panel p{margin:0 0 .4rem} .detail{padding:.3rem .6rem;background:var(--soft);border-radius:.4rem}
.panel h3:is(.correct,.partial,.unverified){color:var(--text)} .panel h3:is(.fabricated,.wrong_passage){color:var(--bad)}
.panel article{margin-top:.8rem} .panel h4{margin:0 0 .3rem;font-size:inherit;line-height:1.4}
.relation{display:block;font-size:.78rem;font-weight:500;color:var(--quiet)}
.panel blockquote{margin:0;padding:.1rem 0 .1rem .8rem;white-space:pre-wrap}
mark{background:light-dark(#ffe9a3,#5e4a05);color:inherit;border-radius:.15em;-webkit-box-decoration-break:clone;box-decoration-break:clone;padding:.08em 0}
.more{margin:.35rem 0 0 .8rem;color:var(--link);font-size:.94em;text-decoration:underline;text-underline-offset:.2em}
.frame.wide{grid-template-columns:minmax(0,1fr) minmax(17rem,34%)}
.wide aside{border-left:1px solid var(--line);padding-left:1.6rem}
.wide .panel:not([hidden])~.sources{display:none}
.frame:not(.wide) aside{margin-top:1.2rem}
.frame:not(.wide) .panel{position:fixed;inset:auto 0 0;z-index:2;max-height:52vh;overflow-y:auto;overscroll-behavior:contain;padding:.9rem 1.1rem 1.2rem;border-top:1px solid var(--line);border-radius:.9rem .9rem 0 0;box-shadow:0 -6px 28px #0003}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media (prefers-reduced-motion:no-preference){.badge{transition:background-color .15s} .frame:not(.wide) .panel{animation:rise .18s ease-out}}
@media (prefers-reduced-motion:reduce){.caret:empty{animation:none}}
@keyframes rise{from{transform:translateY(1.5rem);opacity:0}}
@media (forced-colors:active){.badge{border:1px solid}}
`;
