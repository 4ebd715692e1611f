/* Draws a report from the data in the page. Names that come from data only ever become text, never markup. */
"use strict";

// ---- The data: packed arrays become typed arrays again -------------------------------------------------------------

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f8: Float64Array };

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpack(packed) {
  const Kind = ARRAYS[packed.packed];
  const width = Kind.BYTES_PER_ELEMENT;
  const planes = await inflate(packed.z);
  const bytes = new Uint8Array(packed.n * width);
  for (let plane = 0; plane < width; plane++) {
    for (let place = 0; place < packed.n; place++) bytes[place * width + plane] = planes[plane * packed.n + place];
  }
  const values = new Kind(bytes.buffer);
  if (packed.delta) for (let place = 1; place < values.length; place++) values[place] += values[place - 1];
  return values;
}

async function unpackAll(value) {
  if (value === null || typeof value !== "object") return value;
  if (typeof value.packed === "string") return unpack(value);
  if (value.times) return moments(await unpack(value.times));
  if (Array.isArray(value)) return Array.isArray(value[0]) ? value : Promise.all(value.map(unpackAll)); // rows are plain
  const entries = await Promise.all(Object.entries(value).map(async ([name, one]) => [name, await unpackAll(one)]));
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

// Plotly takes numbers below 10,000 on an axis of dates for years, so times are counted from some midnight.
const MIDNIGHT = Date.UTC(2000, 0, 1);
const moment = (milliseconds) => MIDNIGHT + milliseconds;
const moments = (times) => Float64Array.from(times, moment);

// ---- Words ---------------------------------------------------------------------------------------------------------

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const rounded = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const exact = (value) => (value === null || value === undefined ? "–" : typeof value === "number" ? String(value) : value);

function clock(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value) => String(value).padStart(2, "0");
  const rest = milliseconds % 1000;
  const fraction = rest ? "." + String(rest).padStart(3, "0") : "";
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

// Plotly reads a little markup in texts, so names from data are made harmless before they get there.
const harmless = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// ---- Charts: what all of them share ----------------------------------------------------------------------------------

const drawn = new Map(); // by id: the function that draws the chart again
const PAPER_WIDTH = 690; // pixels between the margins of A4, or of a letter
const onPaper = () => document.documentElement.classList.contains("paper");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: named("ink"), muted: named("muted"), grid: named("grid"), line: named("line"), surface: named("surface"),
    interval: named("interval"), good: named("good"), bad: named("bad"),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((number) => named(`c${number}`)),
  };
}

const washed = (colour, share) => colour + Math.round(share * 255).toString(16).padStart(2, "0");

function axis(look, title, more = {}) {
  return {
    title: { text: title, font: { size: 12, color: look.muted }, standoff: 8 },
    gridcolor: look.grid, linecolor: look.line, zerolinecolor: look.line, tickfont: { size: 11.5 }, automargin: true, ...more,
  };
}

function timeAxis(look, title, end, more = {}) {
  const tickformat = end < 3600e3 ? "%-M:%S" : "%-H:%M";
  const range = [moment(0), moment(end)];
  return axis(look, title, { type: "date", tickformat, hoverformat: "%-H:%M:%S", showgrid: false, nticks: 8, range, ...more });
}

function plot(id, traces, layout) {
  const look = colours();
  const target = document.getElementById(id);
  const full = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 62, r: 18, t: 52, b: 40 },
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: look.ink },
    legend: { orientation: "h", x: 0, y: layout.annotations?.length ? 1.09 : 1.02, yanchor: "bottom", traceorder: "normal", font: { size: 12 } },
    hovermode: "x unified", showlegend: true,
    hoverlabel: { bgcolor: look.surface, bordercolor: look.line, font: { color: look.ink, size: 12 } },
    ...layout,
    ...(onPaper() ? { width: PAPER_WIDTH, height: Math.min(0.8 * target.clientHeight, 620) } : { autosize: true }),
  };
  const buttons = ["select2d", "lasso2d", "autoScale2d"];
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: buttons, displayModeBar: "hover" };
  return Plotly.react(target, traces, full, config).then(() => target.setAttribute("data-drawn", "true"));
}

/* The phases of the run: the measurement interval as a band, the others by their borders. */
function phases(look, marks) {
  const shapes = [], annotations = [];
  for (const phase of marks.phases) {
    const measured = phase.name === "measurement";
    if (measured) {
      shapes.push({
        type: "rect", xref: "x", yref: "paper", x0: moment(phase.begin), x1: moment(phase.end), y0: 0, y1: 1, fillcolor: look.interval,
        line: { width: 0 }, layer: "below",
      });
    } else if (phase.begin > 0) {
      shapes.push({
        type: "line", xref: "x", yref: "paper", x0: moment(phase.begin), x1: moment(phase.begin), y0: 0, y1: 1,
        line: { width: 1, dash: "dot", color: look.line }, layer: "below",
      });
    }
    if (phase.end - phase.begin > marks.end / 12) {
      annotations.push({
        xref: "x", yref: "paper", x: moment((phase.begin + phase.end) / 2), y: 1, yanchor: "bottom", showarrow: false,
        text: measured ? "measurement interval" : harmless(phase.name), font: { size: 11, color: look.muted },
      });
    }
  }
  return { shapes, annotations };
}

