"use strict";
// Without this script all of the page can be read; with it, the graph has one tab stop, arrow keys, and a line of details.
for (const graph of document.querySelectorAll(".graph")) {
  const net = graph.querySelector(".net"), detail = graph.querySelector(".detail"), scroll = graph.querySelector(".scroll");
  const boxes = [...net.querySelectorAll(".n")], byKey = new Map(boxes.map(box => [box.dataset.k, box]));
  const above = new Map(), below = new Map(), linesOf = new Map();
  const add = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
  for (const line of net.querySelectorAll(".l")) {
    const { f, t } = line.dataset;
    add(linesOf, f, line);
    if (t === undefined) continue;
    add(linesOf, t, line);
    add(below, f, t);
    add(above, t, f);
  }
  const place = box => { const r = box.querySelector("rect"); return [+r.getAttribute("x"), +r.getAttribute("y")]; };
  let chosen = null;
  const choose = box => {
    if (chosen !== null) {
      chosen.classList.remove("chosen");
      chosen.tabIndex = -1;
      for (const line of linesOf.get(chosen.dataset.k) || []) line.classList.remove("on");
    }
    chosen = box;
    box.classList.add("chosen");
    box.tabIndex = 0;
    for (const line of linesOf.get(box.dataset.k) || []) line.classList.add("on");
  };
  const show = box => {
    const row = document.getElementById(box.getAttribute("href").slice(1));
    const head = document.createElement("p"), found = document.createElement("p"), code = document.createElement("code");
    const link = document.createElement("a");
    found.textContent = box.getAttribute("aria-label") + " ";
    link.href = box.getAttribute("href");
    link.textContent = "row in the table";
    if (row !== null) {
      code.textContent = row.lastElementChild.firstElementChild.textContent;
      head.append(code);
      found.append(link);
    }
    detail.replaceChildren(head, found);
  };
  const step = (box, key) => {
    const others = key === "ArrowUp" ? above.get(box.dataset.k) : key === "ArrowDown" ? below.get(box.dataset.k) : undefined;
    if (key === "ArrowUp" || key === "ArrowDown") return others && byKey.get(others[0]);
    const row = boxes.filter(other => other.dataset.r === box.dataset.r).sort((a, b) => place(a)[0] - place(b)[0]);
    return row[row.indexOf(box) + (key === "ArrowLeft" ? -1 : 1)];
  };
  for (const box of boxes) {
    box.tabIndex = -1;
    box.addEventListener("focus", () => { choose(box); show(box); });
    box.addEventListener("click", event => {
      if (event.detail === 0) return;  // Enter follows the link
      event.preventDefault();
      box.focus({ preventScroll: true });
      choose(box);
      show(box);
    });
    box.addEventListener("keydown", event => {
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const next = step(box, event.key);
      if (next) next.focus();
    });
  }
  const first = net.querySelector(".wrong") || net.querySelector(".s5") || net.querySelector(".s4") || boxes[boxes.length - 1];
  const wide = +net.getAttribute("width"), high = +net.getAttribute("height");
  let scale = 1;
  const zoom = factor => {
    scale = Math.min(2, Math.max(0.2, scale * factor));
    net.setAttribute("width", Math.round(wide * scale));
    net.setAttribute("height", Math.round(high * scale));
    if (chosen !== null) bring(chosen);
  };
  const bring = box => {
    const [x, y] = place(box);
    scroll.scrollTo((x + 78) * scale - scroll.clientWidth / 2, (y + 27) * scale - scroll.clientHeight / 2);
  };
  if (first !== undefined) {
    choose(first);
    bring(first);
  }
  for (const [name, act] of [["Smaller", () => zoom(0.8)], ["Larger", () => zoom(1.25)],
                             ["Whole width", () => zoom(Math.min(1, scroll.clientWidth / wide) / scale)],
                             ["To the chosen box", () => chosen && bring(chosen)]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", act);
    graph.querySelector(".tools").append(button);
  }
}
