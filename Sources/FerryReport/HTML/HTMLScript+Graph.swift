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
      const [widest, boxHeight] = [152, 50];
      const most = Math.max(...columns.map((column) => column.length));
      const isLinked = before.some((needs) => needs.length);
      if (!isLinked) return [];

      /** Draws the graph from left to right, or from top to bottom if the page is too narrow for that. */
      function paint(svg, width) {
        const across = columns.length * (widest + 38) - 38 + 4;
        const isDown = across > width;
        // Boxes beside each other become narrower before the graph has to be scrolled.
        const boxWidth = isDown ? Math.max(104, Math.min(widest, (width - 36 + 14) / most - 14)) : widest;
        const fitted = (text, size) => { const room = Math.floor((boxWidth - 24) / size); return text.length > room ? text.slice(0, room - 1) + "…" : text; };
        // Along: from one column to the next. Aside: within a column.
        const [sizeAlong, sizeAside] = isDown ? [boxHeight, boxWidth] : [boxWidth, boxHeight];
        const gapAlong = isDown ? 34 : 38, gapAside = isDown ? 14 : 16;
        const along = (index) => depth[index] * (sizeAlong + gapAlong) + 2;
        const breadth = most * (sizeAside + gapAside) - gapAside + (isDown ? 36 : 28);
        const middle = breadth / 2;
        const aside = (index) => middle + row[index] * (sizeAside + gapAside) - sizeAside / 2;
        const length = columns.length * (sizeAlong + gapAlong) - gapAlong + 4;
        const [fullWidth, fullHeight] = isDown ? [breadth, length] : [length, breadth];
        const at = (a, b) => (isDown ? `${b} ${a}` : `${a} ${b}`);
        svg.replaceChildren();
        svg.setAttribute("viewBox", `0 0 ${fullWidth} ${fullHeight}`);
        svg.setAttribute("width", fullWidth);
        svg.setAttribute("height", fullHeight);
        svg.append(draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, draw("path", { class: "arrow", d: "M0 0L8 4L0 8z" }))));
        nodes.forEach((node, index) => {
          for (const need of before[index]) {
            const [a1, b1, a2, b2] = [along(need) + sizeAlong, aside(need) + sizeAside / 2, along(index) - 1, aside(index) + sizeAside / 2];
            const bend = gapAlong / 2;
            let way = `M${at(a1, b1)}C${at(a1 + bend, b1)} ${at(a2 - bend, b2)} ${at(a2, b2)}`;
            if (depth[index] - depth[need] > 1) {
              // Past the columns between them, on one side of their boxes.
              const tallest = Math.max(...columns.slice(depth[need] + 1, depth[index]).map((column) => column.length));
              const room = tallest * (sizeAside + gapAside) / 2 - gapAside / 2 + 6;
              const lane = middle + (b1 + b2 > breadth + 1 ? room : -room);
              way = `M${at(a1, b1)}C${at(a1 + bend, b1)} ${at(a1 + bend, lane)} ${at(a1 + gapAlong, lane)}L${at(a2 - gapAlong, lane)}C${at(a2 - bend, lane)} ${at(a2 - bend, b2)} ${at(a2, b2)}`;
            }
            svg.append(draw("path", { class: "edge", d: way, "marker-end": "url(#arrow)", ...(need === node.token ? { "stroke-dasharray": "4 3" } : {}) }));
          }
        });
        nodes.forEach((node, index) => {
          const what = node.kind + ", " + (words[node.state] || node.state);
          const [x, y] = isDown ? [aside(index), along(index)] : [along(index), aside(index)];
          svg.append(draw("g", {}, draw("title", {}, [node.name, what, node.reason].filter(Boolean).join("\n")),
            draw("rect", { class: "box " + level(node.state), x, y, width: boxWidth, height: boxHeight, rx: 9 }),
            draw("text", { class: "name", x: x + 12, y: y + 21 }, fitted(node.name, 7.1)),
            draw("text", { x: x + 12, y: y + 38 }, fitted(what, 6.4))));
        });
      }

      const svg = draw("svg", { role: "img", "aria-label": "Dependency graph; the table of nodes below has the same information" });
      const scroll = make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Dependency graph" }, svg);
      new ResizeObserver((entries) => paint(svg, entries[0].contentRect.width)).observe(scroll);
      window.addEventListener("beforeprint", () => paint(svg, 640));
      window.addEventListener("afterprint", () => paint(svg, scroll.clientWidth));
      const hasTokens = nodes.some((node) => node.token >= 0);
      return [card("Dependencies", hasTokens ? "dashed: a token" : null, scroll)];
    }

    const mean = (values) => values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;

    const countWords = [["done", "done"], ["unchanged", "unchanged"], ["failed", "failed"], ["ambiguous", "ambiguous"], ["cancelled", "canceled"], ["waiting", "remaining"], ["skipped", "not started"]];

    function nodeTable(nodes) {
      const hasReasons = nodes.some((node) => node.reason);
      const titles = ["Name", "Kind", "State", "Items"].concat(hasReasons ? ["Reason"] : []);
      const rows = nodes.map((node) => {
        const counts = node.counts || {};
        const total = countWords.reduce((sum, [key]) => sum + (counts[key] || 0), 0);
        const bar = total ? make("div", { class: "bar", role: "img", "aria-label": "Shares of the items" }, countWords.filter(([key]) => counts[key]).map(([key]) => {
          const part = make("i", { class: ["waiting", "skipped"].includes(key) ? "rest" : key });
          part.style.flexGrow = counts[key];
          return part;
        })) : null;
        const text = countWords.filter(([key]) => counts[key]).map(([key, word]) => number.format(counts[key]) + " " + word).join(", ");
        return make("tr", {}, make("td", {}, node.name), make("td", { class: "wide kind" }, node.kind), make("td", {}, badge(node.state)),
          make("td", { class: "wide" }, bar, text), hasReasons ? make("td", {}, node.reason || "") : null);
      });
      return card("Nodes", null, make("div", { class: "scroll" }, make("table", { class: "plain" },
        make("thead", {}, make("tr", {}, titles.map((title, index) => make("th", { scope: "col", class: index === 1 || index === 3 ? "wide" : null }, title)))),
        make("tbody", {}, rows))));
    }
    """#
}
