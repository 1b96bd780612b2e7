"""The style sheet inside every exported page: light and dark, narrow and wide, on paper. It names nothing outside the page."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1f2328; --quiet: #5c6470; --line: #d8dce2; --raised: #f5f6f8; --mine: #eaf1fb; --bad: #b3261e;
  --added: #dff3e4; --removed: #fbe3e4; --mark: #7a3e00; --mark-back: #ffecd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16181c; --text: #e4e7eb; --quiet: #9aa3af; --line: #343a43; --raised: #1e2127; --mine: #1c2a3d; --bad: #ff8a80;
    --added: #16361f; --removed: #43191c; --mark: #ffd08a; --mark-back: #4a3210;
  }
}
* { box-sizing: border-box; }
body {
  max-width: 54rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .75rem; }
h2 { font-size: 1rem; margin: 0 0 .5rem; }
h3, h4, h5, h6 { font-size: 1rem; margin: 1rem 0 .25rem; }
header { border-bottom: 1px solid var(--line); padding-bottom: 1rem; margin-bottom: 1.5rem; }
dl { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0; font-size: .875rem; }
dl div { display: flex; gap: .4rem; }
dt, .about, .note { color: var(--quiet); font-weight: normal; }
dd { margin: 0; }
.about, .note { font-size: .875rem; }
article { margin: 0 0 1.25rem; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
article.user { background: var(--mine); }
article.event { border-style: dashed; }
p, li { white-space: pre-wrap; unicode-bidi: plaintext; margin: .5rem 0; }
li { margin: .15rem 0; }
ul, ol { padding-left: 1.6rem; margin: .5rem 0; }
ul ul, ul ol, ol ul, ol ol { margin: 0; }
ul.plan { list-style: none; padding-left: 0; }
hr { border: 0; border-top: 1px solid var(--line); }
code, pre { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
code, pre { direction: ltr; unicode-bidi: isolate; }
code { background: var(--raised); border-radius: .2rem; padding: .05rem .25rem; }
pre {
  white-space: pre-wrap; tab-size: 4; margin: .5rem 0; padding: .6rem .75rem; background: var(--raised);
  border: 1px solid var(--line); border-radius: .35rem;
}
pre.table { white-space: pre; overflow-x: auto; }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--quiet); font-size: .875rem; }
details.failed > summary { color: var(--bad); }
.hidden { color: var(--mark); background: var(--mark-back); border-radius: .2rem; font-size: .85em; }
.added { background: var(--added); }
.removed { background: var(--removed); }
.left-out { color: var(--quiet); }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --text: #000000; --quiet: #444444; --line: #999999; --raised: #ffffff; --mine: #ffffff; --bad: #8c1d18;
    --added: #dff3e4; --removed: #fbe3e4; --mark: #7a3e00; --mark-back: #ffffff;
  }
  body { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""
