/** The page of `spillway view`; its script and the components are files of the package. */

export const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Spillway</title>
<link rel="stylesheet" href="/page.css">
<script type="module" src="/index.mjs"></script>
<script type="module" src="/view-page.mjs"></script>
</head>
<body>
<header>
<h1>Saved outputs</h1>
<span id="usage"></span>
<span id="status" role="alert"></span>
<button id="refresh" type="button">Refresh</button>
<button id="remove" type="button">Remove</button>
<button id="sweep" type="button" title="Removes outputs that are too old">Clear up</button>
</header>
<spillway-approval></spillway-approval>
<main>
<nav aria-label="Outputs"><ul id="list"></ul><p id="empty" hidden>Nothing is saved yet. Run a command with spillway run.</p></nav>
<spillway-output label="Output"></spillway-output>
</main>
<aside id="audit" aria-label="Audit logs" hidden><h2>Audit logs</h2><spillway-audit></spillway-audit></aside>
</body>
</html>
`

export const CSS = `:root { color-scheme: light dark; --line: light-dark(#d1d9e0, #3d444d); --quiet: light-dark(#59636e, #9da7b1); }
* { box-sizing: border-box; }
body { display: flex; flex-direction: column; height: 100dvh; margin: 0; font: 14px/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #e6edf3); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 8px 12px; border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 16px; }
h2 { margin: 0; font-size: 14px; }
#usage { flex: 1; color: var(--quiet); }
#status.problem { color: light-dark(#b3261e, #ff8a80); }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 6px; padding: 2px 10px; cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#0969da, #58a6ff); outline-offset: -1px; }
main { display: flex; flex: 1; min-height: 0; }
nav { width: 300px; overflow: auto; border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav p { padding: 0 12px; }
nav button { display: block; width: 100%; border: 0; border-bottom: 1px solid var(--line); border-radius: 0; padding: 6px 12px; text-align: left; }
nav button[aria-current] { background: light-dark(#ddf4ff, #12314f); }
nav code { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 13px; }
nav span { color: var(--quiet); font-size: 12px; }
nav .failed span { color: light-dark(#b3261e, #ff8a80); }
spillway-output { flex: 1; min-width: 0; }
spillway-approval { max-height: 60vh; overflow: auto; }
aside { max-height: 40vh; overflow: auto; border-top: 1px solid var(--line); padding: 8px 12px; }
[hidden] { display: none !important; }
.hidden { outline: 1px solid; }
@media (max-width: 700px) {
  body { height: auto; }
  main { flex-direction: column; }
  nav { width: auto; max-height: 35vh; border-right: 0; }
  spillway-output { flex: none; height: 70vh; }
}
`
