extension HTMLScript {
  /// Assembles the page.
  static let page = #"""
    // Assembles the page.

    const items = data.items && data.items.rows.length ? itemsCard(data.items) : null;

    if (data.causes.length) {
      root.append(card("What did not succeed", null, make("ul", { class: "causes" }, data.causes.map((cause) => make("li", {},
        make("span", { class: "count" }, number.format(cause.count)),
        make("div", { class: "what" }, badge(cause.state), " ", cause.message,
          cause.example ? make("div", { class: "example" }, cause.count > 1 ? "for example " : "", make("code", {}, cause.example)) : null,
          cause.commands ? make("ul", { class: "commands" }, cause.commands.map((command) => make("li", {}, make("code", {}, command)))) : null),
        items && cause.query ? make("button", { type: "button", onclick: () => items.show(cause.query) }, "Show items") : make("span")))))
      );
    }

    if (data.table) {
      const kind = (index) => (data.table.numbers.includes(index) ? "number" : null);
      const cell = (text, index) => make("td", { class: kind(index), "data-label": data.table.columns[index], "data-empty": text === "" }, text);
      root.append(card(data.table.title, data.table.note, make("div", { class: "scroll" }, make("table", { class: "plain stack" },
        make("thead", {}, make("tr", {}, data.table.columns.map((title, index) => make("th", { scope: "col", class: kind(index) }, title)))),
        make("tbody", {}, data.table.rows.map((row) => make("tr", {}, row.map(cell))))))));
    }

    for (const section of data.sections) {
      if (section.title) root.append(make("h2", { class: "section-title" }, section.title));
      if (section.text) root.append(make("p", { class: "note" }, section.text));
      root.append(...timeCharts(section), ...budgetCharts(section), ...delayChart(section));
      if (section.events && section.events.length) {
        const rows = section.events.map(([at, text]) => make("tr", {}, make("td", { class: "time" }, at), make("td", {}, text)));
        root.append(make("details", { class: "card" }, make("summary", {}, "Events", make("span", { class: "note" }, section.eventsNote || count(section.events.length, "event"))),
          make("div", { class: "viewport", tabindex: "0" }, make("table", { class: "plain" }, make("tbody", {}, rows)))));
      }
      if (section.nodes && section.nodes.length) root.append(nodeTable(section.nodes));
    }
    if (data.nodes.length) root.append(...graphCard(data.nodes), nodeTable(data.nodes));
    if (items) root.append(items.element);
    document.body.dataset.ready = "true";
    """#
}
