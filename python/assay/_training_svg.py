"""The picture of a TrainingReport."""

from __future__ import annotations

import math

WIDTH, HEIGHT, GAP, LEFT, TOP = 560, 190, 60, 60, 30
BACKEND, EXACT, SAMPLES, LIMIT, WRONG = "#1f6fb4", "#c23b22", "#9ec7e8", "#888888", "#d40000"


def drawn(report, multiple: int) -> str:
    bottom = TOP + 2 * HEIGHT + GAP
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {bottom + 60}" '
             'font-family="sans-serif" font-size="11" fill="#222" role="img">',
             f"<title>{report.count('plausible')} of {len(report.steps)} steps plausible by profile "
             f"{_escaped(report.profile)}</title>",
             f'<rect width="{LEFT + WIDTH + 20}" height="{bottom + 60}" fill="#fff"/>']
    parts += _losses(report)
    parts += _distances(report, multiple)
    parts += _legend(report, multiple, bottom + 34)
    return "\n".join([*parts, "</svg>", ""])


def _losses(report) -> list[str]:
    values = [v for s in report.steps for v in (s.actual, s.exact) if math.isfinite(v)]
    low, high = min([0.0, *values]), max(values, default=1.0)
    span = (high - low) or 1.0
    panel = _Panel(len(report.steps), TOP, lambda y: (y - low) / span)
    ticks = [(low + span * k / 4, f"{low + span * k / 4:.3g}") for k in range(5)]
    return [*panel.frame("loss", ticks),
            *panel.curve([s.actual for s in report.steps], BACKEND),
            *panel.curve([s.exact for s in report.steps], EXACT, dashed=True),
            *panel.marks(report)]


def _distances(report, multiple: int) -> list[str]:
    limits = [multiple * s.spread for s in report.steps]
    apart = [abs(s.actual - s.exact) for s in report.steps]
    spreads = [s.spread for s in report.steps]
    positive = [v for v in [*limits, *apart, *spreads] if math.isfinite(v) and v > 0] or [1e-8, 1]
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    high = max(high, low + 1)
    # Zero has no place on a scale of powers: it stands at the foot.
    panel = _Panel(len(report.steps), TOP + HEIGHT + GAP,
                   lambda y: 0.0 if y <= 0 else (math.log10(y) - low) / (high - low))
    ticks = [(10.0**e, f"1e{e}") for e in range(low, high + 1, max(1, (high - low) // 5))]
    return [*panel.frame("distance from the exact run's loss", ticks),
            *panel.curve(limits, LIMIT, dashed=True), *panel.curve(spreads, SAMPLES),
            *panel.curve(apart, BACKEND), *panel.marks(report)]


class _Panel:

    def __init__(self, steps: int, top: int, scale):
        self._steps, self._top, self._scale = steps, top, scale

    def _x(self, step: int) -> float:
        return LEFT + WIDTH * step / max(self._steps - 1, 1)

    def _y(self, value: float) -> float:
        return self._top + HEIGHT * (1 - min(max(self._scale(value), 0.0), 1.0))

    def frame(self, title: str, ticks) -> list[str]:
        parts = [f'<rect x="{LEFT}" y="{self._top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>',
                 f'<text x="{LEFT}" y="{self._top - 6}" font-size="12">{title}</text>']
        for value, label in ticks:
            y = self._y(value)
            parts += [f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                      f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end" font-size="10">{label}</text>']
        foot = self._top + HEIGHT + 13
        return [*parts, f'<text x="{LEFT}" y="{foot}" font-size="10">step 0</text>',
                f'<text x="{LEFT + WIDTH}" y="{foot}" text-anchor="end" font-size="10">{self._steps - 1}</text>']

    def curve(self, values: list[float], colour: str, dashed: bool = False) -> list[str]:
        """What is no number interrupts it."""
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        parts, points = [], []
        for step, value in [*enumerate(values), (0, math.nan)]:
            if math.isfinite(value):
                points.append(f"{self._x(step):.1f},{self._y(value):.1f}")
            elif points:
                stroke = f'stroke="{colour}" stroke-width="1.4"{dash}'
                parts.append(f'<polyline fill="none" {stroke} points="{" ".join(points)}"/>')
                points = []
        return parts

    def marks(self, report) -> list[str]:
        """A line where the backend leaves what is plausible."""
        leaves = report.first_implausible
        if leaves is None:
            return []
        x = self._x(leaves)
        line = f'x1="{x:.1f}" x2="{x:.1f}" y1="{self._top}" y2="{self._top + HEIGHT}"'
        return [f'<line {line} stroke="{WRONG}"/>',
                f'<text x="{x + 3:.1f}" y="{self._top + 12}" fill="{WRONG}">'
                f'implausible: step {leaves}</text>']


def _legend(report, multiple: int, y: int) -> list[str]:
    entries = [(BACKEND, False, "the backend"), (EXACT, True, "exact run"),
               (SAMPLES, False, f"spread of {report.samples} samples"), (LIMIT, True, f"{multiple} spreads")]
    parts = []
    for k, (colour, dashed, words) in enumerate(entries):
        x = LEFT + k * WIDTH // 4
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        line = f'x1="{x}" x2="{x + 24}" y1="{y - 4}" y2="{y - 4}"'
        parts += [f'<line {line} stroke="{colour}" stroke-width="2"{dash}/>',
                  f'<text x="{x + 29}" y="{y}">{words}</text>']
    return parts


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
