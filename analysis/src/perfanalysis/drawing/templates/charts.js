"use strict";
(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)"), paper = window.matchMedia("print");
  const root = document.documentElement;
  const isDark = () => !paper.matches && (root.dataset.scheme ? root.dataset.scheme === "dark" : system.matches);
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  /* A colour of the style sheet as a canvas takes it. */
  function style(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  }
  const colour = (layer) => { const of = isDark() ? PALETTE.dark : PALETTE.light; return of[layer.colour % of.length]; };
  /* Colours beyond the first few are told apart by their dashes as well. */
  const isSecond = (layer) => layer.colour % PALETTE.light.length >= PALETTE.solid && ["line", "steps"].includes(layer.kind);
  const dashes = (layer) => (layer.dashed ? [6, 5] : isSecond(layer) ? [10, 3, 2, 3] : []);
  const MARGIN = { top: 18, right: 12, bottom: 36 };

  function element(name, className, parent, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const words = (text) => new Uint16Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

  /* Points come as pairs of 16-bit places. */
  function unpack(layer) {
    const value = (place, range) => range[0] + (place / 65535) * (range[1] - range[0]);
    const places = words(layer.data);
    layer.x = Float64Array.from({ length: layer.count }, (_, i) => value(places[2 * i], layer.xRange));
    layer.y = Float64Array.from({ length: layer.count }, (_, i) => value(places[2 * i + 1], layer.yRange));
    delete layer.data;
  }

  /* A heat layer's cells come as bytes; paint them once on a canvas of one pixel each. Returns the shade of a cell. */
  function paint(layer, meaning) {
    const bytes = Uint8Array.from(atob(layer.data), (letter) => letter.charCodeAt(0));
    const stops = meaning.colours.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
    layer.image = document.createElement("canvas");
    layer.image.width = layer.columns;
    layer.image.height = layer.rows;
    const context = layer.image.getContext("2d");
    const pixels = context.createImageData(layer.columns, layer.rows);
    bytes.forEach((byte, i) => {
      if (byte === 255) return;
      const at = (byte / 254) * (stops.length - 1), first = Math.min(Math.floor(at), stops.length - 2);
      stops[first].forEach((part, c) => { pixels.data[4 * i + c] = part + (at - first) * (stops[first + 1][c] - part); });
      pixels.data[4 * i + 3] = 255;
    });
    context.putImageData(pixels, 0, 0);
    layer.missing = bytes.includes(255);
    layer.value = (row, column) => {
      const byte = bytes[row * layer.columns + column];
      return byte === 255 ? null : meaning.low + (byte / 254) * (meaning.high - meaning.low);
    };
    delete layer.data;
  }

  function niceStep(span, parts) {
    const power = Math.pow(10, Math.floor(Math.log10(span / parts)));
    return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= (span / parts) * 0.999);
  }

  function ticksOf(axis, parts) {
    if (axis.categories.length) {
      const every = Math.ceil(axis.categories.length / parts);
      return axis.categories.map((text, place) => ({ at: place, text })).filter((_, place) => place % every === 0);
    }
    const ticks = [];
    if (axis.log) {
      for (let power = Math.ceil(Math.log10(axis.low) - 1e-9); power <= Math.log10(axis.high); power++) {
        ticks.push({ at: Math.pow(10, power), text: format(Math.pow(10, power)) });
      }
      const every = Math.max(1, Math.ceil(ticks.length / Math.max(parts, 2)));
      return ticks.filter((_, place) => place % every === 0);
    }
    const nice = niceStep(axis.high - axis.low || 1, parts);
    const step = axis.whole ? Math.ceil(nice) : nice;
    for (let at = Math.ceil(axis.low / step - 1e-9) * step; at <= axis.high + step * 1e-9; at += step) {
      ticks.push({ at: Math.abs(at) < step * 1e-9 ? 0 : at, text: format(at, step) });
    }
    return ticks;
  }

  function format(value, step) {
    if (value === 0 || (step && Math.abs(value) < step * 1e-9)) return "0";
    if (step) {
      let digits = 0;
      while (digits < 8 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 * step * 10 ** digits) digits++;
      return value.toLocaleString("en", { maximumFractionDigits: digits }).replaceAll(",", "\u202f");
    }
    const size = Math.abs(value);
    const places = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en", { maximumFractionDigits: places }).replaceAll(",", "\u202f");
  }

  function scale(axis, from, to) {
    const map = axis.log ? (value) => Math.log10(Math.max(value, axis.low)) : (value) => value;
    const low = axis.categories.length ? -0.5 : map(axis.low);
    const high = axis.categories.length ? axis.categories.length - 0.5 : map(axis.high);
    return (value) => from + ((map(value) - low) / (high - low || 1)) * (to - from);
  }

  function widen(axis) {
    if (axis.categories.length || axis.log) return;
    if (!axis.fixed) axis.high += (axis.high - axis.low) * 0.06;
    if (axis.high <= axis.low) axis.high = axis.low + 1;
  }

  const DRAW = {
    points(context, layer, x, y) {
      const size = layer.count < 1000 ? 4 : layer.count < 10000 ? 2.6 : 1.6;
      context.globalAlpha = layer.count < 1000 ? 0.75 : layer.count < 10000 ? 0.5 : 0.35;
      for (let i = 0; i < layer.count; i++) context.fillRect(x(layer.x[i]) - size / 2, y(layer.y[i]) - size / 2, size, size);
    },
    line(context, layer, x, y) {
      context.setLineDash(dashes(layer));
      context.beginPath();
      layer.x.forEach((at, i) => {
        if (layer.y[i] === null) return;
        if (i && layer.y[i - 1] !== null) context.lineTo(x(at), y(layer.y[i]));
        else context.moveTo(x(at), y(layer.y[i]));
      });
      context.stroke();
      if (layer.dots) layer.x.forEach((at, i) => {
        if (layer.y[i] === null) return;
        context.beginPath();
        context.arc(x(at), y(layer.y[i]), 3.6, 0, 7);
        context.fill();
      });
    },
    steps(context, layer, x, y) {
      context.setLineDash(dashes(layer));
      context.beginPath();
      layer.x.forEach((at, i) => {
        if (i) context.lineTo(x(at), y(layer.y[i - 1]));
        context.lineTo(x(at), y(layer.y[i]));
      });
      context.stroke();
    },
    area(context, layer, x, y) {
      context.globalAlpha = 0.28;
      context.beginPath();
      layer.x.forEach((at, i) => {
        if (i) context.lineTo(x(at), y(layer.y[i - 1]));
        context.lineTo(x(at), y(layer.y[i]));
      });
      for (let i = layer.x.length - 1; i >= 0; i--) context.lineTo(x(layer.x[i]), y(layer.low ? layer.low[i] : 0));
      context.fill();
    },
    band(context, layer, x, y) {
      context.globalAlpha = 0.22;
      const known = layer.x.map((_, i) => i).filter((i) => layer.y[i] !== null && layer.low[i] !== null);
      context.beginPath();
      for (const i of known) context.lineTo(x(layer.x[i]), y(layer.y[i]));
      for (const i of known.reverse()) context.lineTo(x(layer.x[i]), y(layer.low[i]));
      context.fill();
    },
    bars(context, layer, x, y) {
      layer.x.forEach((at, i) => {
        const left = x(at - 0.45 * layer.width);
        context.fillRect(left, y(layer.y[i]), Math.max(x(at + 0.45 * layer.width) - left, 1), y(0) - y(layer.y[i]));
      });
    },
    sidebars(context, layer, x, y) {
      context.globalAlpha = 0.85;
      layer.y.forEach((at, i) => {
        const first = y(at - 0.45 * layer.width), last = y(at + 0.45 * layer.width);
        context.fillRect(x(0), Math.min(first, last), x(layer.x[i]) - x(0), Math.max(Math.abs(last - first), 1));
      });
    },
    ranges(context, layer, x, y) {
      layer.x.forEach((at, i) => {
        if (at === null) return;
        if (layer.low && layer.low[i] !== null) {
          context.globalAlpha = 0.45;
          context.fillRect(x(layer.low[i]), y(layer.y[i]) - 2, x(layer.high[i]) - x(layer.low[i]), 4);
        }
        context.globalAlpha = 1;
        context.beginPath();
        context.arc(x(at), y(layer.y[i]), 3.6, 0, 7);
        context.fill();
      });
    },
    stretches(context, layer, x, y) {
      const height = Math.abs(y(0.9 * layer.width) - y(0));
      layer.x.forEach((at, i) => {
        const left = x(at), width = Math.max(x(layer.high[i]) - left - 1, 2), top = y(layer.y[i]) - height / 2;
        context.fillRect(left, top, width, height);
        if (width < 40) return;
        context.save();
        context.fillStyle = isDark() ? "#10151c" : "#ffffff";
        context.textBaseline = "middle";
        context.fillText(clipped(context, layer.names[i], width - 8), left + 4, top + height / 2 + 0.5);
        context.restore();
      });
    },
    heat(context, layer, x, y) {
      context.imageSmoothingEnabled = false;
      const left = x(layer.x[0]), top = y(-0.5);
      context.drawImage(layer.image, left, top, x(layer.x[layer.x.length - 1]) - left, y(layer.rows - 0.5) - top);
    },
    spans(context, layer, x, y, place) {
      context.globalAlpha = 0.12;
      layer.x.forEach((at, i) => context.fillRect(x(at), place.top, x(layer.high[i]) - x(at), place.bottom - place.top));
    },
    moments(context, layer, x, y, place) {
      context.globalAlpha = 0.8;
      context.lineWidth = 1.2;
      for (const at of layer.x) {
        context.beginPath(); context.moveTo(x(at), place.top); context.lineTo(x(at), place.bottom); context.stroke();
      }
    },
  };

  function layout(chart, width, context) {
    const narrow = width < 420;
    context.font = "12px system-ui, sans-serif";
    const yTicks = ticksOf(chart.y, Math.max(3, Math.floor((chart.height - 50) / (chart.y.categories.length ? 16 : 38))));
    const limit = narrow ? width * 0.4 : 260;
    const left = Math.min(limit, 12 + Math.max(...yTicks.map((tick) => context.measureText(tick.text).width), 14));
    const right = width - MARGIN.right, bottom = chart.height - MARGIN.bottom;
    const xTicks = ticksOf(chart.x, Math.max(2, Math.floor((right - left) / 74)));
    const top = chart.y.text ? MARGIN.top + 4 : 8;
    const y = chart.y.categories.length ? scale(chart.y, top, bottom) : scale(chart.y, bottom, top);
    return { left, right, top, bottom, xTicks, yTicks, x: scale(chart.x, left, right), y };
  }

  function clipped(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    while (text.length > 1 && context.measureText(text + "…").width > room) text = text.slice(0, -1);
    return text + "…";
  }

  function frame(context, chart, place) {
    context.strokeStyle = style("--grid");
    context.fillStyle = style("--soft");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of place.yTicks) {
      const at = Math.round(place.y(tick.at)) + 0.5;
      context.beginPath(); context.moveTo(place.left, at); context.lineTo(place.right, at); context.stroke();
      context.fillText(clipped(context, tick.text, place.left - 8), place.left - 7, at);
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    for (const tick of place.xTicks) {
      const at = Math.round(place.x(tick.at)) + 0.5;
      context.beginPath(); context.moveTo(at, place.top); context.lineTo(at, place.bottom); context.stroke();
      context.fillText(tick.text, Math.min(at, place.right - 8), place.bottom + 6);
    }
    context.textAlign = "right";
    context.fillText(chart.x.text, place.right, place.bottom + 21);
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(chart.y.text, 0, 10);
    context.strokeStyle = style("--line");
    context.beginPath(); context.moveTo(place.left, place.bottom + 0.5); context.lineTo(place.right, place.bottom + 0.5); context.stroke();
  }

  function draw(state) {
    const { canvas, chart } = state;
    const width = canvas.parentElement.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(chart.height * ratio);
    canvas.style.height = `${chart.height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    state.place = layout(chart, width, context);
    frame(context, chart, state.place);
    const { left, right, top, bottom, x, y } = state.place;
    context.save();
    context.beginPath(); context.rect(left - 4, top - 4, right - left + 8, bottom - top + 8); context.clip();
    for (const layer of chart.layers) {
      if (layer.off) continue;
      context.save();
      context.fillStyle = context.strokeStyle = colour(layer);
      context.lineWidth = 1.7;
      context.lineJoin = "round";
      DRAW[layer.kind](context, layer, x, y, state.place);
      context.restore();
    }
    context.restore();
    for (const { key, layer } of state.keys) {
      const of = colour(layer);
      const gap = layer.dashed ? "5px" : isSecond(layer) ? "8px" : "";
      key.style.background = gap ? `repeating-linear-gradient(to right, ${of} 0 ${gap}, transparent ${gap} calc(${gap} + 3px))` : of;
    }
  }

  const placeOn = (axis, value) => (axis.categories.length ? axis.categories[Math.round(value)] ?? "" : `${format(value)}${unit(axis)}`);
  const named = (layer) => (layer.label ? `${layer.label}: ` : "");
  const unit = (axis) => (axis.unit ? ` ${axis.unit}` : "");

  /* Lines to show for the pointer: the nearest point of a scatter, or every line's value at that time. */
  function readings(state, at) {
    const { chart, place } = state;
    const found = [];
    for (const layer of chart.layers) {
      if (layer.off) continue;
      if (layer.kind === "points") {
        let best = 400, nearest = -1;
        for (let i = 0; i < layer.count; i++) {
          const distance = (place.x(layer.x[i]) - at.x) ** 2 + (place.y(layer.y[i]) - at.y) ** 2;
          if (distance < best) { best = distance; nearest = i; }
        }
        if (nearest >= 0) found.push({ layer, at: layer.x[nearest], text: `${named(layer)}${format(layer.y[nearest])}${unit(chart.y)} at ${placeOn(chart.x, layer.x[nearest])}` });
      } else if (["line", "steps", "area", "band"].includes(layer.kind) && layer.x.length) {
        let nearest = 0;
        layer.x.forEach((value, i) => { if (layer.y[i] !== null && Math.abs(place.x(value) - at.x) < Math.abs(place.x(layer.x[nearest]) - at.x)) nearest = i; });
        found.push({ layer, at: layer.x[nearest], text: `${layer.label}: ${format(layer.y[nearest])}${unit(chart.y)} at ${placeOn(chart.x, layer.x[nearest])}` });
      } else if (layer.kind === "heat") {
        const [first, last] = [place.x(layer.x[0]), place.x(layer.x[layer.x.length - 1])];
        const column = Math.floor(((at.x - first) / (last - first)) * layer.columns);
        const row = Math.floor(((at.y - place.y(-0.5)) / (place.y(layer.rows - 0.5) - place.y(-0.5))) * layer.rows);
        if (column < 0 || row < 0 || column >= layer.columns || row >= layer.rows) continue;
        const value = layer.value(row, column);
        const shown = value === null ? "no data" : `${format(value)} ${chart.meaning.unit}`;
        found.push({ layer, text: `${chart.y.categories[row]}: ${shown} at ${format(layer.x[column])}\u2013${format(layer.x[column + 1])}${unit(chart.x)}` });
      } else if (layer.kind === "stretches") {
        const half = 0.45 * Math.abs(place.y(layer.width) - place.y(0));
        layer.x.forEach((value, i) => {
          const inside = at.x >= place.x(value) - 2 && at.x <= Math.max(place.x(layer.high[i]), place.x(value) + 2);
          if (inside && Math.abs(place.y(layer.y[i]) - at.y) <= half) found.push({ layer, text: `${layer.names[i]}: ${format(value)}\u2013${format(layer.high[i])}${unit(chart.x)}` });
        });
      } else if (layer.kind === "moments") {
        layer.x.forEach((value) => { if (Math.abs(place.x(value) - at.x) <= 4) found.push({ layer, at: value, text: `${layer.label} at ${placeOn(chart.x, value)}` }); });
      } else if (layer.kind === "sidebars" || layer.kind === "ranges") {
        layer.y.forEach((value, i) => {
          const near = layer.kind === "ranges" ? 5 : 0.5 * Math.abs(place.y(layer.width) - place.y(0));
          if (layer.x[i] !== null && Math.abs(place.y(value) - at.y) <= near) found.push({ layer, text: `${layer.kind === "ranges" ? `${layer.label}: ` : ""}${format(layer.x[i])}${unit(chart.x) || ` ${chart.x.text}`}` });
        });
      }
    }
    return found;
  }

  function point(state, event) {
    const box = state.canvas.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    const lines = state.place ? readings(state, at) : [];
    state.tip.hidden = state.rule.hidden = !lines.length;
    if (!lines.length) return;
    state.tip.replaceChildren(...lines.slice(0, 10).map((line) => {
      const row = document.createElement("div");
      element("i", "", row).style.background = colour(line.layer);
      row.append(line.text);
      return row;
    }));
    const offset = state.canvas.offsetTop;
    const room = state.canvas.clientWidth - state.tip.offsetWidth;
    state.tip.style.left = `${Math.max(0, Math.min(at.x + 14, room))}px`;
    state.tip.style.top = `${offset + Math.max(0, at.y - state.tip.offsetHeight - 12)}px`;
    const time = lines.find((line) => line.at !== undefined);
    state.rule.hidden = time === undefined;
    if (time) Object.assign(state.rule.style, { left: `${state.place.x(time.at)}px`, top: `${offset + state.place.top}px`, height: `${state.place.bottom - state.place.top}px` });
  }

  /* What colours and shades mean; returns the keys that change with the colour scheme. */
  function legend(state, box) {
    const { chart } = state;
    const named = chart.layers.filter((layer) => layer.kind !== "heat");
    if (!chart.meaning && named.length < 2) return [];
    const line = element("div", "legend", box);
    if (chart.meaning) {
      const { text, unit, low, high, colours } = chart.meaning;
      const entry = element("span", "", line, `${text}: ${format(low)} `);
      element("i", "shades", entry).style.background = `linear-gradient(to right, ${colours.join(", ")})`;
      entry.append(`${format(high)} ${unit}`);
    }
    return named.map((layer) => {
      const entry = element("button", "", line);
      const key = element("i", layer.kind, entry);
      entry.type = "button";
      entry.title = "Show or hide";
      entry.setAttribute("aria-pressed", "true");
      entry.append(layer.label);
      entry.addEventListener("click", () => {
        layer.off = !layer.off;
        entry.setAttribute("aria-pressed", String(!layer.off));
        draw(state);
      });
      return { key, layer };
    });
  }

  function build(chart, parent) {
    const box = element("div", "chart", parent);
    if (chart.title || parent.children.length > 1) element("h4", "", box, chart.title);
    const state = { chart };
    chart.layers.filter((layer) => layer.kind === "points").forEach(unpack);
    chart.layers.filter((layer) => layer.kind === "heat").forEach((layer) => paint(layer, chart.meaning));
    state.keys = legend(state, box);
    const holder = element("div", "holder", box);
    state.canvas = element("canvas", "", holder);
    state.canvas.setAttribute("role", "img");
    state.canvas.setAttribute("aria-label", `${chart.title}: ${chart.y.text} over ${chart.x.text}`);
    const most = Math.max(0, ...chart.layers.filter((layer) => layer.of > layer.count).map((layer) => layer.of));
    if (most) element("p", "fewer", box, `Drawn here: at most 4\u202f000 of ${format(most)} points, the extremes among them. The PNG file has all.`);
    state.tip = element("div", "tip", box);
    state.rule = element("div", "rule", box);
    state.tip.hidden = state.rule.hidden = true;
    widen(chart.x);
    widen(chart.y);
    box.addEventListener("pointermove", (event) => point(state, event));
    box.addEventListener("pointerleave", () => { state.tip.hidden = state.rule.hidden = true; });
    new ResizeObserver(() => draw(state)).observe(holder);
    return state;
  }

  const charts = [];
  for (const [id, figure] of Object.entries(JSON.parse(document.getElementById("chart-data").textContent))) {
    const place = document.getElementById(id);
    for (const row of figure.rows) {
      const line = element("div", "chart-row", place);
      line.style.gridTemplateColumns = row.map((chart) => `minmax(0, ${chart.share}fr)`).join(" ");
      for (const chart of row) charts.push(build(chart, line));
    }
  }
  const redraw = () => charts.forEach(draw);
  for (const query of [system, paper]) query.addEventListener("change", redraw);

  /* The switch of colours: as the system says, until a reader asks for one of the two. */
  const SCHEMES = ["system", "light", "dark"];
  const choice = document.getElementById("scheme");
  function remembered(scheme) {
    try { return scheme === undefined ? localStorage.getItem("psap.perf scheme") : localStorage.setItem("psap.perf scheme", scheme); }
    catch { return null; /* a browser may forbid it to pages from disk; then the choice is for this view */ }
  }
  function choose(scheme) {
    if (scheme === "system") delete root.dataset.scheme;
    else root.dataset.scheme = scheme;
    choice.textContent = `Colours: ${scheme}`;
    choice.setAttribute("aria-label", `Colours: ${scheme}. Change them`);
    redraw();
  }
  choice.hidden = false;
  choice.addEventListener("click", () => {
    const next = SCHEMES[(SCHEMES.indexOf(root.dataset.scheme ?? "system") + 1) % SCHEMES.length];
    remembered(next);
    choose(next);
  });
  const before = remembered();
  choose(SCHEMES.includes(before) ? before : "system");

  /* Rows in the order of a column: by number where its cells have one, missing values last. */
  const FACTORS = { "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
  const QUANTITY = /^([+\u2212-]?[\d\s]*\.?\d+)\s*([^\s\d]*)$/u;
  function valueOf(cell) {
    if (cell.querySelector(".missing")) return null;
    const text = cell.dataset.sort ?? (cell.classList.contains("number") ? cell.firstChild?.textContent ?? "" : cell.textContent).trim();
    const found = QUANTITY.exec(text);
    if (!found) return text === "" ? null : text;
    return Number(found[1].replace(/\s/gu, "").replace("\u2212", "-")) * (FACTORS[found[2]] ?? 1);
  }
  function compare(one, other) {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.querySelectorAll("thead th")];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const down = heading.ariaSort === "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.ariaSort = down ? "descending" : "ascending";
        const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
        rows.sort((one, other) => (one.value === null || other.value === null || !down ? 1 : -1) * compare(one.value, other.value));
        table.tBodies[0].append(...rows.map((entry) => entry.row));
      });
    });
  }

  for (const field of document.querySelectorAll("input[type=search]")) {
    const rows = field.closest(".card").querySelectorAll("tbody tr");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
  }
})();
