extension HTMLScript {
  /// Functions that the other parts of the script use.
  static let core = #"""
    "use strict";
    // The data of the page, and what its parts share. Text is only ever added as text, never as HTML.
    const data = JSON.parse(document.getElementById("data").textContent);
    const root = document.getElementById("content");

    /** Makes an element with attributes and children, which are elements or texts. */
    function make(tag, attributes, ...children) {
      const element = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes || {})) {
        if (name === "class") element.className = value;
        else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
      }
      for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
      return element;
    }

    /** Likewise, for an element of SVG. */
    function draw(tag, attributes, ...children) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
      for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
      return element;
    }

    function card(title, note, ...children) {
      const id = "c" + Math.random().toString(36).slice(2);
      return make("section", { class: "card", "aria-labelledby": id },
        make("div", { class: "head" }, make("h2", { id }, title), typeof note === "string" ? make("span", { class: "note" }, note) : note), children);
    }

    const number = new Intl.NumberFormat("en-US");
    const count = (value, word) => number.format(value) + " " + word + (value === 1 ? "" : "s");

    function bytes(value) {
      let unit = 0;
      const units = ["B", "kB", "MB", "GB", "TB"];
      while (Math.abs(value) >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
      return (unit === 0 ? Math.round(value) : value.toFixed(value < 100 ? 1 : 0)) + " " + units[unit];
    }

    /** A label of an axis, such as `20 MB`. */
    const roundBytes = (value) => bytes(value).replace(".0 ", " ");

    function elapsed(seconds) {
      if (seconds < 0.001 && seconds > 0) return "<1 ms";
      if (seconds < 1) return Math.round(seconds * 1000) + " ms";
      if (seconds < 60) return (seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, "") : Math.round(seconds)) + " s";
      const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
      const first = parts.findIndex(([, size]) => Math.round(seconds) >= size);
      let rest = Math.round(seconds);
      return parts.slice(first, first + 2).map(([unit, size]) => {
        const whole = Math.floor(rest / size);
        rest -= whole * size;
        return whole ? whole + " " + unit : "";
      }).filter(Boolean).join(" ");
    }

    function moment(start, seconds) {
      const time = new Date;
      time.setTime(start + seconds * 1000);
      return time.toISOString().replace("T", " ").slice(0, 19) + " UTC";
    }

    /** The class of colors for a state. */
    function level(state) {
      if (["succeeded", "done"].includes(state)) return "good";
      if (["failed", "ambiguous"].includes(state)) return "bad";
      if (["waiting", "cancelled", "skipped"].includes(state)) return "waiting";
      return "none";
    }
    const words = { cancelled: "canceled", not_needed: "not needed", not_selected: "not selected" };
    const badge = (state) => make("span", { class: "badge " + level(state) }, words[state] || state);

    // MARK: Tooltips

    const tip = make("div", { class: "tip", role: "presentation", hidden: true });
    document.body.append(tip);
    function showTip(event, lines) {
      tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
      tip.hidden = false;
      const box = tip.getBoundingClientRect();
      const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
      const top = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
      tip.style.left = Math.max(8, left) + "px";
      tip.style.top = Math.max(8, top) + "px";
    }
    const hideTip = () => { tip.hidden = true; };

    // MARK: Scales

    /** Values on a logarithmic scale from `low` to `high` that are at least `gap` pixels apart, the highest first. */
    function logTicks(steps, high, y, gap) {
      const values = [];
      for (const value of [...steps].reverse()) {
        if (value <= high && (!values.length || y(value) - y(values[values.length - 1]) >= gap)) values.push(value);
      }
      return values;
    }

    /** Round values between 0 and `most`, about `wanted` of them. */
    function ticks(most, wanted, base = 10) {
      if (!(most > 0)) return [0];
      const rough = most / wanted;
      const power = Math.pow(base, Math.floor(Math.log(rough) / Math.log(base)));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) || rough;
      const values = [];
      for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
      return values;
    }

    const timeSteps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
      7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

    /** Round times between two times, in seconds. */
    function timeTicks(from, to, wanted) {
      const step = timeSteps.find((size) => size >= (to - from) / wanted) || 31536000;
      const values = [];
      for (let value = Math.ceil(from / step - 0.001) * step; value <= to + step * 0.001; value += step) values.push(value);
      return values.map((value) => [value, value === 0 ? "0" : step < 1 ? +value.toFixed(3) + " s" : elapsed(value)]);
    }

    /** Draws into an SVG element again whenever its width changes. */
    function chart(label, paint) {
      const svg = draw("svg", { class: "chart", role: "img", "aria-label": label });
      let width = 0;
      const repaint = () => { if (width > 0) paint(svg, width); };
      // A browser prints with the width of the window. Small texts would then be too small on paper.
      const [begin, end] = [() => { if (width > 0) paint(svg, Math.min(width, 680)); }, repaint];
      window.addEventListener("beforeprint", begin);
      window.addEventListener("afterprint", end);
      new ResizeObserver((entries) => {
        const now = Math.round(entries[0].contentRect.width);
        if (now !== width) { width = now; repaint(); }
      }).observe(svg);
      return [svg, repaint];
    }

    function size(svg, width, height) {
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
    }
    """#
}
