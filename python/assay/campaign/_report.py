"""What a campaign has found: findings merged by cause."""

from __future__ import annotations

import collections
import json
from typing import Iterable

EXAMPLES = 3


def causes(entries: Iterable[dict]) -> list[dict]:
    """One for each cause, the most frequent first: how often, and the first examples by name."""
    groups: dict[str, list[dict]] = collections.defaultdict(list)
    for entry in entries:
        for finding in entry["findings"]:
            groups[finding["cause"]].append(finding)
    merged = [{
        "cause": cause,
        "count": len(found),
        "examples": sorted(found, key=lambda f: f["name"])[:EXAMPLES]
    } for cause, found in groups.items()]
    return sorted(merged, key=lambda of: (-of["count"], of["cause"]))


def counts(entries: Iterable[dict]) -> dict[str, int]:
    return dict(sorted(collections.Counter(entry["outcome"] for entry in entries).items()))


def summary(entries: list[dict], total: int, interrupted: bool = False) -> str:
    """The report as text, the same for the same entries in whatever order they came."""
    lines = [f"{len(entries)} of {total} tasks: "
             + (", ".join(f"{count} {outcome}" for outcome, count in counts(entries).items()) or "none")]
    if interrupted:
        lines.append("interrupted: the same command continues")
    merged = causes(entries)
    lines.append(f"{sum(of['count'] for of in merged)} findings of {len(merged)} causes")
    for of in merged:
        lines.append(f"\n{of['count']} x {_line(of['cause'])}")
        for example in of["examples"]:
            lines.append(f"  {_line(example['name'])}: {_line(example['why'])[:200]}")
            lines.append(f"    {_line(example['command'])[:400]}")
    return "\n".join(lines) + "\n"


def to_json(entries: list[dict], total: int) -> str:
    return json.dumps(
        {
            "tasks": total,
            "done": len(entries),
            "outcomes": counts(entries),
            "causes": causes(entries)
        },
        indent=1,
        sort_keys=True) + "\n"


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in str(text))
