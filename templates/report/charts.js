/* Charts: what all of them share, then one function each. */

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

/* The phases of the run: the measurement interval as a band, the others by their borders; and when the engine was killed. */
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
  for (const kill of marks.kills) {
    shapes.push({
      type: "line", xref: "x", yref: "paper", x0: moment(kill), x1: moment(kill), y0: 0, y1: 1,
      line: { width: 1.5, dash: "dash", color: look.series[3] }, layer: "above",
    });
    if (marks.kills.length <= 12) {
      annotations.push({
        xref: "x", yref: "paper", x: moment(kill), y: 0.98, xanchor: "left", yanchor: "top", showarrow: false, textangle: -90,
        text: "engine killed", font: { size: 10, color: look.series[3] },
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

/* Three panels with one legend: the score, the latency that makes it, and what it costs. */
function byScaleFactor(id, data) {
  const look = colours();
  const panels = [["p_score", "x", "y", "%{y:,.2f}"], ["p99", "x2", "y2", "%{y:,.1f} ms"], ["cost", "x3", "y3", "%{y:,.2f} s"]];
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
  const scale = (anchor, domain) => axis(look, "scale factor", { anchor, domain, ...decades(values("sf")) });
  return plot(id, traces, {
    hovermode: "closest", xaxis: scale("y", [0, 0.27]), xaxis2: scale("y2", [0.365, 0.635]), xaxis3: scale("y3", [0.73, 1]),
    yaxis: axis(look, "p_score (higher is better)", { anchor: "x", ...decades(values("p_score")) }),
    yaxis2: axis(look, "99th percentile, ms (lower is better)", { anchor: "x2", ...decades(values("p99")) }),
    yaxis3: axis(look, "CPU s per million ticks (lower is better)", { anchor: "x3", ...decades(values("cost")) }),
  });
}