function overTime(look, data, yaxis, more = {}) {
  const wall = timeAxis(look, "wall time since the first tick was due", data.marks.end);
  return { xaxis: wall, yaxis, ...phases(look, data.marks), ...more };
}

const line = (name, x, y, color, more = {}) => ({
  type: "scatter", mode: "lines", name, x, y, line: { color, width: 1.6 }, ...more,
});

const area = (name, x, y, color) => ({
  type: "scatter", mode: "lines", stackgroup: "all", name, x, y, line: { color, width: 0.8 }, fillcolor: washed(color, 0.45),
});

// ---- Charts: one function each ---------------------------------------------------------------------------------------

const charts = {
  quarters(id, data) {
    const look = colours();
    const x = ["first quarter", "second quarter", "third quarter", "fourth quarter"];
    const bar = (name, y, color) => ({
      type: "bar", name, x, y, marker: { color }, customdata: data.counts, text: y.map((one) => (one === null ? "" : rounded.format(one))),
      textposition: "outside", cliponaxis: false, hovertemplate: "%{y:,.1f} ms of %{customdata:,} orders",
    });
    return plot(id, [bar("median", data.p50, look.series[5]), bar("p99", data.p99, look.series[0])], {
      xaxis: axis(look, "", { showgrid: false }), yaxis: axis(look, "latency, ms", { rangemode: "tozero" }), bargap: 0.45,
    });
  },

  rate(id, data) {
    const look = colours();
    const style = { planned: [look.muted, "dot"], sent: [look.series[1], "solid"], "taken by the engine": [look.series[0], "solid"] };
    const traces = Object.entries(data.series).map(([name, one]) => {
      const [color, dash] = style[name];
      return line(name, one.x, one.y, color, { line: { color, dash, width: name === "sent" ? 2.6 : 1.5 }, hovertemplate: "%{y:,.0f}" });
    });
    return plot(id, traces, overTime(look, data, axis(look, "ticks per second", { rangemode: "tozero" })));
  },

  backlog(id, data) {
    const look = colours();
    const one = line("ticks waiting, most in the slot", data.x, data.y, look.series[0], {
      fill: "tozeroy", fillcolor: washed(look.series[0], 0.18), hovertemplate: "%{y:,}", showlegend: true,
    });
    return plot(id, [one], overTime(look, data, axis(look, "ticks", { rangemode: "tozero" })));
  },

  "latency-orders": latencyOverTime,
  "latency-indicators": latencyOverTime,

  histogram(id, data) {
    const look = colours();
    const traces = Object.entries(data.streams).map(([stream, one], place) => {
      const total = one.answers;
      const middles = Array.from(one.counts, (_, bin) => Math.sqrt(one.edges[bin] * one.edges[bin + 1]));
      const shares = Array.from(one.counts, (count) => (100 * count) / total);
      const color = look.series[place === 0 ? 5 : 1];
      return line(`${stream} (${grouped.format(total)})`, middles, shares, color, {
        line: { shape: "hvh", color, width: 1.4 }, fill: "tozeroy", fillcolor: washed(color, 0.25), customdata: one.counts,
        hovertemplate: "%{customdata:,} answers, %{y:.2f} %",
      });
    });
    return plot(id, traces, {
      xaxis: axis(look, "latency, ms (each decade as wide as the next)", { hoverformat: ",.1f", ...decades(...Object.values(data.streams).map((one) => one.edges)) }),
      yaxis: axis(look, "% of the answers", { rangemode: "tozero" }),
    });
  },

  percentiles(id, data) {
    const look = colours();
    const traces = Object.entries(data.streams).map(([stream, one], place) =>
      percentileLine(`${stream}, max ${rounded.format(one.max)} ms`, one, look.series[place === 0 ? 5 : 1]));
    return plot(id, traces, percentileLayout(look, Object.values(data.streams)));
  },

  lateness(id, data) {
    const look = colours();
    const traces = Object.entries(data.drivers).map(([name, one], place) =>
      line(name, one.x, one.y, look.series[place % 8], { mode: "lines", hovertemplate: "%{y:,.2f} ms" }));
    return plot(id, traces, overTime(look, data, axis(look, "worst lateness, ms", { rangemode: "tozero" })));
  },

  "scheduled-sent": (id, data) => {
    const look = colours();
    return plot(id, [
      line("p99 from scheduled time (scored)", data.x, data.scheduled, look.series[1], { line: { color: look.series[1], width: 3 }, hovertemplate: "%{y:,.1f} ms" }),
      line("p99 from send time", data.x, data.sent, look.series[0], { hovertemplate: "%{y:,.1f} ms" }),
    ], overTime(look, data, axis(look, "latency of orders, ms", { rangemode: "tozero" })));
  },

  cpu(id, data) {
    const look = colours();
    const traces = stacked(look, data.x, data.parts, "%{y:.2f} cores");
    const layout = overTime(look, data, axis(look, "cores in use", { rangemode: "tozero" }));
    if (data.cores) {
      layout.shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: data.cores, y1: data.cores, line: { color: look.bad, width: 1, dash: "dash" } });
      layout.annotations.push({ xref: "paper", x: 1, y: data.cores, xanchor: "right", yanchor: "bottom", showarrow: false, text: `all ${data.cores} cores`, font: { size: 11, color: look.bad } });
      layout.yaxis.range = [0, data.cores * 1.12];
    }
    return plot(id, traces, layout);
  },

  memory(id, data) {
    const look = colours();
    const traces = stacked(look, data.x, inUnit(data.parts, 1e9), "%{y:.2f} GB");
    return plot(id, traces, overTime(look, data, axis(look, "resident memory, GB", { rangemode: "tozero" })));
  },

  disk(id, data) {
    const look = colours();
    const traces = [];
    const names = [...new Set([...Object.keys(data.written || {}), ...Object.keys(data.read || {})])];
    for (const [what, dash] of [["written", "solid"], ["read", "dot"]]) {
      for (const [part, values] of Object.entries(inUnit(data[what] || {}, 1e6))) {
        if (!values.some((value) => value > 0)) continue;
        const color = look.series[names.indexOf(part) % 8];
        traces.push(line(`${part}, ${what}`, data.x, values, color, { line: { color, dash, width: 1.5 }, hovertemplate: "%{y:,.2f} MB/s" }));
      }
    }
    return plot(id, traces, overTime(look, data, axis(look, "MB per second", { rangemode: "tozero" })));
  },

  collection(id, data) {
    const look = colours();
    const heap = Float64Array.from(data.heap, (value) => value / 1e6);
    return plot(id, [
      line("time spent collecting garbage", data.x, data.share, look.series[3], { fill: "tozeroy", fillcolor: washed(look.series[3], 0.2), hovertemplate: "%{y:.2f} %" }),
      line("heap in use", data.x, heap, look.series[0], { yaxis: "y2", hovertemplate: "%{y:,.0f} MB" }),
    ], overTime(look, data, axis(look, "% of time", { rangemode: "tozero" }), { yaxis2: rightAxis(look, "heap, MB") }));
  },

  batches(id, data) {
    const look = colours();
    return plot(id, stacked(look, data.x, data.parts, "%{y:,.0f} ms"), overTime(look, data, axis(look, "duration of a batch, ms", { rangemode: "tozero" })));
  },

  "batch-rows": (id, data) => {
    const look = colours();
    const one = line("ticks in a batch", data.x, data.y, look.series[0], { line: { color: look.series[0], width: 1 }, hovertemplate: "%{y:,}" });
    return plot(id, [one], overTime(look, data, axis(look, "ticks", { rangemode: "tozero" })));
  },

  state(id, data) {
    const look = colours();
    const traces = [];
    if (data.rows) traces.push(line("rows", data.x, data.rows, look.series[0], { hovertemplate: "%{y:,.0f} rows" }));
    if (data.bytes) {
      const megabytes = Float64Array.from(data.bytes, (value) => value / 1e6);
      traces.push(line("memory", data.x, megabytes, look.series[1], { yaxis: "y2", hovertemplate: "%{y:,.2f} MB" }));
    }
    const more = data.bytes ? { yaxis2: rightAxis(look, "MB") } : {};
    return plot(id, traces, overTime(look, data, axis(look, "rows", { rangemode: "tozero" }), more));
  },

  "by-scale-factor": byScaleFactor,

  "compared-percentiles": (id, data) => {
    const look = colours();
    const traces = data.runs.map((one, place) => percentileLine(harmless(one.name), one, look.series[place % 8]));
    return plot(id, traces, percentileLayout(look, data.runs));
  },

  "compared-over-time": (id, data) => {
    const look = colours();
    const traces = data.runs.map((one, place) =>
      line(harmless(one.name), one.x, one.y, look.series[place % 8], { hovertemplate: "%{y:,.1f} ms" }));
    const xaxis = axis(look, "share of the trading day, %", { range: [0, 100], showgrid: false });
    return plot(id, traces, { xaxis, yaxis: axis(look, "p99 of the orders, ms", decades(...data.runs.map((one) => one.y))) });
  },
};

