extension HTMLScript {
  /// The dependency graph and the table of nodes.
  static let graph = #"""
    // The dependency graph: nodes in columns by their distance from the start, with their outcomes.

    function graphCard(nodes) {
      if (nodes.length < 2 || nodes.length > 200) return [];
      const depth = nodes.map(() => -1);
      const before = nodes.map((node) => [...node.needs, ...(node.token >= 0 ? [node.token] : [])]);
      // The nodes are in start order, so what a node needs comes before it.
      nodes.forEach((node, index) => { depth[index] = Math.max(-1, ...before[index].map((need) => depth[need])) + 1; });
      const columns = [];
      nodes.forEach((node, index) => { (columns[depth[index]] = columns[depth[index]] || []).push(index); });
      const row = nodes.map(() => 0);
      columns.forEach((column, at) => {
        // Nodes are near what they need, so that few edges cross.
        if (at > 0) column.sort((a, b) => mean(before[a].map((need) => row[need])) - mean(before[b].map((need) => row[need])));
        column.forEach((index, position) => { row[index] = position - (column.length - 1) / 2; });
      });
      const [boxWidth, boxHeight, gapX, gapY] = [152, 50, 38, 16];
      const most = Math.max(...columns.map((column) => column.length));
      const width = columns.length * (boxWidth + gapX) - gapX + 4, height = most * (boxHeight + gapY) - gapY + 28;
      const x = (index) => depth[index] * (boxWidth + gapX) + 2;
      const y = (index) => height / 2 + row[index] * (boxHeight + gapY) - boxHeight / 2;
      const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Dependency graph; the table of nodes below has the same information" });
      svg.append(draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, draw("path", { class: "arrow", d: "M0 0L8 4L0 8z" }))));
      nodes.forEach((node, index) => {
        for (const need of before[index]) {
          const [x1, y1, x2, y2] = [x(need) + boxWidth, y(need) + boxHeight / 2, x(index) - 1, y(index) + boxHeight / 2];
          const bend = gapX / 2;
          let way = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
          if (depth[index] - depth[need] > 1) {
            // Past the columns between them, above or below their boxes.
            const tallest = Math.max(...columns.slice(depth[need] + 1, depth[index]).map((column) => column.length));
            const room = tallest * (boxHeight + gapY) / 2 - gapY / 2 + 6;
            const lane = height / 2 + (y1 + y2 > height + 1 ? room : -room);
            way = `M${x1} ${y1}C${x1 + bend} ${y1} ${x1 + bend} ${lane} ${x1 + gapX} ${lane}H${x2 - gapX}C${x2 - bend} ${lane} ${x2 - bend} ${y2} ${x2} ${y2}`;
          }
          svg.append(draw("path", { class: "edge", d: way, "marker-end": "url(#arrow)", ...(need === node.token ? { "stroke-dasharray": "4 3" } : {}) }));
        }
      });
      nodes.forEach((node, index) => {
        const short = node.name.length > 18 ? node.name.slice(0, 17) + "…" : node.name;
        const what = node.kind + ", " + (words[node.state] || node.state);
        svg.append(draw("g", {}, draw("title", {}, [node.name, what, node.reason].filter(Boolean).join("\n")),
          draw("rect", { class: "box " + level(node.state), x: x(index), y: y(index), width: boxWidth, height: boxHeight, rx: 9 }),
          draw("text", { class: "name", x: x(index) + 12, y: y(index) + 21 }, short),
          draw("text", { x: x(index) + 12, y: y(index) + 38 }, what)));
      });
      const hasTokens = nodes.some((node) => node.token >= 0);
      return [card("Dependencies", hasTokens ? "dashed: a token" : null, make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Dependency graph" }, svg))];
    }

    const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;

    const countWords = [["done", "done"], ["unchanged", "unchanged"], ["failed", "failed"], ["ambiguous", "ambiguous"], ["cancelled", "canceled"], ["waiting", "remaining"], ["skipped", "not started"]];

    function nodeTable(nodes) {
      const rows = nodes.map((node) => {
        const counts = node.counts || {};
        const total = countWords.reduce((sum, [key]) => sum + (counts[key] || 0), 0);
        const bar = total ? make("div", { class: "bar", role: "img", "aria-label": "Shares of the items" }, countWords.filter(([key]) => counts[key]).map(([key]) => {
          const part = make("i", { class: ["waiting", "skipped"].includes(key) ? "rest" : key });
          part.style.flexGrow = counts[key];
          return part;
        })) : null;
        const text = countWords.filter(([key]) => counts[key]).map(([key, word]) => number.format(counts[key]) + " " + word).join(", ");
        return make("tr", {}, make("td", {}, node.name), make("td", { class: "wide" }, node.kind), make("td", {}, badge(node.state)),
          make("td", { class: "wide" }, bar, text), make("td", {}, node.reason || ""));
      });
      return card("Nodes", null, make("div", { class: "scroll" }, make("table", { class: "plain" },
        make("thead", {}, make("tr", {}, ["Name", "Kind", "State", "Items", "Reason"].map((title, index) => make("th", { scope: "col", class: index === 1 || index === 3 ? "wide" : null }, title)))),
        make("tbody", {}, rows))));
    }
    """#
}
