extension HTMLScript {
  /// The table of items.
  static let items = #"""
    // The table of items. Only the visible rows are in the document, so that 100,000 items are no burden.

    const rowHeight = 36, detailsHeight = 240;

    function itemsCard(items) {
      const [UPLOAD, PATH, SIZE, STATE, START, TIME, REQUESTS, EXTRA] = [0, 1, 2, 3, 4, 5, 6, 7];
      const columns = [
        { key: "path", title: "Item", value: (row) => row[PATH] }, { key: "upload", title: "Batch", value: (row) => items.uploads[row[UPLOAD]] },
        { key: "size", title: "Size", value: (row) => row[SIZE], number: true }, { key: "state", title: "State", value: (row) => items.states[row[STATE]] },
        { key: "time", title: "Duration", value: (row) => row[TIME], number: true }, { key: "requests", title: "Req.", value: (row) => row[REQUESTS], number: true },
      ];
      const view = { rows: items.rows, sort: null, isDescending: false, expanded: null, focused: 0 };

      const search = make("input", { type: "search", placeholder: "Search names and reasons", "aria-label": "Search names and reasons", oninput: () => later(refresh) });
      const counts = items.states.map(() => 0);
      for (const row of items.rows) counts[row[STATE]] += 1;
      const state = make("select", { "aria-label": "State", onchange: refresh }, make("option", { value: "" }, "all states"),
        items.states.map((name, index) => counts[index] ? make("option", { value: index }, `${words[name] || name} (${number.format(counts[index])})`) : null),
        items.rows.some((row) => row[EXTRA] && row[EXTRA].attempts) ? make("option", { value: "retried" }, "with failed attempts") : null);
      const upload = items.uploads.length > 1 ? make("select", { "aria-label": "Batch", onchange: refresh }, make("option", { value: "" }, "all batches"), items.uploads.map((name, index) => make("option", { value: index }, name))) : null;
      const note = make("span", { class: "note", role: "status" });

      const heads = columns.map((column) => make("div", { role: "columnheader", class: column.key + (column.number ? " number" : ""), "aria-sort": "none" },
        make("button", { type: "button", onclick: () => sortBy(column) }, column.title)));
      const body = make("div", { class: "body", role: "rowgroup" });
      const viewport = make("div", { class: "viewport", onscroll: () => window.requestAnimationFrame(render), onkeydown: key }, body);
      const grid = make("div", { class: "table" + (items.uploads.length > 1 ? "" : " one-upload"), role: "grid", "aria-label": "Items", "aria-rowcount": items.rows.length },
        make("div", { role: "rowgroup" }, make("div", { class: "row columns", role: "row" }, heads)), viewport);

      let timer = 0;
      function later(action) { window.clearTimeout(timer); timer = window.setTimeout(action, 120); }

      const text = (row) => {
        const extra = row[EXTRA];
        return (row[PATH] + (extra ? "\n" + (extra.reason || "") + "\n" + (extra.code || "") : "")).toLowerCase();
      };

      function refresh() {
        const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        const wanted = state.value, from = upload ? upload.value : "";
        view.rows = items.rows.filter((row) => {
          if (wanted === "retried" ? !(row[EXTRA] && row[EXTRA].attempts) : wanted !== "" && row[STATE] !== Number(wanted)) return false;
          if (from !== "" && row[UPLOAD] !== Number(from)) return false;
          if (!words.length) return true;
          const all = text(row);
          return words.every((word) => all.includes(word));
        });
        if (view.sort) {
          const { value, number: isNumber } = view.sort, sign = view.isDescending ? -1 : 1;
          const compare = isNumber ? (a, b) => value(a) - value(b) : (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
          view.rows = [...view.rows].sort((a, b) => sign * compare(a, b));
        }
        view.expanded = null;
        view.focused = 0;
        viewport.scrollTop = 0;
        note.textContent = view.rows.length === items.rows.length ? count(items.rows.length, "item") : `${number.format(view.rows.length)} of ${count(items.rows.length, "item")}`;
        render();
      }

      function sortBy(column) {
        if (view.sort === column && view.isDescending === Boolean(column.number)) view.isDescending = !view.isDescending;
        else if (view.sort === column) { view.sort = null; view.isDescending = false; }
        else { view.sort = column; view.isDescending = false; if (column.number) view.isDescending = true; }
        columns.forEach((other, index) => heads[index].setAttribute("aria-sort", view.sort !== other ? "none" : view.isDescending ? "descending" : "ascending"));
        refresh();
      }

      const top = (index) => index * rowHeight + (view.expanded !== null && index > view.expanded ? detailsHeight : 0);
      let isPrinting = false;

      function render() {
        const total = view.rows.length;
        const height = top(total);
        body.style.height = Math.max(height, 0) + "px";
        viewport.style.height = Math.min(height || 70, 560) + "px";
        let first = Math.max(0, Math.floor((viewport.scrollTop - (view.expanded !== null ? detailsHeight : 0)) / rowHeight) - 6);
        let last = Math.min(total, Math.ceil((viewport.scrollTop + 560) / rowHeight) + 6);
        if (isPrinting) { first = 0; last = Math.min(total, 500); }
        const hadFocus = body.contains(document.activeElement);
        const elements = [];
        for (let index = first; index < last; index += 1) {
          elements.push(rowElement(index));
          if (index === view.expanded) elements.push(details(view.rows[index], index));
        }
        if (!total) elements.push(make("div", { class: "empty" }, "No item matches."));
        body.replaceChildren(...elements);
        if (hadFocus) { const row = body.querySelector('[tabindex="0"]'); if (row) row.focus({ preventScroll: true }); }
      }

      function rowElement(index) {
        const row = view.rows[index];
        const isOpen = index === view.expanded;
        const element = make("div", { class: "row", role: "row", tabindex: index === view.focused ? "0" : "-1", "aria-rowindex": index + 2, "aria-expanded": String(isOpen), onclick: () => { view.focused = index; toggle(index); } },
          make("div", { role: "gridcell", class: "path", title: row[PATH] }, row[PATH]),
          make("div", { role: "gridcell", class: "upload", title: items.uploads[row[UPLOAD]] }, items.uploads[row[UPLOAD]]),
          make("div", { role: "gridcell", class: "number size" }, bytes(row[SIZE])),
          make("div", { role: "gridcell", class: "state" }, badge(items.states[row[STATE]])),
          make("div", { role: "gridcell", class: "number time" }, row[TIME] >= 0 ? elapsed(row[TIME] / 1000) : ""),
          make("div", { role: "gridcell", class: "number requests" }, row[REQUESTS] >= 0 ? String(row[REQUESTS]) : ""));
        element.style.top = top(index) + "px";
        return element;
      }

      function details(row, index) {
        const extra = row[EXTRA] || {};
        const facts = [["Batch", items.uploads[row[UPLOAD]]], ["Path", row[PATH]], ["Size", `${number.format(row[SIZE])} B`], ["Reason", extra.reason], ["URL", extra.url], ["Response", extra.body],
          ["Started", row[START] >= 0 ? moment(items.start, row[START] / 1000) : null], ["SHA-256", extra.sha256]];
        const list = make("dl", {}, facts.filter(([, value]) => value).map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
        const attempts = extra.attempts ? make("table", {}, make("thead", {}, make("tr", {}, ["Ended", "Step", "Duration", "Failure"].map((title) => make("th", { scope: "col" }, title)))),
          make("tbody", {}, extra.attempts.map(([at, step, ms, message]) => make("tr", {}, make("td", {}, at), make("td", {}, step), make("td", {}, elapsed(ms / 1000)), make("td", {}, message))))) : null;
        const commands = extra.resolve ? make("ul", { class: "commands" }, extra.resolve.map((command) => make("li", {}, make("code", {}, command)))) : null;
        const element = make("div", { class: "details", role: "row" }, make("div", { role: "gridcell" }, list, attempts, commands));
        element.style.top = top(index) + rowHeight + "px";
        return element;
      }

      function toggle(index) {
        view.expanded = view.expanded === index ? null : index;
        render();
        body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
      }

      function key(event) {
        const page = 14, moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (!event.target.classList.contains("row")) return;
        if (event.key in moves) {
          view.focused = Math.max(0, Math.min(view.rows.length - 1, view.focused + moves[event.key]));
          const y = top(view.focused);
          if (y < viewport.scrollTop) viewport.scrollTop = y;
          else if (y + rowHeight > viewport.scrollTop + viewport.clientHeight) viewport.scrollTop = y + rowHeight - viewport.clientHeight;
          render();
          body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
        } else if (event.key === "Enter" || event.key === " ") toggle(view.focused);
        else if (event.key === "Escape" && view.expanded !== null) toggle(view.expanded);
        else return;
        event.preventDefault();
      }

      window.addEventListener("beforeprint", () => { isPrinting = true; render(); });
      window.addEventListener("afterprint", () => { isPrinting = false; render(); });
      const note2 = items.scope === "all" ? null : "items that did not succeed on the first attempt; --items all lists every item";
      const element = card("Items", note2, make("div", { class: "tools" }, search, state, upload, note), grid);
      element.classList.add("items");
      refresh();
      return { element, show(query) { search.value = query; state.value = ""; if (upload) upload.value = ""; refresh(); element.scrollIntoView({ behavior: "smooth" }); search.focus({ preventScroll: true }); } };
    }
    """#
}