function latencyOverTime(id, data) {
  const look = colours();
  const traces = [];
  if (data.dots) {
    const names = Array.from(data.dots.name, (place) => harmless(data.dots.names[place]));
    traces.push({
      type: "scatter", mode: "markers", name: data.dots.x.length === data.answers ? "every order" : "orders, extremes of slots",
      x: data.dots.x, y: data.dots.y, text: names, marker: { size: 3.5, color: washed(look.series[7], 0.55) },
      hovertemplate: "%{y:,.1f} ms, %{text}", hoverinfo: "skip",
    });
  }
  traces.push(
    line("max", data.x, data.max, look.series[3], { line: { color: washed(look.series[3], 0.5), width: 3 }, hovertemplate: "%{y:,.1f} ms" }),
    line("p99", data.x, data.p99, look.series[1], { hovertemplate: "%{y:,.1f} ms" }),
    line("median", data.x, data.p50, look.series[0], { hovertemplate: "%{y:,.1f} ms" }),
  );
  const wide = spread(data) > 30;
  const yaxis = axis(look, "latency, ms", wide ? decades(data.p50, data.max, data.dots ? data.dots.y : []) : { rangemode: "tozero" });
  return plot(id, traces, overTime(look, data, yaxis));
}

/* How many times the worst latency exceeds a typical one: beyond some, only a logarithmic axis shows both. */
function spread(data) {
  const typical = Array.from(data.p50).sort((one, two) => one - two)[Math.floor(data.p50.length / 2)];
  return typical > 0 ? data.max.reduce((one, two) => Math.max(one, two), 0) / typical : 1;
}

