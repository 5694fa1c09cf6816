extension HTMLScript {
  /// Timeline, throughput, budgets and delays.
  static let charts = #"""
    // The charts of a section: lanes, throughput, budgets and delays. They share a range of time, which can be zoomed.

    const activities = {
      sending: "sending", allocating: "allocating an upload ID", committing: "committing", requesting: "requesting",
      retrying: "waiting to retry", token: "waiting for a token", budget: "waiting for budget", delay: "waiting for the resume delay",
      conditions: "waiting for network or power", queued: "waiting for a connection",
    };

    /** The left edge of a section's charts, which is the same for all of them, with room for the names of the lanes. */
    function leftEdge(section, width) {
      const longest = Math.max(0, ...(section.lanes || []).map((lane) => lane.name.length + (lane.planned ? 11 : 0)));
      return width < 560 ? 66 : Math.max(66, Math.min(longest * 7.5 + 18, 260, width * 0.3));
    }

    function timeCharts(section) {
      const all = [0, Math.max(section.span || section.seconds, 0.001)];
      const range = { from: all[0], to: all[1] };
      const painters = [];
      const repaint = () => {
        painters.forEach((paint) => paint());
        for (const [button, isDisabled] of buttons) button.disabled = isDisabled();
      };
      function zoom(from, to) {
        const least = Math.max((all[1] - all[0]) / 2000, 0.001);
        const middle = (from + to) / 2, half = Math.max((to - from) / 2, least / 2);
        range.from = Math.max(all[0], middle - half);
        range.to = Math.min(all[1], middle + half);
        repaint();
      }
      const span = () => range.to - range.from;
      const middle = () => (range.from + range.to) / 2;
      const isWhole = () => span() >= (all[1] - all[0]) * 0.9999;
      const button = (label, text, action, isDisabled) => [make("button", { type: "button", "aria-label": label, title: label, onclick: action }, text), isDisabled];
      const buttons = [
        button("Earlier", "◀", () => { const d = Math.min(span() / 2, range.from - all[0]); zoom(range.from - d, range.to - d); }, () => range.from <= all[0]),
        button("Later", "▶", () => { const d = Math.min(span() / 2, all[1] - range.to); zoom(range.from + d, range.to + d); }, () => range.to >= all[1]),
        button("Zoom in", "+", () => zoom(middle() - span() / 4, middle() + span() / 4), () => false),
        button("Zoom out", "−", () => zoom(middle() - span(), middle() + span()), isWhole),
        button("Show the whole time", "Reset", () => zoom(all[0], all[1]), isWhole),
      ];

      /** The horizontal scale and axis of a chart, with selection by dragging. */
      function axis(svg, left, width, top, bottom) {
        const x = (time) => left + (time - range.from) / span() * (width - left - 8);
        const time = (px) => range.from + (px - left) / (width - left - 8) * span();
        for (const [value, label] of timeTicks(range.from, range.to, Math.max(2, (width - left) / 110))) {
          svg.append(draw("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom }));
          const anchor = x(value) > width - 30 ? "end" : x(value) < left + 12 ? "start" : "middle";
          svg.append(draw("text", { x: x(value), y: bottom + 16, "text-anchor": anchor }, label));
        }
        return { x, time };
      }

      /** Reports the time under the pointer, and zooms into a dragged range. */
      function track(svg, left, width, top, bottom, scale, describe) {
        const cross = draw("line", { class: "cross", y1: top, y2: bottom, visibility: "hidden" });
        const select = draw("rect", { class: "select", y: top, height: Math.max(0, bottom - top), width: 0 });
        const surface = draw("rect", { x: left, y: top, width: Math.max(0, width - left - 8), height: Math.max(0, bottom - top), fill: "transparent" });
        svg.append(cross, select, surface);
        let start = null;
        const px = (event) => {
          const box = svg.getBoundingClientRect();
          return Math.max(left, Math.min(width - 8, (event.clientX - box.left) * width / box.width));
        };
        const py = (event) => {
          const box = svg.getBoundingClientRect();
          return (event.clientY - box.top) * width / box.width;
        };
        surface.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && event.button === 0) { start = px(event); surface.setPointerCapture(event.pointerId); } });
        surface.addEventListener("pointermove", (event) => {
          const at = px(event);
          cross.setAttribute("visibility", "visible");
          cross.setAttribute("x1", at); cross.setAttribute("x2", at);
          if (start !== null) { select.setAttribute("x", Math.min(start, at)); select.setAttribute("width", Math.abs(at - start)); }
          const lines = describe(scale.time(at), py(event));
          if (lines) showTip(event, lines); else hideTip();
        });
        surface.addEventListener("pointerleave", () => { cross.setAttribute("visibility", "hidden"); hideTip(); });
        surface.addEventListener("pointerup", (event) => {
          const end = px(event), begin = start;
          start = null;
          select.setAttribute("width", 0);
          if (begin !== null && Math.abs(end - begin) > 6) zoom(scale.time(Math.min(begin, end)), scale.time(Math.max(begin, end)));
        });
        surface.addEventListener("dblclick", () => zoom(all[0], all[1]));
      }

      const parts = [];
      if (section.lanes && section.lanes.length) {
        const shown = section.lanes.slice(0, 150);
        const labels = { ...activities, ...section.legend };
        const used = Object.keys(activities).filter((name) => shown.some((lane) => lane.spans.some((item) => item[0] === name)));
        const legend = make("ul", { class: "legend" }, used.map((name) => make("li", {}, make("i", { class: "fill-" + name }), labels[name])));
        if (shown.some((lane) => lane.planned)) legend.append(make("li", {}, make("i", { class: "fill-sending planned" }), "simulated, above what the run did"));
        const markLegend = make("li", {}, make("i", { class: "line" }), "a resume");
        legend.append(markLegend);
        const [svg, paint] = chart("Timeline: what each node was doing", (svg, width) => {
          svg.replaceChildren();
          const isNarrow = width < 560;
          const left = isNarrow ? 4 : leftEdge(section, width), step = isNarrow ? 42 : 30, top = 4;
          const barTop = (index) => top + index * step + (isNarrow ? 18 : 6);
          const bottom = top + shown.length * step;
          size(svg, width, bottom + 24);
          const scale = axis(svg, left, width, top, bottom);
          shown.forEach((lane, index) => {
            const y = top + index * step;
            const most = isNarrow ? Math.floor(width / 7) : Math.floor(left / 7);
            const full = lane.planned ? lane.name + ", simulated" : lane.name;
            const name = full.length > most ? full.slice(0, most - 1) + "…" : full;
            svg.append(draw("text", { class: "name", x: isNarrow ? left : left - 10, y: y + (isNarrow ? 13 : 19), "text-anchor": isNarrow ? "start" : "end" }, name));
            svg.append(draw("rect", { class: "track", x: left, y: barTop(index), width: Math.max(0, width - left - 8), height: 18, rx: 3 }));
            for (const [activity, from, to] of joined(lane.spans, range, (width - left) )) {
              const start = Math.max(left, scale.x(from)), end = Math.min(width - 8, scale.x(to));
              svg.append(draw("rect", { class: "fill-" + activity + (lane.planned ? " planned" : ""), x: start, y: barTop(index), width: Math.max(1, end - start), height: 18 }));
            }
          });
          const marks = visibleMarks(section, range, width);
          // A line through all lanes would cross the names above them.
          const line = isNarrow ? shown.map((lane, index) => [barTop(index), 18]) : [[top, bottom - top]];
          for (const [at, label] of marks) {
            const d = line.map(([y, height]) => `M${scale.x(at).toFixed(1)} ${y}v${height}`).join("");
            svg.append(draw("path", { class: "mark", d }, draw("title", {}, label)));
          }
          markLegend.hidden = !(section.marks || []).length;
          markLegend.lastChild.textContent = marks.length || !(section.marks || []).length ? "a resume" : "resumes: zoom in to see them";
          track(svg, left, width, top, bottom, scale, (time, y) => {
            const lane = shown[Math.floor((y - top) / step)];
            if (!lane) return null;
            const found = lane.spans.find((item) => item[1] <= time && time <= item[2]);
            return [lane.name + (lane.planned ? ", simulated" : ""), found ? labels[found[0]] + ", " + elapsed(found[2] - found[1]) : "no work", elapsed(time) + " after the start, " + moment(section.start, time)];
          });
        });
        painters.push(paint);
        const hidden = section.lanes.length - shown.length;
        parts.push(card("Timeline", make("div", { class: "zoom tools", role: "group", "aria-label": "Zoom" }, buttons.map(([element]) => element)),
          legend, svg, hidden > 0 ? make("p", { class: "note" }, "and " + count(hidden, "more node")) : null));
      }
      if (section.samples && section.samples.bytes.length > 2) parts.push(throughput(section, range, span, axis, track, painters));
      repaint();
      return parts;
    }

    /** The marks in a range; none if they would cover the chart. */
    function visibleMarks(section, range, pixels) {
      const marks = (section.marks || []).filter(([at]) => at >= range.from && at <= range.to);
      return marks.length > pixels / 12 ? [] : marks;
    }

    /** Spans in a range, with those shorter than a pixel joined. */
    function joined(spans, range, pixels) {
      const least = (range.to - range.from) / pixels;
      const result = [];
      for (const [activity, from, to] of spans) {
        if (to < range.from || from > range.to) continue;
        const last = result[result.length - 1];
        if (last && from - last[2] <= least && (last[0] === activity || (to - from < least && last[2] - last[1] > 0))) last[2] = Math.max(last[2], to);
        else result.push([activity, from, to]);
      }
      return result;
    }

    /** At most `most` rates, each the mean of neighboring ones. */
    function binned(rates, most) {
      const step = Math.ceil(rates.length / most), result = [];
      for (let index = 0; index < rates.length; index += step) {
        const part = rates.slice(index, index + step);
        const [from, to] = [part[0].from, part[part.length - 1].to];
        result.push({ from, to, bytes: part.reduce((sum, rate) => sum + rate.bytes * (rate.to - rate.from), 0) / Math.max(to - from, 1e-6) });
      }
      return result;
    }

    function throughput(section, range, span, axis, track, painters) {
      const { interval, bytes: sums, requests, done, flights } = section.samples;
      const rates = [];
      for (let index = 1; index < sums.length; index += 1) {
        const end = index === sums.length - 1 ? section.seconds : index * interval;
        const time = Math.max(end - (index - 1) * interval, interval / 10);
        rates.push({ from: (index - 1) * interval, to: Math.max(end, (index - 1) * interval), bytes: (sums[index] - sums[index - 1]) / time, requests: (requests[index] - requests[index - 1]) / time, index });
      }
      const [svg, paint] = chart("Throughput over time", (svg, width) => {
        svg.replaceChildren();
        const height = 190, left = leftEdge(section, width), top = 8, bottom = height - 26;
        size(svg, width, height);
        const visible = binned(rates.filter((rate) => rate.to >= range.from && rate.from <= range.to), Math.max(1, Math.floor((width - left) / 8)));
        const most = Math.max(1, ...visible.map((rate) => rate.bytes)) * 1.08;
        const scale = axis(svg, left, width, top, bottom);
        const y = (value) => bottom - value / most * (bottom - top);
        for (const value of ticks(most, 4)) {
          svg.append(draw("line", { class: "grid", x1: left, x2: width - 8, y1: y(value), y2: y(value) }));
          svg.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, roundBytes(value) + "/s"));
        }
        const clip = (value) => Math.max(left, Math.min(width - 8, scale.x(value)));
        let path = "";
        for (const rate of visible) path += `${path ? "L" : "M"}${clip(rate.from).toFixed(1)} ${y(rate.bytes).toFixed(1)}L${clip(rate.to).toFixed(1)} ${y(rate.bytes).toFixed(1)}`;
        if (path) {
          svg.append(draw("path", { class: "area", d: `${path}L${clip(visible[visible.length - 1].to).toFixed(1)} ${bottom}L${clip(visible[0].from).toFixed(1)} ${bottom}Z` }));
          svg.append(draw("path", { class: "curve", d: path }));
        }
        svg.append(draw("line", { class: "axis", x1: left, x2: width - 8, y1: bottom, y2: bottom }));
        track(svg, left, width, top, bottom, scale, (time) => {
          const rate = rates.find((item) => item.from <= time && time <= item.to);
          if (!rate) return null;
          return [bytes(rate.bytes) + "/s, " + number.format(Math.round(rate.requests * 10) / 10) + " requests/s", count(flights[rate.index], "request") + " in progress, " + count(done[rate.index], "item") + " delivered", elapsed(time) + " after the start"];
        });
      });
      painters.push(paint);
      const total = sums[sums.length - 1];
      return card("Throughput", `${bytes(total)} in ${elapsed(section.seconds)}, on average ${bytes(total / Math.max(section.seconds, 0.001))}/s`, svg);
    }

    function budgetCharts(section) {
      const networks = new Map();
      for (const entry of section.budgets || []) networks.set(entry.network, [...(networks.get(entry.network) || []), entry]);
      if (!networks.size) return [];
      const parts = [...networks].map(([network, windows]) => windows.length > 4 ? budgetColumns(section, network, windows) : budgetBars(network, windows));
      return [card("Budgets", null, parts)];
    }

    function budgetBars(network, windows) {
      const [svg] = chart("Budget " + network, (svg, width) => {
        svg.replaceChildren();
        size(svg, width, windows.length * 54);
        windows.forEach((entry, index) => {
          const y = index * 54, used = entry.before + entry.added;
          const most = Math.max(entry.limit, used, 1) * 1.04;
          const x = (value) => value / most * (width - 2);
          const percent = entry.limit > 0 ? " (" + Math.round(used / entry.limit * 100) + "%)" : "";
          svg.append(draw("text", { class: "name", x: 0, y: y + 14 }, `${network}: ${bytes(used)} of ${bytes(entry.limit)}${percent}`));
          if (width > 560) svg.append(draw("text", { x: width, y: y + 14, "text-anchor": "end" }, `${entry.from.slice(0, 16).replace("T", " ")} to ${entry.to.slice(0, 16).replace("T", " ")} UTC`));
          svg.append(draw("rect", { class: "track", x: 0, y: y + 22, width: x(entry.limit), height: 14, rx: 3 }));
          svg.append(draw("rect", { class: "before", x: 0, y: y + 22, width: x(entry.before), height: 14 }, draw("title", {}, bytes(entry.before) + " before the run")));
          svg.append(draw("rect", { class: used > entry.limit ? "over" : "added", x: x(entry.before), y: y + 22, width: Math.max(entry.added > 0 ? 2 : 0, x(entry.added)), height: 14 }, draw("title", {}, bytes(entry.added) + " in the run")));
          svg.append(draw("line", { class: "limit", x1: x(entry.limit), x2: x(entry.limit), y1: y + 18, y2: y + 40 }, draw("title", {}, "limit: " + bytes(entry.limit))));
        });
      });
      return svg;
    }

    function budgetColumns(section, network, windows) {
      const [svg] = chart("Budget " + network + " by window", (svg, width) => {
        svg.replaceChildren();
        const height = 170, left = leftEdge(section, width), top = 24, bottom = height - 24;
        size(svg, width, height);
        const limit = Math.max(...windows.map((entry) => entry.limit));
        const most = Math.max(limit, ...windows.map((entry) => entry.before + entry.added), 1) * 1.06;
        const y = (value) => bottom - value / most * (bottom - top);
        svg.append(draw("text", { class: "name", x: 0, y: 13 }, `${network}: ${windows.length} windows, limit ${roundBytes(limit)} (dashed)`));
        for (const value of ticks(most, 3)) {
          svg.append(draw("line", { class: "grid", x1: left, x2: width - 4, y1: y(value), y2: y(value) }));
          svg.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, roundBytes(value)));
        }
        const step = (width - left - 4) / windows.length;
        windows.forEach((entry, index) => {
          const used = entry.before + entry.added;
          const bar = draw("rect", { class: used > entry.limit ? "over" : "added", x: left + index * step + step * 0.1, y: y(used), width: Math.max(1, step * 0.8), height: Math.max(0, bottom - y(used)) });
          bar.addEventListener("pointermove", (event) => showTip(event, [entry.from.slice(0, 10), bytes(used) + " of " + bytes(entry.limit)]));
          bar.addEventListener("pointerleave", hideTip);
          svg.append(bar);
        });
        svg.append(draw("line", { class: "limit", x1: left, x2: width - 4, y1: y(limit), y2: y(limit) }, draw("title", {}, "limit: " + bytes(limit))));
        svg.append(draw("text", { x: left, y: height - 6 }, windows[0].from.slice(0, 10)), draw("text", { x: width - 4, y: height - 6, "text-anchor": "end" }, windows[windows.length - 1].from.slice(0, 10)));
      });
      return svg;
    }

    const delaySteps = [0.001, 0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 86400, 604800, 2592000, 31536000];

    function delayChart(section) {
      const sessions = (section.delays || []).filter((entry) => entry.points.length);
      if (!sessions.length) return [];
      const [svg] = chart("Resume delay", (svg, width) => {
        svg.replaceChildren();
        const height = 180, left = leftEdge(section, width), top = 10, bottom = height - 26;
        size(svg, width, height);
        const points = sessions.flatMap((entry) => entry.points);
        const end = Math.max(section.seconds, ...points.map(([at]) => at), 0.001);
        const last = Math.max(section.span || 0, end);
        const [low, high] = [Math.min(...points.map((point) => Math.max(point[1], 0.001))) / 1.5, Math.max(...points.map((point) => point[1]), 0.002) * 1.5];
        const x = (time) => left + time / last * (width - left - 8);
        const y = (value) => bottom - (Math.log(Math.max(value, low)) - Math.log(low)) / (Math.log(high) - Math.log(low)) * (bottom - top);
        for (const value of logTicks(delaySteps.filter((size) => size >= low), high, y, 22)) {
          svg.append(draw("line", { class: "grid", x1: left, x2: width - 8, y1: y(value), y2: y(value) }), draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, elapsed(value)));
        }
        for (const [value, label] of timeTicks(0, last, Math.max(2, (width - left) / 110))) svg.append(draw("text", { x: x(value), y: bottom + 16, "text-anchor": x(value) > width - 30 ? "end" : x(value) < left + 12 ? "start" : "middle" }, label));
        svg.append(draw("line", { class: "axis", x1: left, x2: width - 8, y1: bottom, y2: bottom }));
        for (const entry of sessions) {
          let path = "";
          entry.points.forEach(([at, period], index) => { path += (index ? `H${x(at).toFixed(1)}V` : `M${x(at).toFixed(1)} `) + y(period).toFixed(1); });
          svg.append(draw("path", { class: "step", d: path + `H${x(end).toFixed(1)}` }));
          if (entry.points.length <= 200) for (const [at, period] of entry.points) {
            const dot = draw("circle", { class: "dot", cx: x(at), cy: y(period), r: 3.5 });
            dot.addEventListener("pointermove", (event) => showTip(event, [entry.session + ": resume " + elapsed(at) + " after the start", "delay " + elapsed(period)]));
            dot.addEventListener("pointerleave", hideTip);
            svg.append(dot);
          }
        }
      });
      const resumes = sessions.reduce((sum, entry) => sum + entry.points.length, 0);
      return [card("Resume delay", count(resumes, "resume") + ", logarithmic scale", svg)];
    }
    """#
}
