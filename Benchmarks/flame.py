"""A flame graph as an SVG: the width of a function is the share of the instructions that it and its callees execute."""

import html
import zlib

WIDTH, STEP, MARGIN = 1200, 17, 30
SMALLEST = 0.002  # share of the total below which a function is left out

STYLE = """
text { font: 11px ui-monospace, monospace; fill: #111 } .title { font: 13px system-ui, sans-serif; fill: #333 }
rect { stroke: #fff; stroke-width: 0.5 }
@media (prefers-color-scheme: dark) { .title { fill: #ddd } rect { stroke: #222 } }
"""


class Frame:
    """A function, called from its parent."""

    def __init__(self) -> None:
        self.cost = 0
        self.callees: dict[str, Frame] = {}


def draw(stacks: dict[tuple[str, ...], int], title: str) -> str:
    """The stacks have the outermost function first. Functions with the same name and the same callers are one."""
    root, depth = Frame(), 0
    for names, cost in stacks.items():
        frame = root
        frame.cost += cost
        for name in names:
            frame = frame.callees.setdefault(name, Frame())
            frame.cost += cost
    if not root.cost:
        return ""
    boxes: list[str] = []
    pending = [(root, 0, 0.0)]
    while pending:
        frame, level, left = pending.pop()
        depth = max(depth, level)
        for name in sorted(frame.callees):
            callee = frame.callees[name]
            share = callee.cost / root.cost
            if share >= SMALLEST:
                boxes.append(box(name, level, left, share))
                pending.append((callee, level + 1, left))
            left += share
    height = MARGIN + STEP * (depth + 1) + 8
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">',
        f"<style>{STYLE}</style>", f'<text class="title" x="4" y="18">{html.escape(title)}</text>', *boxes, "</svg>", ""])


def box(name: str, level: int, left: float, share: float) -> str:
    x, y, width = left * WIDTH, MARGIN + STEP * level, share * WIDTH
    hue = zlib.crc32(name.split(".")[0].encode()) % 360
    shown = name if len(name) * 6.7 < width - 6 else name[:max(0, int((width - 12) / 6.7))] + "…"
    label = f'<text x="{x + 3:.1f}" y="{y + 12}">{html.escape(shown)}</text>' if width > 30 else ""
    return (f'<g><title>{html.escape(name)}: {share:.1%}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{STEP - 1}" fill="hsl({hue} 60% 75%)"/>{label}</g>')
