"""Writes docs/performance.md and its chart from the rows of a benchmark."""

import datetime
import html
import math
import os
import pathlib
import platform
import re
import subprocess

from measure import TOP
from rows import Row

PAGE, CHART = TOP / "docs/performance.md", TOP / "docs/images/performance.svg"


def write(rows: list[Row], figures: dict, command: str) -> None:
    PAGE.write_text(page(rows, figures.get("instructions"), command))
    CHART.write_text(chart(rows))


def page(rows: list[Row], instructions: dict | None, command: str) -> str:
    lines = [
        "# Performance", "",
        "`make bench` writes this page and its chart. Do not edit it. "
        "[Benchmarks/README.md](../Benchmarks/README.md) describes what each row measures and how.", "",
        "A ratio is ferry's figure divided by that of its peer, which ran alternately with ferry on the same machine. "
        "Each cell has the median of all pairs and, in parentheses, the smallest and the largest value. "
        "For a rate, more is better. For the other quantities, less is better.", "",
        "![Ratios of ferry to its peers, on a logarithmic scale](images/performance.svg)", "",
        "| work | peer | quantity | median (range) | goal | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        met = {True: "yes", False: "**no**", None: ""}[row.is_met]
        lines.append(f"| {row.work} | {row.peer or '–'} | {row.quantity} | {row.text} | {row.goal or '–'} | {met or '–'} |")
    if instructions:
        lines += [
            "", "## Instructions", "",
            "callgrind counts the user-mode instructions of a request that sends a file of 1 KiB, by the module or library "
            "that executes them. Generic code of Swift's standard library that is specialized in ferry counts as the "
            "standard library. curl uses the same libcurl and keeps no record of what it has sent.", "",
            "| part | ferry | share | curl -Z |", "|---|---:|---:|---:|"]
        total, curl = instructions["each_request"], instructions.get("curl", {})
        parts = instructions["by_component"]
        for name in sorted({*parts, *curl}, key=lambda one: (-parts.get(one, 0), -curl.get(one, 0))):
            count, other = parts.get(name, 0), curl.get(name, 0)
            if max(count, other) >= total / 200:
                lines.append(f"| {name} | {count:,} | {count / total:.0%} | {other:,} |")
        lines += [f"| all | {total:,} | 100% | {sum(curl.values()):,} |", "",
                  "![Flame graph of the instructions](images/instructions.svg)"]
    lines += ["", "## Machine", "", *[f"- {line}" for line in machine()], "", "## Commands", "", "```", command, "```", ""]
    return "\n".join(lines)


def machine() -> list[str]:
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1))
    lines = [f"{os.cpu_count()} processors ({model.group(1) if model else platform.machine()}), "
             f"{memory / (1 << 20):.0f} GiB of memory, Linux {platform.release().split('-')[0]}",
             f"measured on {datetime.date.today().isoformat()}; load average over 15 minutes: {os.getloadavg()[2]:.1f}"]
    programs = [("Swift", ["swift", "--version"]), ("curl", ["curl", "--version"]), ("nginx", ["nginx", "-v"]),
                ("wrk", ["wrk", "-v"])]
    for name, command in programs:
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError:
            continue
        if number := re.search(r"\d+\.\d+[.\d]*", done.stdout):
            lines.append(f"{name} {number.group(0)}")
    return lines


# The chart shows the rows with a peer on a logarithmic scale from 1/4 to 4.
WIDTH, LABEL, RIGHT, STEP, TOP_MARGIN = 860, 420, 70, 26, 44
TICKS = [0.25, 0.5, 1, 2, 4]

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #333 }
.axis { stroke: #bbb } .one { stroke: #666 } .range { stroke: #888 } .goal { stroke: #555; stroke-width: 2 }
.met { fill: #17803d } .missed { fill: #b42318 } .plain { fill: #4b5563 } .value { text-anchor: start } .tick { text-anchor: middle }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .axis { stroke: #555 } .one { stroke: #aaa } .range { stroke: #999 } .goal { stroke: #ccc }
  .met { fill: #4ade80 } .missed { fill: #f87171 } .plain { fill: #9ca3af }
}
"""


def chart(rows: list[Row]) -> str:
    shown = [row for row in rows if row.peer]
    height = TOP_MARGIN + STEP * len(shown) + 30
    bottom = height - 26
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
             f'aria-label="Ratios of ferry to its peers">', f"<style>{STYLE}</style>",
             f'<text x="{LABEL}" y="16">ferry / peer: median (dot), range (line), goal (bar)</text>']
    for tick in TICKS:
        parts.append(f'<line class="{"one" if tick == 1 else "axis"}" x1="{place(tick):.1f}" x2="{place(tick):.1f}" '
                     f'y1="{TOP_MARGIN - 14}" y2="{bottom}"/>'
                     f'<text class="tick" x="{place(tick):.1f}" y="{bottom + 16}">{tick:g}</text>')
    for index, row in enumerate(shown):
        y = TOP_MARGIN + STEP * index
        kind = {True: "met", False: "missed", None: "plain"}[row.is_met]
        label = html.escape(f"{row.work.replace('`', '')}: {row.quantity} / {row.peer.replace('`', '')}")
        parts.append(f'<text x="0" y="{y + 4}" textLength="{LABEL - 20}" lengthAdjust="spacingAndGlyphs">{label}</text>'
                     if len(label) > 68 else f'<text x="0" y="{y + 4}">{label}</text>')
        parts.append(f'<line class="range" x1="{place(min(row.values)):.1f}" x2="{place(max(row.values)):.1f}" '
                     f'y1="{y}" y2="{y}"/>')
        goal = row.at_least if row.at_least is not None else row.at_most
        if goal is not None:
            parts.append(f'<line class="goal" x1="{place(goal):.1f}" x2="{place(goal):.1f}" y1="{y - 8}" y2="{y + 8}"/>')
        parts.append(f'<circle class="{kind}" cx="{place(row.median):.1f}" cy="{y}" r="5"/>'
                     f'<text class="value" x="{WIDTH - RIGHT + 16}" y="{y + 4}">{row.number(row.median)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def place(ratio: float) -> float:
    low, high = math.log(TICKS[0]), math.log(TICKS[-1])
    share = (math.log(min(max(ratio, TICKS[0]), TICKS[-1])) - low) / (high - low)
    return LABEL + share * (WIDTH - LABEL - RIGHT)
