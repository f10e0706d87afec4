"use strict";
/* Draws each chart when it is scrolled to, with plotly.js, which is in the page, gzipped. */
const charts = (() => {
  const root = document.documentElement;
  const DARK = new Map(PALETTE.light.map((colour, place) => [colour, PALETTE.dark[place]]));

  function element(name, className, parent, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  async function unpacked() {
    const bytes = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    element("script", "", document.head, await new Response(stream).text());
    return window.Plotly;
  }
  let library;
  const plotly = () => (library ??= unpacked());

  const style = (name) => {
    const probe = element("i", "", document.body);
    probe.style.color = `var(${name})`;
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  };

  /* The layout of all charts, in the colours of the page. */
  function template() {
    const [ink, soft, grid, line, card] = ["--ink", "--soft", "--grid", "--line", "--card"].map(style);
    const axis = (shared) => ({ ...shared, gridcolor: grid, linecolor: line, zerolinecolor: line, spikecolor: soft });
    const shared = TEMPLATE.layout;
    return { layout: {
      ...shared,
      font: { ...shared.font, color: soft },
      xaxis: axis(shared.xaxis),
      yaxis: axis(shared.yaxis),
      hoverlabel: { ...shared.hoverlabel, bgcolor: card, bordercolor: line, font: { color: ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink },
    } };
  }

  /* The same with dark colours in place of light ones. */
  function painted(value) {
    if (typeof value === "string") return DARK.get(value) ?? value;
    if (Array.isArray(value)) return value.map(painted);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, painted(part)]));
  }

  /* A downloaded image has the titles, and the marks of simulated data. */
  function download({ plot, chart, figure }) {
    const title = [figure.title, chart.title].filter(Boolean).join(" \u00b7 ");
    const words = { text: title, subtitle: { text: figure.marks.join(" \u00b7 ") }, x: 0, xref: "paper", xanchor: "left", automargin: true, yref: "container", y: 0.98, yanchor: "top" };
    const layout = { ...plot.layout, title: words, paper_bgcolor: style("--card"), height: plot.layout.height + 60 };
    const size = { width: plot.clientWidth, height: layout.height, scale: 2 };
    window.Plotly.downloadImage({ data: plot.data, layout }, { ...size, format: "png", filename: figure.name });
  }

  const touch = window.matchMedia("(pointer: coarse)").matches;
  const settings = (state) => ({
    displaylogo: false,
    modeBarButtons: [
      [{ name: "download", title: "Download as PNG", icon: window.Plotly.Icons.camera, click: () => download(state) }],
      ["zoom2d", "pan2d", "select2d", "resetScale2d"],
    ],
  });

  async function draw(state) {
    const { plot, chart } = state;
    const Plotly = await plotly();
    Object.assign(state, { drawn: true, width: plot.clientWidth });
    // on a touch screen, swiping scrolls the page until the reader enables zooming
    const layout = { ...chart.layout, template: template(), uirevision: "same", ...(touch ? { dragmode: false } : {}) };
    const first = !plot.on;
    await Plotly.react(plot, colours.dark() ? painted(chart.data) : chart.data, layout, settings(state));
    if (first && state.figure.select) plot.on("plotly_click", ({ points }) => state.figure.select(points[0]));
    await fit(state);
  }

  /* Adds the height of the legend and colour bars to the chart's height. */
  function fit({ plot, chart }) {
    const above = [...plot.querySelectorAll(".legend, .colorbar")].map((part) => part.getBBox().height);
    const height = Math.round(chart.layout.height + Math.max(0, ...above));
    return height === plot.layout.height ? null : window.Plotly.relayout(plot, { height });
  }

  async function resize(state) {
    if (!state.drawn || !state.plot.clientWidth || state.width === state.plot.clientWidth) return;
    state.width = state.plot.clientWidth;
    await window.Plotly.relayout(state.plot, { width: state.width });
    await fit(state);
  }

  function build(chart, figure, parent) {
    const box = element("div", "chart", parent);
    if (chart.title || parent.children.length > 1) element("h4", "", box, chart.title);
    const plot = element("div", "plot", box);
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", chart.label);
    plot.style.minHeight = `${chart.layout.height}px`;
    if (chart.note) element("p", "fewer", box, chart.note);
    return { plot, chart, figure };
  }

  const states = new Map();
  const scrolled = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      scrolled.unobserve(target);
      if (states.has(target)) draw(states.get(target));
    }
  }, { rootMargin: "300px" });
  const sized = new ResizeObserver((entries) => entries.filter((entry) => states.has(entry.target)).forEach((entry) => resize(states.get(entry.target))));

  /* Adds a figure's charts to an element, and removes its earlier ones. */
  function show(box, figure) {
    for (const plot of [...states.keys()].filter((each) => box.contains(each))) {
      states.delete(plot);
      scrolled.unobserve(plot);
      sized.unobserve(plot);
    }
    box.replaceChildren();
    for (const row of figure.rows) {
      const line = element("div", "chart-row", box);
      line.style.gridTemplateColumns = row.map((chart) => `minmax(0, ${chart.share}fr)`).join(" ");
      for (const state of row.map((chart) => build(chart, figure, line))) {
        states.set(state.plot, state);
        scrolled.observe(state.plot);
        sized.observe(state.plot);
      }
    }
  }
  const data = document.getElementById("chart-data");
  for (const [id, figure] of data ? Object.entries(JSON.parse(data.textContent)) : []) show(document.getElementById(id), figure);
  // other colours: those in sight now, the others when they are scrolled to again
  colours.onChange(() => [...states.keys()].forEach((plot) => { scrolled.unobserve(plot); scrolled.observe(plot); }));
  window.addEventListener("beforeprint", () => states.forEach(draw));
  (window.requestIdleCallback ?? setTimeout)(plotly);
  return { show };
})();