function percentileLine(name, one, color) {
  const share = Array.from(one.x, (tail) => 100 * (1 - 1 / tail));
  return line(name, one.x, one.y, color, { customdata: share, hovertemplate: "%{y:,.1f} ms at p%{customdata:.4~f}", line: { color, width: 2 } });
}

function percentileLayout(look, curves) {
  return {
    hovermode: "closest",
    xaxis: axis(look, "percentile (each further nine as wide as the one before)", {
      type: "log", range: [0, 4.02], tickvals: [1, 2, 10, 100, 1000, 10000], ticktext: ["0", "50", "90", "99", "99.9", "99.99"],
    }),
    yaxis: axis(look, "latency, ms", decades(...curves.map((one) => one.y))),
  };
}

/* A logarithmic axis with whole labels: 1, 2, 5, 10, or only the decades where there are many. */
function decades(...series) {
  let [least, greatest] = [Infinity, 0];
  for (const values of series) {
    for (const value of values) if (value > 0) { least = Math.min(least, value); greatest = Math.max(greatest, value); }
  }
  if (greatest === 0) return { type: "log" };
  const span = Math.log10(greatest / least);
  const steps = span > 3.2 ? [1] : span > 1.3 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const tickvals = [];
  for (let decade = Math.floor(Math.log10(least)); decade <= Math.ceil(Math.log10(greatest)); decade++) {
    for (const step of steps) tickvals.push(Number((step * 10 ** decade).toPrecision(2)));
  }
  return { type: "log", tickvals, ticktext: tickvals.map((value) => rounded.format(value)) };
}

const rightAxis = (look, title) => axis(look, title, { overlaying: "y", side: "right", rangemode: "tozero", showgrid: false, tickmode: "auto" });

function stacked(look, x, parts, hovertemplate) {
  return Object.entries(parts).map(([name, y], place) => ({ ...area(harmless(name), x, y, look.series[place % 8]), hovertemplate }));
}

function inUnit(parts, unit) {
  return Object.fromEntries(Object.entries(parts).map(([name, values]) => [name, Float64Array.from(values, (value) => value / unit)]));
}

/* Two panels with one legend: the score on the left, the latency that makes it on the right. */
function byScaleFactor(id, data) {
  const look = colours();
  const panels = [["p_score", "x", "y", "%{y:,.2f}"], ["p99", "x2", "y2", "%{y:,.1f} ms"]];
  const traces = panels.flatMap(([value, xaxis, yaxis, hover]) => data.series.map((one, place) => {
    const color = look.series[place % 8];
    const points = one.points;
    return {
      type: "scatter", mode: "lines+markers", name: harmless(one.name), legendgroup: String(place), showlegend: value === "p_score", xaxis, yaxis,
      x: points.map((point) => point.sf), y: points.map((point) => point[value]), text: points.map((point) => harmless(point.label)),
      hovertemplate: `${hover}, %{text}`, line: { color, width: 1.8, dash: one.published ? "dot" : "solid" },
      marker: { size: 9, color: points.map((point) => (point.valid ? color : look.surface)), line: { color, width: 2 }, symbol: one.published ? "diamond" : "circle" },
    };
  }));
  const values = (name) => data.series.flatMap((one) => one.points.map((point) => point[name]));
  const scale = (anchor, domain) => axis(look, "scale factor", { type: "log", anchor, domain, tickvals: data.ticks, ticktext: data.ticks.map(String) });
  return plot(id, traces, {
    hovermode: "closest", xaxis: scale("y", [0, 0.45]), xaxis2: scale("y2", [0.55, 1]),
    yaxis: axis(look, "p_score (higher is better)", { anchor: "x", ...decades(values("p_score")) }),
    yaxis2: axis(look, "99th percentile, ms (lower is better)", { anchor: "x2", ...decades(values("p99")) }),
  });
}

// ---- Tables that can be searched and sorted ----------------------------------------------------------------------------

