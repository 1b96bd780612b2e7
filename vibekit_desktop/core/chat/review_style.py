"""The style sheet of an exported review, after that of every page: tables of lines, and comments in them."""

REVIEW_STYLE = """
:root { --word-added: #a6e3b8; --word-removed: #f5b5b8; }
@media (prefers-color-scheme: dark) { :root { --word-added: #24693a; --word-removed: #7d2a30; } }
body { max-width: 80rem; }
section { margin: 0 0 2rem; }
a { color: inherit; }
ol.files { font-size: .875rem; }
ul.facts { font-size: .875rem; color: var(--quiet); }
.plus, .minus { font-variant-numeric: tabular-nums; }
table.lines { border-collapse: collapse; width: 100%; border: 1px solid var(--line); table-layout: fixed; }
table.lines col.number { width: 4rem; }
table.lines td { padding: 0 .5rem; vertical-align: top; }
table.lines td:nth-child(1):not([colspan]), table.lines td:nth-child(2) {
  text-align: right; color: var(--quiet); font-size: .75rem; font-variant-numeric: tabular-nums;
  user-select: none; border-right: 1px solid var(--line);
}
table.lines code { background: none; padding: 0; white-space: pre-wrap; tab-size: 4; }
tr.hunk td { background: var(--raised); color: var(--quiet); font-size: .8rem; padding: .25rem .5rem; }
tr.went { background: var(--removed); }
tr.came { background: var(--added); }
tr.went mark { background: var(--word-removed); }
tr.came mark { background: var(--word-added); }
tr.moved code { font-style: italic; }
mark { color: inherit; border-radius: .15rem; }
div.comment {
  margin: .5rem 0; padding: .5rem .75rem; background: var(--page); border: 1px solid var(--line); border-radius: .5rem;
}
div.comment .about { margin: 0 0 .25rem; }
@media print { :root { --word-added: #a6e3b8; --word-removed: #f5b5b8; } body { max-width: none; } }
"""
