/// The style of the page.
enum HTMLStyle {
  static let text = #"""
    :root {
      color-scheme: light dark;
      --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5b6776; --line: #dde2e8; --hover: #eef2f7;
      --accent: #0b62c4; --focus: #0b62c4; --track: #e9edf2;
      --good: #1a7f46; --good-soft: #e3f4ea; --waiting: #9a6400; --waiting-soft: #fdf1d8; --bad: #b42318; --bad-soft: #fde8e6;
      --sending: #2f7ed8; --allocating: #7f6bd6; --committing: #1f9e89; --requesting: #5a7fa6; --retrying: #d9534f;
      --token: #c77ab0; --budget: #d98a1f; --delay: #b7a14a; --conditions: #8a8f98; --queued: #c3cad3;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #11161c; --card: #1a2129; --ink: #e4e9ef; --soft: #9aa7b5; --line: #2d3742; --hover: #222c36;
        --accent: #74b3ff; --focus: #74b3ff; --track: #28323d;
        --good: #5fd38d; --good-soft: #16301f; --waiting: #f0b849; --waiting-soft: #35290f; --bad: #ff8a80; --bad-soft: #3b1b1a;
        --sending: #4f97ea; --allocating: #9a8aeb; --committing: #35b8a2; --requesting: #7f9fc2; --retrying: #e8706c;
        --token: #d895c4; --budget: #e4a03c; --delay: #c9b563; --conditions: #8a929c; --queued: #465362;
      }
    }
    * { box-sizing: border-box; }
    html { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
    body { margin: 0; background: var(--page); color: var(--ink); }
    main { max-width: 1180px; margin: 0 auto; padding: 28px 20px 60px; }
    h1 { font-size: 1.55rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; letter-spacing: -0.01em; }
    h2 { font-size: 1.05rem; margin: 0 0 12px; }
    h3 { font-size: .95rem; margin: 0; }
    p { margin: 0; }
    code, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em; }
    .kicker { color: var(--soft); font-size: .86rem; margin-bottom: 2px; overflow-wrap: anywhere; }
    .verdict { display: flex; gap: 12px; align-items: flex-start; margin: 16px 0 18px; padding: 14px 16px; border-radius: 10px;
      font-size: 1.08rem; border-left: 5px solid; }
    .verdict svg { flex: none; margin-top: 2px; }
    .good .verdict { background: var(--good-soft); border-color: var(--good); }
    .waiting .verdict { background: var(--waiting-soft); border-color: var(--waiting); }
    .bad .verdict { background: var(--bad-soft); border-color: var(--bad); }
    .good .verdict svg { color: var(--good); } .waiting .verdict svg { color: var(--waiting); } .bad .verdict svg { color: var(--bad); }
    .meta { display: flex; flex-wrap: wrap; gap: 4px 18px; color: var(--soft); font-size: .87rem; margin: 0; }
    .meta div { display: flex; gap: 6px; min-width: 0; } .meta dt { margin: 0; } .meta dd { margin: 0; color: var(--ink); overflow-wrap: anywhere; }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; margin-top: 18px; }
    .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin-top: 18px; } .cards:empty { display: none; }
    .figure { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px 16px; min-width: 0; }
    .figure .label { color: var(--soft); font-size: .82rem; } .figure .value { font-size: 1.45rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
    .figure .hint { color: var(--soft); font-size: .8rem; }
    .head { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: baseline; justify-content: space-between; margin-bottom: 12px; }
    .head h2 { margin: 0; } .head .note { color: var(--soft); font-size: .85rem; } .head .tools { margin: 0; gap: 6px; } p.note { color: var(--soft); }
    .section-title { margin: 34px 0 0; font-size: 1.25rem; }
    .causes { list-style: none; margin: 0; padding: 0; }
    .causes li { display: grid; grid-template-columns: auto 1fr auto; gap: 4px 12px; padding: 9px 0; border-top: 1px solid var(--line); align-items: baseline; }
    .causes li:first-child { border-top: 0; padding-top: 0; } .causes li:last-child { padding-bottom: 0; }
    .causes .count { font-weight: 600; font-variant-numeric: tabular-nums; min-width: 3ch; text-align: right; }
    .causes .what { min-width: 0; overflow-wrap: anywhere; } .causes .example { color: var(--soft); font-size: .88rem; }
    .commands { margin: 6px 0 0; padding: 0; list-style: none; } .commands code { display: block; background: var(--page); border-radius: 6px; padding: 5px 8px; margin-top: 4px; overflow-wrap: anywhere; }
    .badge { display: inline-block; padding: 0 8px; border-radius: 999px; font-size: .8rem; line-height: 1.6; border: 1px solid transparent; white-space: nowrap; }
    .badge.good { color: var(--good); background: var(--good-soft); } .badge.bad { color: var(--bad); background: var(--bad-soft); }
    .badge.waiting { color: var(--waiting); background: var(--waiting-soft); } .badge.none { color: var(--soft); background: var(--track); }
    svg.chart { display: block; width: 100%; height: auto; overflow: visible; touch-action: pan-y; }
    svg text { fill: var(--soft); font-size: 11.5px; font-family: inherit; }
    svg .name { fill: var(--ink); font-size: 12.5px; }
    svg .grid { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; } svg .axis { stroke: var(--soft); stroke-width: 1; shape-rendering: crispEdges; }
    svg .cross { stroke: var(--soft); stroke-dasharray: 3 3; pointer-events: none; } svg .select { fill: var(--accent); opacity: .14; pointer-events: none; }
    svg .area { fill: var(--sending); opacity: .22; } svg .curve { fill: none; stroke: var(--sending); stroke-width: 1.8; stroke-linejoin: round; }
    svg .curve.second { stroke: var(--committing); }
    svg .step { fill: none; stroke: var(--delay); stroke-width: 2; } svg .dot { fill: var(--delay); }
    svg .limit { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 3; } svg .track { fill: var(--track); } svg .before { fill: var(--queued); } svg .added { fill: var(--budget); } svg .over { fill: var(--bad); }
    svg .edge { fill: none; stroke: var(--soft); stroke-width: 1.4; } svg .arrow { fill: var(--soft); }
    svg .box { fill: var(--card); stroke: var(--line); stroke-width: 1.5; } svg .box.good { stroke: var(--good); fill: var(--good-soft); } svg .box.bad { stroke: var(--bad); fill: var(--bad-soft); } svg .box.waiting { stroke: var(--waiting); fill: var(--waiting-soft); }
    .fill-sending { fill: var(--sending); background: var(--sending); } .fill-allocating { fill: var(--allocating); background: var(--allocating); }
    .fill-committing { fill: var(--committing); background: var(--committing); } .fill-requesting { fill: var(--requesting); background: var(--requesting); }
    .fill-retrying { fill: var(--retrying); background: var(--retrying); } .fill-token { fill: var(--token); background: var(--token); }
    .fill-budget { fill: var(--budget); background: var(--budget); } .fill-delay { fill: var(--delay); background: var(--delay); }
    .fill-conditions { fill: var(--conditions); background: var(--conditions); } .fill-queued { fill: var(--queued); background: var(--queued); }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 10px; padding: 0; list-style: none; color: var(--soft); font-size: .84rem; }
    .legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
    .planned { opacity: .5; }
    svg .mark { fill: none; stroke: var(--ink); stroke-width: 1; opacity: .45; shape-rendering: crispEdges; } .legend i.line { width: 1px; height: 13px; border-radius: 0; background: var(--ink); opacity: .6; margin: 0 9px 0 5px; }
    .scroll { overflow-x: auto; }
    summary { cursor: pointer; font-weight: 600; font-size: 1.05rem; } summary .note { color: var(--soft); font-weight: 400; font-size: .85rem; margin-left: 12px; }
    details .viewport { margin-top: 10px; } td.time { width: 190px; white-space: nowrap; color: var(--soft); font-variant-numeric: tabular-nums; }
    button, input, select { font: inherit; color: inherit; }
    button { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 3px 10px; cursor: pointer; }
    button:hover { background: var(--hover); } button:disabled { opacity: .45; cursor: default; }
    :focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
    .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 12px; }
    .tools input[type=search] { flex: 1 1 220px; min-width: 0; } .tools input, .tools select { background: var(--page); border: 1px solid var(--line); border-radius: 8px; padding: 6px 10px; max-width: 100%; }
    .tools .note { color: var(--soft); font-size: .86rem; margin-left: auto; font-variant-numeric: tabular-nums; }
    .table { border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
    .row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 150px) 92px 92px 92px 62px; align-items: center; }
    .one-upload .row { grid-template-columns: minmax(0, 1fr) 92px 92px 92px 62px; } .one-upload .upload { display: none; }
    .columns { background: var(--page); border-bottom: 1px solid var(--line); }
    .columns button { border: 0; background: none; border-radius: 0; text-align: left; padding: 7px 12px; width: 100%; font-size: .84rem; color: var(--soft); font-weight: 600; white-space: nowrap; }
    .columns .number button, .row .number { text-align: right; font-variant-numeric: tabular-nums; }
    .columns button::after { content: ""; display: inline-block; width: 1em; text-align: right; } [aria-sort=ascending] button::after { content: "▲"; font-size: .7em; } [aria-sort=descending] button::after { content: "▼"; font-size: .7em; }
    .viewport { position: relative; overflow-y: auto; max-height: 560px; background: var(--card); }
    .body .row { position: absolute; left: 0; right: 0; height: 36px; border-top: 1px solid var(--line); cursor: pointer; font-size: .92rem; }
    .body .row:hover { background: var(--hover); } .body .row > div { padding: 0 12px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .body .row:focus-visible { outline-offset: -2px; z-index: 1; }
    .body .row .path::before { content: "▸"; color: var(--soft); display: inline-block; width: 1.1em; } .body .row[aria-expanded=true] .path::before { content: "▾"; } .body .row[aria-expanded=true] { background: var(--hover); }
    .details { position: absolute; left: 0; right: 0; height: 240px; overflow: auto; padding: 12px 16px 14px 32px; border-top: 1px solid var(--line); background: var(--page); font-size: .88rem; }
    .details dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 14px; margin: 0 0 8px; } .details dt { color: var(--soft); } .details dd { margin: 0; overflow-wrap: anywhere; }
    .details table { border-collapse: collapse; width: 100%; } .details th, .details td { text-align: left; vertical-align: top; padding: 3px 12px 3px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; } .details th { color: var(--soft); font-weight: 500; }
    .empty { padding: 22px; color: var(--soft); text-align: center; }
    .tip { position: fixed; z-index: 10; pointer-events: none; background: var(--ink); color: var(--page); border-radius: 8px; padding: 6px 10px; font-size: .82rem; max-width: 320px; box-shadow: 0 4px 16px rgb(0 0 0 / .25); }
    table.plain { border-collapse: collapse; width: 100%; font-size: .92rem; } table.plain th, table.plain td { text-align: left; padding: 6px 14px 6px 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; } table.plain thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .84rem; } table.plain td:first-child { min-width: 7em; } table.stack td:first-child { min-width: 10em; } table.plain .kind { white-space: nowrap; } table.plain .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .bar { display: flex; height: 8px; border-radius: 4px; overflow: hidden; background: var(--track); min-width: 90px; } .bar i { display: block; min-width: 2px; }
    .bar .done { background: var(--good); } .bar .unchanged { background: var(--committing); opacity: .55; } .bar .failed { background: var(--bad); } .bar .ambiguous { background: var(--allocating); } .bar .cancelled { background: var(--conditions); } .bar .rest { background: var(--queued); }
    pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
    footer { color: var(--soft); font-size: .84rem; margin-top: 28px; }
    @media (max-width: 640px) {
      main { padding: 18px 12px 40px; } .card { padding: 14px; } h1 { font-size: 1.3rem; } .verdict { font-size: 1rem; }
      .cards { grid-template-columns: 1fr 1fr; gap: 8px; } .figure { padding: 10px 12px; } .figure .value { font-size: 1.2rem; }
      .figure:last-child:nth-child(odd) { grid-column: 1 / -1; }
      .row, .one-upload .row { grid-template-columns: minmax(0, 1fr) 96px; } .row .upload, .row .time, .row .requests, .row .size { display: none; }
      .details { padding-left: 16px; } .causes li { grid-template-columns: auto 1fr; } .causes li button { grid-column: 2; justify-self: start; }
      table.plain .wide { display: none; } table.plain td { min-width: 5.5em; }
      .stack thead { display: none; } .stack tr { display: block; padding: 8px 0; border-top: 1px solid var(--line); } .stack tr:first-child { border-top: 0; padding-top: 0; }
      table.stack td, table.stack td.number { display: flex; gap: 12px; justify-content: space-between; text-align: right; white-space: normal; border: 0; padding: 2px 0; } .stack td::before { content: attr(data-label); color: var(--soft); flex: none; }
      .stack td:first-child { font-weight: 600; } .stack td:first-child::before { content: none; } .stack td[data-empty] { display: none !important; }
    }
    @page { margin: 14mm; }
    @media print {
      :root { --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; }
      main { max-width: none; padding: 0; } .card, .figure { break-inside: avoid; border-radius: 6px; } .tools, .zoom, .causes button { display: none; }
      .card:has(tr:nth-child(16)) { break-inside: auto; } tr { break-inside: avoid; } h2, .head, summary { break-after: avoid; } .scroll { overflow: visible; }
      .cards { grid-template-columns: repeat(auto-fit, minmax(84px, 1fr)); gap: 8px; } .figure { padding: 8px 10px; } .figure .value { font-size: 1rem; }
      table.plain td:first-child { min-width: 8em; } table.stack { font-size: .82rem; } table.stack td:last-child { min-width: 12em; } details.card:not([open]) { display: none; }
      .viewport { max-height: none; overflow: visible; height: auto !important; } .body { height: auto !important; } .body .row { position: static; } .items.card { break-inside: auto; } .body .row .path::before { content: none !important; } .columns button::after { content: none !important; }
      * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
    }
    """#
}