class DataTable {
  constructor(target, columns, rows, note = "") {
    Object.assign(this, { target, columns, rows, note, query: "", sorted: null, descending: false, page: 0, size: 25 });
    this.search = element("input", { type: "search", placeholder: "search", ariaLabel: "search in the table" });
    this.search.addEventListener("input", () => { this.query = this.search.value.trim().toLowerCase(); this.page = 0; this.show(); });
    this.head = element("thead");
    this.body = element("tbody");
    this.status = element("span");
    this.previous = element("button", { type: "button", className: "plain", textContent: "previous" });
    this.next = element("button", { type: "button", className: "plain", textContent: "next" });
    this.previous.addEventListener("click", () => { this.page--; this.show(); });
    this.next.addEventListener("click", () => { this.page++; this.show(); });
    target.replaceChildren(
      element("div", { className: "controls" }, this.search),
      element("div", { className: "scroll" }, element("table", {}, this.head, this.body)),
      element("div", { className: "paging" }, this.previous, this.next, this.status),
    );
    this.showHead();
    this.show();
  }

  matching() {
    const shown = (row) => this.columns.map((column, place) => this.text(column, row[place])).join("\t").toLowerCase();
    const rows = this.query ? this.rows.filter((row) => shown(row).includes(this.query)) : [...this.rows];
    if (this.sorted === null) return rows;
    const place = this.sorted, sign = this.descending ? -1 : 1;
    return rows.sort((one, two) => sign * compare(one[place], two[place]));
  }

  text(column, value) { return String(column.show ? column.show(value) : exact(value)); }

  showHead() {
    const cells = this.columns.map((column, place) => {
      const button = element("button", { type: "button", textContent: column.title });
      button.addEventListener("click", () => this.sortBy(place));
      const state = this.sorted === place ? (this.descending ? "descending" : "ascending") : "none";
      return element("th", { className: column.text ? "text" : "", ariaSort: state, scope: "col" }, button);
    });
    this.head.replaceChildren(element("tr", {}, ...cells));
  }

  sortBy(place) {
    this.descending = this.sorted === place ? !this.descending : false;
    this.sorted = place;
    this.page = 0;
    this.showHead();
    this.show();
  }

  show() {
    const rows = this.matching();
    const pages = Math.max(Math.ceil(rows.length / this.size), 1);
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const first = this.page * this.size;
    this.body.replaceChildren(...rows.slice(first, first + this.size).map((row) => this.row(row)));
    this.previous.hidden = this.next.hidden = pages === 1;
    this.previous.disabled = this.page === 0;
    this.next.disabled = this.page === pages - 1;
    const range = rows.length ? `${first + 1} to ${Math.min(first + this.size, rows.length)} of ${rows.length}` : "nothing found";
    this.status.textContent = this.note ? `${range}. ${this.note}` : range;
  }

  row(row) {
    return element("tr", {}, ...this.columns.map((column, place) => {
      const cell = element("td", { className: [column.text ? "text" : "", column.differs && column.differs(row) ? "differs" : ""].join(" ").trim() });
      cell.append(column.link ? this.link(column, row, place) : this.text(column, row[place]));
      return cell;
    }));
  }

  link(column, row, place) {
    const button = element("button", { type: "button", className: "link", textContent: this.text(column, row[place]) });
    button.addEventListener("click", () => column.link(row[place]));
    return button;
  }
}

function compare(one, two) {
  if (one === null || two === null) return (one === null) - (two === null);
  if (typeof one === "number" && typeof two === "number") return one - two;
  return String(one).localeCompare(String(two), "en", { numeric: true });
}

// ---- Validation --------------------------------------------------------------------------------------------------------

function showIncorrect(found, choose) {
  const chooser = document.getElementById("incorrect-kinds");
  const target = document.getElementById("incorrect-table");
  if (!chooser || !found.lists.length) return;
  const buttons = found.lists.map((list) => {
    const button = element("button", { type: "button", className: "plain", textContent: `${list.kind} ${list.stream} (${grouped.format(list.total)})` });
    button.addEventListener("click", () => pick(list, button));
    return button;
  });
  const pick = (list, button) => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
    const hidden = list.total - list.rows.length;
    const note = hidden > 0 ? `The earliest are here; all ${grouped.format(list.total)}: ${list.command} writes ${list.file}.` : "";
    new DataTable(target, incorrectColumns(list, choose), list.rows, note);
  };
  chooser.replaceChildren(...buttons);
  const first = Math.max(found.lists.findIndex((list) => list.kind === "wrong"), 0); // what there is most to see of
  pick(found.lists[first], buttons[first]);
}

function incorrectColumns(list, choose) {
  const place = Object.fromEntries(list.columns.map((name, number) => [name, number]));
  return list.columns.map((name) => {
    const column = { title: name, text: ["strategy", "type"].includes(name) || name.endsWith("_symbol") };
    if (name === "strategy") column.link = choose;
    if (name === "inputTickTS") column.show = clock;
    if (name.startsWith("error_")) column.show = (value) => (typeof value === "number" ? value.toExponential(1) : exact(value));
    if (name.startsWith("sut_")) {
      const [own, other] = [place[name], place[name.replace("sut_", "val_")]];
      column.differs = (row) => row[own] !== null && row[own] !== row[other];
    }
    return column;
  });
}

