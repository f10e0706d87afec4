"use strict";
/* A history in one page: filters, the KPIs with a small curve each, the chart of one of them, the runs. */
(() => {
  const { runs, tests, series } = JSON.parse(document.getElementById("history").textContent);
  const WORDS = ["worse", "different", "better", "same", "too little history"];
  /* indices of the colours of layers */
  const COLOUR = { worse: 5, better: 11, different: 0 };
  const BLUE = 0, GREY = 8, CURVE = { width: 150, height: 30 };
  const MOST_VERSIONS = 3;
  const form = document.getElementById("filters");
  const [kpiRows, runRows] = ["kpis", "runs"].map((id) => document.querySelector(`#${id} tbody`));
  const times = runs.map((run) => (run.started ? Date.parse(run.started) : NaN));
  const timed = times.every((time) => !Number.isNaN(time));
  const label = (run) => (run.started ? run.started.slice(0, 16).replace("T", " ") : "unknown");

  function made(name, parent, text, attributes = {}) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  }
  const badge = (parent, word, text = word) => made("span", parent, text, { class: `status ${word.replaceAll(" ", "-")}` });

  /* The name of a test among those of its flow: the recording, with the keys whose values differ. */
  const names = tests.map((test) => {
    const others = tests.filter((other) => other.flow === test.flow);
    const differing = Object.keys(test.keys).filter((key) => others.some((other) => other.keys[key] !== test.keys[key]));
    const keys = differing.map((key) => `${key} ${test.keys[key]}`).join(", ");
    return `${test.flow}: ${test.name}${keys ? ` (${keys})` : ""}`;
  });

  /* The changes that began with a run, and its versions that differ from those of the flow's run before. */
  const began = runs.map(() => ({}));
  for (const each of series) for (const step of each.steps) {
    const words = began[each.runs[step.at]];
    words[step.word] = [...(words[step.word] ?? []), each.kpi];
  }
  const before = {};
  const changed = runs.map((run) => {
    const old = before[run.flow];
    before[run.flow] = run.versions;
    return Object.entries(run.versions).filter(([name, value]) => old === undefined || old[name] !== value);
  });

  /* A curve of a few hundred points at most: the lowest and the highest of each column, with dots at changes. */
  function curve(each) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const count = each.values.length, low = Math.min(...each.values), high = Math.max(...each.values);
    const x = (place) => 3 + (CURVE.width - 6) * (count > 1 ? place / (count - 1) : 0.5);
    const y = (value) => CURVE.height - 4 - (CURVE.height - 8) * (high > low ? (value - low) / (high - low) : 0.5);
    const size = Math.max(1, Math.ceil(count / 60));
    const points = [];
    for (let first = 0; first < count; first += size) {
      const part = each.values.slice(first, first + size);
      const ends = [part.indexOf(Math.min(...part)), part.indexOf(Math.max(...part))].sort((one, other) => one - other);
      for (const place of new Set(ends)) points.push(`${x(first + place).toFixed(1)},${y(part[place]).toFixed(1)}`);
    }
    svg.setAttribute("viewBox", `0 0 ${CURVE.width} ${CURVE.height}`);
    svg.setAttribute("class", "curve");
    svg.setAttribute("aria-hidden", "true");
    const draw = (name, attributes) => {
      const part = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      svg.append(part);
    };
    draw("polyline", { points: points.join(" ") });
    for (const { at, word } of each.steps) draw("circle", { cx: x(at), cy: y(each.values[at]), r: 3, class: word });
    return svg;
  }
  const scrolled = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      scrolled.unobserve(target);
      target.append(curve(series[Number(target.parentElement.dataset.place)]));
    }
  }, { rootMargin: "200px" });

  function kpiRow(place) {
    const each = series[place];
    const row = made("tr", kpiRows, undefined, { "data-place": place });
    const button = made("button", made("td", row, undefined, { class: "text" }), each.kpi, { type: "button", class: "link", title: each.help });
    button.addEventListener("click", () => choose(place, true));
    made("td", row, names[each.test]);
    const word = made("td", row, undefined, { "data-sort": WORDS.indexOf(each.word) });
    badge(word, each.word).title = each.reason;
    made("td", row, each.newest, { class: "number" });
    made("td", row, each.change, { class: "number" });
    scrolled.observe(made("td", row, undefined, { "data-sort": each.runs.length }));
    const last = each.steps.at(-1);
    const cell = made("td", row);
    if (last) {
      cell.textContent = `${last.text} ${last.word}`;
      made("small", cell, `${label(runs[each.runs[last.at]])} ${runs[each.runs[last.at]].id}`);
    }
    return row;
  }

  function runRow(place) {
    const run = runs[place];
    const row = made("tr", runRows, undefined, { "data-place": place });
    made("td", row, label(run), { "data-sort": run.started ?? "", class: "when" });
    const name = made("td", row, undefined, { class: "when" });
    if (run.report) made("a", name, run.id, { href: run.report });
    else name.textContent = run.id;
    made("td", row, run.flow);
    badge(made("td", row), run.status);
    const changes = made("div", made("td", row), undefined, { class: "badges" });
    for (const word of WORDS.filter((each) => began[place][each])) badge(changes, word, `${began[place][word].length} ${word}`).title = began[place][word].join(", ");
    const versions = made("td", row);
    const shown = changed[place].map(([part, value]) => `${part} ${value}`);
    versions.textContent = shown.slice(0, MOST_VERSIONS).join(", ");
    if (shown.length > MOST_VERSIONS) made("small", versions, `and ${shown.length - MOST_VERSIONS} more`, { title: shown.join(", ") });
    return row;
  }

  const order = series.map((_, place) => place).sort((one, other) => WORDS.indexOf(series[one].word) - WORDS.indexOf(series[other].word));
  const kpis = order.map((place) => ({ row: kpiRow(place), each: series[place] }));
  const newestFirst = runs.map((_, place) => place).reverse();
  const shownRuns = newestFirst.map((place) => ({ row: runRow(place), run: runs[place], place }));

  const select = (name, values) => values.forEach(([value, text]) => made("option", form.elements[name], text, { value }));
  select("test", names.map((name, place) => [place, name]));
  select("verdict", WORDS.filter((word) => series.some((each) => each.word === word)).map((word) => [word, word]));
  select("status", [...new Set(runs.map((run) => run.status))].sort().map((status) => [status, status]));
  const badges = document.getElementById("verdicts");
  for (const word of WORDS.filter((each) => series.some(({ word: of }) => of === each)).reverse()) {
    const count = series.filter((each) => each.word === word).length;
    const one = badge(badges, word, `${count} ${word}`);
    badges.prepend(one);
  }

  /* The filters, which the address of the page keeps, so that a link shows the same. */
  const wanted = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
  function filtered() {
    const { flow, test, kpi = "", verdict, version = "", status, from, to } = wanted();
    const has = (text, word) => text.toLowerCase().includes(word.toLowerCase());
    const fits = (run) =>
      (!flow || run.flow === flow) && (!status || run.status === status)
      && (!from || (run.started ?? "") >= from) && (!to || (run.started ?? "").slice(0, 10) <= to)
      && (!version || Object.entries(run.versions).some(([name, value]) => has(`${name} ${value}`, version)));
    const inside = runs.map(fits);
    const ofTest = test === undefined ? null : new Set(series.filter((each) => each.test === Number(test)).flatMap((each) => each.runs));
    for (const { row, each } of kpis) {
      row.hidden = !((!flow || tests[each.test].flow === flow) && (test === undefined || each.test === Number(test))
        && has(each.kpi, kpi) && (!verdict || each.word === verdict) && each.runs.some((run) => inside[run]));
    }
    for (const { row, place } of shownRuns) row.hidden = !inside[place] || (ofTest !== null && !ofTest.has(place));
    const count = (rows) => rows.filter(({ row }) => !row.hidden).length;
    document.getElementById("found").textContent = `${count(kpis)} of ${series.length} KPIs of tests, ${count(shownRuns)} of ${runs.length} runs`;
    return inside;
  }

  let chosen = null;
  function remember() {
    const words = new URLSearchParams({ ...wanted(), ...(chosen === null ? {} : { shown: chosen }) });
    /* a browser may forbid it to pages from disk */
    try { history.replaceState(null, "", `#${words}`); } catch { /* the filters are for this view then */ }
  }

  /* The figure of one KPI, of the runs that the filters select. */
  function figure(each, inside) {
    const kept = each.runs.map((run, place) => place).filter((place) => inside[each.runs[place]]);
    const at = (place) => (timed ? new Date(times[each.runs[place]]).toISOString() : place);
    const layer = (index) => PALETTE.light[index], unit = each.unit ? ` ${each.unit}` : "";
    const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const about = (place) => {
      const run = runs[each.runs[place]];
      const versions = changed[each.runs[place]].slice(0, MOST_VERSIONS).map(([name, value]) => `${name} ${value}`);
      return [run.id, label(run), ...versions].map(plain).join("<br>");
    };
    const data = [];
    const levels = each.levels
      .map(([begin, end, ...numbers]) => [Math.max(begin, kept[0]), Math.min(end, kept.at(-1) + 1), ...numbers])
      .filter(([begin, end]) => begin < end);
    const edges = (pick) => levels.flatMap((level) => [pick(level), pick(level), null]);
    const ends = levels.flatMap(([begin, end]) => [at(begin), at(end - 1), null]);
    if (levels.some((level) => level[3] !== null)) {
      const shape = levels.flatMap(([begin, end]) => [at(begin), at(end - 1), at(end - 1), at(begin), at(begin), null]);
      const heights = levels.flatMap(([, , value, low, high]) => [low ?? value, low ?? value, high ?? value, high ?? value, low ?? value, null]);
      data.push({ type: "scatter", mode: "lines", name: "95 % interval of the level", x: shape, y: heights, fill: "toself", line: { width: 0, color: layer(BLUE) }, fillcolor: PALETTE.light[(PALETTE.light.length - 1) / 2 + BLUE], hoverinfo: "skip" });
    }
    data.push({ type: "scatter", mode: "lines", name: "level", x: ends, y: edges((level) => level[2]), line: { width: 1.8, color: layer(BLUE) }, hovertemplate: `level %{y:.4~r}${unit}<extra></extra>` });
    data.push({ type: "scatter", mode: "lines+markers", name: "runs", x: kept.map(at), y: kept.map((place) => each.values[place]), customdata: kept.map((place) => each.runs[place]),
      text: kept.map(about), line: { width: 1, color: layer(GREY) }, marker: { size: kept.length > 200 ? 4 : 7, color: layer(GREY) }, hovertemplate: `%{y:.4~r}${unit}<br>%{text}<extra></extra>` });
    for (const word of Object.keys(COLOUR)) {
      const steps = each.steps.filter((step) => step.word === word && kept.includes(step.at));
      if (steps.length) data.push({ type: "scatter", mode: "markers", name: `${word} from here`, x: steps.map((step) => at(step.at)), y: steps.map((step) => each.values[step.at]), customdata: steps.map((step) => each.runs[step.at]),
        text: steps.map((step) => `${step.text}<br>${about(step.at)}`), marker: { size: 12, symbol: "diamond", color: layer(COLOUR[word]) }, hovertemplate: "%{text}<extra></extra>" });
    }
    const values = kept.map((place) => each.values[place]), low = Math.min(...values), high = Math.max(...values);
    const room = 0.08 * (high - low) || 0.05 * Math.abs(high) || 1;
    const layout = { height: 380, showlegend: true, hovermode: "closest", xaxis: { title: { text: timed ? "started (UTC)" : "run" }, ...(timed ? { type: "date" } : {}) },
      yaxis: { title: { text: each.unit }, range: [low >= 0 && low <= 0.5 * high ? 0 : low - room, high + room] } };
    const lab = tests[each.test].lab;
    const select = ({ customdata }) => { if (runs[customdata]?.report) window.location.href = runs[customdata].report; };
    return { name: each.kpi, title: each.kpi, select, marks: lab ? [lab] : [], rows: [[{ title: "", label: `${each.kpi} over the runs of ${names[each.test]}`, share: 1, note: "", data, layout }]] };
  }

  function choose(place, move = false) {
    chosen = place;
    const each = series[place], inside = filtered();
    document.getElementById("chart-title").textContent = `${each.kpi}: ${names[each.test]}`;
    const word = document.getElementById("chart-word");
    word.replaceChildren();
    badge(word, each.word);
    document.getElementById("chart-text").textContent = `${each.help}. Better: ${each.better}. ${each.change ? `Change: ${each.change}. ` : ""}Each dot is a run; select one to open its report, if the page knows it.`;
    for (const { row } of kpis) row.toggleAttribute("aria-current", Number(row.dataset.place) === place);
    const box = document.getElementById("chart-box");
    if (!each.runs.some((run) => inside[run])) box.textContent = "The filters leave no run of this KPI.";
    else charts.show(box, figure(each, inside));
    remember();
    if (move) document.getElementById("chart").scrollIntoView();
  }

  function refresh() {
    filtered();
    if (chosen === null || kpis.find(({ each }) => each === series[chosen]).row.hidden) chosen = Number(kpis.find(({ row }) => !row.hidden)?.row.dataset.place ?? chosen ?? 0);
    if (series.length) choose(chosen);
    else remember();
  }
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of given) if (form.elements[name]) form.elements[name].value = value;
  if (given.has("shown") && Number(given.get("shown")) < series.length) chosen = Number(given.get("shown"));
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(refresh));
  refresh();
})();