function showFirstErrors(found, choose) {
  const target = document.getElementById("first-errors");
  if (!target || !found.firstErrors.length) return;
  new DataTable(target, [
    { title: "strategy", text: true, link: choose },
    { title: "first error at", show: clock },
    { title: "what", text: true },
    { title: "stream", text: true },
    { title: "incorrect answers in all", show: (value) => grouped.format(value) },
  ], found.firstErrors);
}

// ---- Comparison --------------------------------------------------------------------------------------------------------

function showRuns(runs) {
  const target = document.getElementById("runs-table");
  if (!target || !runs) return;
  const figure = (value) => (value === null ? "–" : grouped.format(value));
  const [text, number] = [(title) => ({ title, text: true }), (title) => ({ title, show: figure })];
  new DataTable(target, [
    text("run"), text("engine, plan"), number("SF"), number("p_score"), text("score"), text("answers"), text("standard"),
    number("load"), number("p50, ms"), number("p99, ms"), number("p99.9, ms"), number("max, ms"), number("orders"),
  ], runs);
}

// ---- One strategy up close -----------------------------------------------------------------------------------------------

class StrategyView {
  constructor(data, incorrect) {
    this.data = data;
    this.names = data.strategies.map((one) => one[0]);
    this.errors = errorsByStrategy(incorrect);
    this.input = document.getElementById("strategy-name");
    this.options = document.getElementById("strategy-names");
    this.problem = document.getElementById("strategy-problem");
    this.input.addEventListener("input", () => this.suggest());
    this.input.addEventListener("change", () => this.choose(this.input.value.trim()));
    document.getElementById("strategy-previous").addEventListener("click", () => this.step(-1));
    document.getElementById("strategy-next").addEventListener("click", () => this.step(1));
    this.suggest();
  }

  suggest() {
    const typed = this.input.value.trim().toLowerCase();
    const found = this.names.filter((name) => name.toLowerCase().includes(typed)).slice(0, 200);
    this.options.replaceChildren(...found.map((name) => element("option", { value: name })));
  }

  step(by) {
    const place = (this.place + by + this.names.length) % this.names.length;
    return this.choose(this.names[place]);
  }

  choose(name) {
    const place = this.names.indexOf(name);
    this.problem.textContent = place < 0 ? "There is no strategy of that name in this report." : "";
    if (place < 0) return Promise.resolve();
    this.place = place;
    this.input.value = name;
    return this.draw();
  }

  /* Start where there is something to see: the first strategy that went wrong, else the one with most orders. */
  first(found) {
    if (found.firstErrors.length && this.names.includes(found.firstErrors[0][0])) return found.firstErrors[0][0];
    const starts = this.data.orders.starts;
    const counts = this.names.map((_, place) => starts[place + 1] - starts[place]);
    return this.names[counts.indexOf(Math.max(...counts))];
  }

  indicators() {
    const { starts, time, ratio, avgRatio, upperBand } = this.data.indicators;
    const [begin, end] = [starts[this.place], starts[this.place + 1]];
    const values = (one) => restored(one, this.place, begin, end);
    const [mean, upper] = [values(avgRatio), values(upperBand)];
    return { time: time.slice(begin, end), ratio: values(ratio), mean, upper, lower: mean.map((value, row) => 2 * value - upper[row]) };
  }

  orders() {
    const { starts, time, buy, symbol, symbols, price, size } = this.data.orders;
    const found = [];
    for (let row = starts[this.place]; row < starts[this.place + 1]; row++) {
      found.push({ time: time[row], buy: buy[row] === 1, symbol: symbols[symbol[row]], price: price[row], size: size[row] });
    }
    return found.sort((one, two) => one.time - two.time || one.buy - two.buy); // what is sold comes before what is bought
  }

  prices(symbol) {
    const known = this.data.prices;
    const row = known ? known.symbols.indexOf(symbol) : -1;
    const points = { x: [], y: [] };
    for (let bucket = 0; row >= 0 && bucket < known.buckets; bucket++) {
      const cents = known.cents[row * known.buckets + bucket];
      if (cents > 0) { points.x.push(moment((bucket + 1) * known.bucket)); points.y.push(cents / 100); }
    }
    return points;
  }

  draw() {
    const [alias, user, symbol1, symbol2, period, periods, multiplier, stop, funds] = this.data.strategies[this.place];
    const known = symbol1 !== "";
    const orders = this.orders(), indicators = this.indicators();
    const trades = classified(orders, this.data.marketClose);
    const given = this.data.indicators.given[this.place];
    const thinned = given > indicators.time.length ? `, ${grouped.format(indicators.time.length)} of them drawn with all extremes` : "";
    document.getElementById("strategy-facts").textContent = [
      known ? `${alias}${user ? ` of ${user}` : ""} watches ${symbol1} and ${symbol2}` : alias,
      known ? `windows of ${period / 1000} s, bands of ${multiplier} standard deviations over ${periods} windows, stop-loss at ${stop * 100} %, funds ${grouped.format(funds / 100)}` : "its parameters are gone with the dataset",
      `${grouped.format(given)} indicators${thinned}, ${grouped.format(orders.length)} orders`,
    ].join("; ") + ".";
    return plot("strategy", this.traces(indicators, trades, known, funds, symbol1, symbol2), this.layout(trades, symbol1, symbol2));
  }

  traces(indicators, trades, known, funds, symbol1, symbol2) {
    const look = colours();
    const [first, second] = [this.prices(symbol1), this.prices(symbol2)];
    const x = moments(indicators.time);
    const price = (symbol, one, color, yaxis) => line(harmless(symbol), one.x, one.y, color, { yaxis, hovertemplate: "%{y:,.2f}" });
    const traces = [
      ...(first.x.length ? [price(symbol1, first, look.series[0], "y3")] : []),
      ...(second.x.length ? [price(symbol2, second, look.series[1], first.x.length ? "y4" : "y3")] : []),
      line("upper band", x, indicators.upper, look.muted, { yaxis: "y2", line: { color: look.muted, width: 0.8 }, showlegend: false, hovertemplate: "%{y:.5f}" }),
      line("bands", x, indicators.lower, look.muted, { yaxis: "y2", line: { color: look.muted, width: 0.8 }, fill: "tonexty", fillcolor: washed(look.series[7], 0.16), hovertemplate: "%{y:.5f}" }),
      line("moving average", x, indicators.mean, look.series[4], { yaxis: "y2", line: { color: look.series[4], width: 1.2 }, hovertemplate: "%{y:.5f}" }),
      line("ratio", x, indicators.ratio, look.ink, { yaxis: "y2", line: { color: look.ink, width: 1.2 }, hovertemplate: "%{y:.5f}" }),
      ...this.markers(look, indicators, trades, symbol1, symbol2),
    ];
    if (known) traces.push(...balanceTraces(look, trades, funds, this.data.duration));
    const errors = this.errors.get(this.names[this.place]);
    if (errors) {
      traces.push({
        type: "scatter", mode: "markers", name: "incorrect answers, of those listed", x: moments(errors), y: errors.map((time) => ratioAt(indicators, time)), yaxis: "y2",
        marker: { symbol: "circle-open", size: 9, color: look.bad, line: { width: 1.5 } }, hovertemplate: "incorrect",
      });
    }
    return traces;
  }

  markers(look, indicators, trades, symbol1, symbol2) {
    const styles = {
      first: [`buys ${harmless(symbol1) || "the first symbol"}`, "triangle-up", look.series[0]],
      second: [`buys ${harmless(symbol2) || "the second symbol"}`, "triangle-down", look.series[1]],
      stop: ["stop-loss", "x", look.bad],
      bell: ["sells at the close", "square", look.muted],
    };
    const kind = (trade) => (trade.bought ? (trade.bought.symbol === symbol2 ? "second" : "first") : trade.atClose ? "bell" : "stop");
    return Object.entries(styles).map(([name, [label, symbol, color]]) => {
      const own = trades.filter((trade) => kind(trade) === name);
      return {
        type: "scatter", mode: "markers", name: label, x: own.map((trade) => moment(trade.time)), y: own.map((trade) => ratioAt(indicators, trade.time)), yaxis: "y2",
        marker: { symbol, size: 10, color, line: { color: look.surface, width: 1 } }, text: own.map(told), hovertemplate: "%{text}",
      };
    }).filter((trace) => trace.x.length);
  }

  layout(trades, symbol1, symbol2) {
    const look = colours();
    const traded = [symbol1, symbol2].map((symbol) => this.prices(symbol).x.length > 0);
    const price = (place, more) => axis(look, harmless([symbol1, symbol2][place]), {
      showgrid: false, tickfont: { color: look.series[place], size: 11.5 }, ...more,
    });
    const layout = {
      xaxis: timeAxis(look, "simulated time", this.data.duration, { anchor: "y" }),
      yaxis: axis(look, "funds", { domain: [0, 0.2] }),
      yaxis2: axis(look, "ratio", { domain: [0.27, 0.7] }),
      ...(traded[0] || traded[1] ? { yaxis3: price(traded[0] ? 0 : 1, { domain: [0.76, 1] }) } : {}),
      ...(traded[0] && traded[1] ? { yaxis4: price(1, { overlaying: "y3", side: "right", tickmode: "auto" }) } : {}),
      shapes: holdings(trades, this.data.duration).map((held) => ({
        type: "rect", xref: "x", yref: "paper", x0: moment(held.begin), x1: moment(held.end), y0: 0.27, y1: 0.7, line: { width: 0 }, layer: "below",
        fillcolor: washed(look.series[held.symbol === symbol2 ? 1 : 0], 0.09),
      })),
      annotations: [],
    };
    if (!traded[0] && !traded[1]) {
      layout.annotations.push({ xref: "paper", yref: "paper", x: 0.5, y: 0.87, showarrow: false, text: harmless(this.data.missingPrices || "Neither symbol traded."), font: { color: look.muted } });
    }
    return layout;
  }
}

const NOTHING = 65535;

function restored(one, place, begin, end) {
  const low = one.low[place], span = one.high[place] - low;
  return Array.from(one.steps.subarray(begin, end), (step) => (step === NOTHING ? null : low + (step / (NOTHING - 1)) * span));
}

/* Orders of one moment belong together: sell and buy is a change of sides, sell alone a stop-loss or the close. */
function classified(orders, marketClose) {
  const trades = [];
  for (const order of orders) {
    let trade = trades.at(-1);
    if (!trade || trade.time !== order.time) {
      trade = { time: order.time, sold: null, bought: null, atClose: order.time >= marketClose };
      trades.push(trade);
    }
    if (order.buy) trade.bought = order;
    else trade.sold = order;
  }
  return trades;
}

function told(trade) {
  const words = (verb, order) => `${verb} ${grouped.format(order.size)} ${harmless(order.symbol)} at ${grouped.format(order.price / 100)}`;
  const parts = [];
  if (trade.sold) parts.push(words("sells", trade.sold));
  if (trade.bought) parts.push(words("buys", trade.bought));
  const why = trade.bought ? "" : trade.atClose ? ", the close" : ", stop-loss (or too little money to buy)";
  return parts.join(", ") + why;
}

/* From when to when which symbol was owned. */
function holdings(trades, end) {
  const held = [];
  let open = null;
  for (const trade of trades) {
    if (open) { held.push({ ...open, end: trade.time }); open = null; }
    if (trade.bought) open = { begin: trade.time, symbol: trade.bought.symbol };
  }
  if (open) held.push({ ...open, end });
  return held;
}

function balanceTraces(look, trades, funds, end) {
  const cash = { x: [0], y: [funds / 100] }, worth = { x: [0], y: [funds / 100] };
  let balance = funds;
  for (const trade of trades) {
    if (trade.sold) balance += trade.sold.size * trade.sold.price;
    worth.x.push(trade.time); worth.y.push(balance / 100); // shares just bought are worth what they cost
    if (trade.bought) balance -= trade.bought.size * trade.bought.price;
    cash.x.push(trade.time); cash.y.push(balance / 100);
  }
  cash.x.push(end); cash.y.push(balance / 100);
  const step = (color, width) => ({ line: { color, width, shape: "hv" }, hovertemplate: "%{y:,.2f}" });
  return [line("worth at its trades", moments(worth.x), worth.y, look.series[2], step(look.series[2], 2)), line("cash", moments(cash.x), cash.y, look.muted, step(look.muted, 1))];
}

function ratioAt(indicators, time) {
  let low = 0, high = indicators.time.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indicators.time[middle] < time) low = middle + 1;
    else high = middle;
  }
  return indicators.ratio[low] ?? null;
}

function errorsByStrategy(found) {
  const errors = new Map();
  for (const list of found.lists) {
    const [name, time] = [list.columns.indexOf("strategy"), list.columns.indexOf("inputTickTS")];
    for (const row of list.rows) errors.set(row[name], [...(errors.get(row[name]) || []), row[time]]);
  }
  return errors;
}

// ---- The page ------------------------------------------------------------------------------------------------------------

const nextFrame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));

function showAbsent(id, reason) {
  const target = document.getElementById(id);
  target.classList.add("absent");
  target.textContent = reason;
  target.setAttribute("data-drawn", "absent");
}

async function drawCharts(report) {
  for (const [id, data] of Object.entries(report.charts)) {
    if (!document.getElementById(id)) continue;
    if (data.absent) { showAbsent(id, data.absent); continue; }
    const draw = () => charts[id](id, Object.assign(data, { marks: report.marks }));
    drawn.set(id, draw);
    await draw();
    await nextFrame(); // so that the page can be read and scrolled meanwhile
  }
}

async function showStrategies(report) {
  if (!report.strategies) return () => {};
  if (report.strategies.absent) { showAbsent("strategy", report.strategies.absent); return () => {}; }
  const view = new StrategyView(report.strategies, report.incorrect);
  await view.choose(view.first(report.incorrect));
  drawn.set("strategy", () => view.draw());
  return (name) => { view.choose(name); document.getElementById("one-strategy").scrollIntoView(); };
}

function redrawAll() {
  return Promise.all([...drawn.values()].map((draw) => draw()));
}

/* Follow the reader's preference for light or dark; paper is light, and narrower than most screens. */
function followPreferences() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  const printing = (begins) => { document.documentElement.classList.toggle("paper", begins); redrawAll(); };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
}

async function main() {
  const report = await unpackAll(JSON.parse(document.getElementById("report-data").textContent));
  const choose = await (async () => {
    await drawCharts(report);
    return showStrategies(report);
  })();
  if (report.incorrect) {
    showIncorrect(report.incorrect, choose);
    showFirstErrors(report.incorrect, choose);
  }
  showRuns(report.runs);
  followPreferences();
  document.documentElement.setAttribute("data-ready", "true");
}

main();
