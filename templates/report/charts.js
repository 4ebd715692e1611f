/* The charts: a function each. */

const charts = {
  quarters(id, data) {
    const look = colours();
    const x = ["first", "second", "third", "fourth"].map((name) => (onPhone() ? name : `${name} quarter`));
    const bar = (name, y, color) => ({
      type: "bar", name, x, y, marker: { color }, customdata: data.counts, text: y.map((value) => (value === null ? "" : rounded.format(value))),
      textposition: "outside", constraintext: "none", textangle: 0, textfont: { size: 11 }, cliponaxis: false, hovertemplate: "%{y:,.1f} ms of %{customdata:,} orders",
    });
    return plot(id, [bar("median", data.p50, look.series[5]), bar("p99", data.p99, look.series[0])], {
      xaxis: axis(look, "", { showgrid: false }), yaxis: axis(look, "latency, ms", { rangemode: "tozero" }), bargap: onPhone() ? 0.1 : 0.45,
    });
  },

  rate(id, data) {
    const look = colours();
    const style = { planned: [look.muted, "dot", 1.5], produced: [look.series[1], "solid", 2.6], consumed: [look.series[0], "solid", 1.5] };
    const traces = Object.entries(data.series).map(([name, { x, y }]) => {
      const [color, dash, width] = style[name];
      return line(name, x, y, color, { line: { color, dash, width }, hovertemplate: "%{y:,.0f}" });
    });
    return plot(id, traces, overTime(look, data, axis(look, "ticks per second", { rangemode: "tozero" })));
  },

  backlog(id, data) {
    const look = colours();
    const waiting = line("ticks waiting, most in the slot", data.x, data.y, look.series[0], {
      fill: "tozeroy", fillcolor: washed(look.series[0], 0.18), hovertemplate: "%{y:,}", showlegend: true,
    });
    return plot(id, [waiting], overTime(look, data, axis(look, "ticks", { rangemode: "tozero" })));
  },

  "latency-orders": latencyOverTime,
  "latency-indicators": latencyOverTime,

  histogram(id, data) {
    const look = colours();
    const traces = Object.entries(data.streams).map(([stream, { x, y, counts, answers }], place) => {
      const color = look.series[place === 0 ? 5 : 1];
      return line(`${stream} (${grouped.format(answers)})`, x, y, color, {
        line: { shape: "hvh", color, width: 1.4 }, fill: "tozeroy", fillcolor: washed(color, 0.25), customdata: counts,
        hovertemplate: "%{customdata:,} answers, %{y:.2f} %",
      });
    });
    return plot(id, traces, {
      xaxis: axis(look, "latency, ms (each decade as wide as the next)", { hoverformat: ",.1f", ...decades(data.range) }),
      yaxis: axis(look, "% of the answers", { rangemode: "tozero" }),
    });
  },

  percentiles(id, data) {
    const look = colours();
    const traces = Object.entries(data.streams).map(([stream, curve], place) =>
      percentileLine(`${stream}, max ${rounded.format(curve.max)} ms`, curve, look.series[place === 0 ? 5 : 1]));
    return plot(id, traces, percentileLayout(look, data.range));
  },

  "latency-parts": (id, data) => {
    const look = colours();
    const yaxis = axis(look, `mean latency of ${data.stream}, ms`, { rangemode: "tozero" });
    return plot(id, stacked(look, data.x, data.parts, "%{y:,.1f} ms"), overTime(look, data, yaxis));
  },

  "send-delay": (id, data) => {
    const look = colours();
    const traces = Object.entries(data.drivers).map(([name, { x, y }], place) =>
      line(name, x, y, look.series[place % 8], { hovertemplate: "%{y:,.2f} ms" }));
    return plot(id, traces, overTime(look, data, axis(look, "worst send delay, ms", { rangemode: "tozero" })));
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
      markLevel(look, layout, data.cores, `all ${data.cores} cores`);
      layout.yaxis.range = [0, data.cores * 1.12];
    }
    return plot(id, traces, layout);
  },

  disturbance(id, data) {
    const look = colours();
    const share = (name, y, color) => line(name, data.x, y, color, { fill: "tozeroy", fillcolor: washed(color, 0.18), hovertemplate: "%{y:.1f} %" });
    const layout = overTime(look, data, axis(look, "% of the machine", { rangemode: "tozero" }));
    markLevel(look, layout, data.most, `${data.most} %`);
    return plot(id, [share("processes outside the run", data.outside, look.series[1]), share("stolen by the host", data.stolen, look.series[4])], layout);
  },

  memory(id, data) {
    const look = colours();
    const traces = stacked(look, data.x, data.parts, "%{y:.2f} GB");
    return plot(id, traces, overTime(look, data, axis(look, "resident memory, GB", { rangemode: "tozero" })));
  },

  disk(id, data) {
    const look = colours();
    const traces = [];
    const names = [...new Set([...Object.keys(data.written), ...Object.keys(data.read)])];
    for (const [what, dash] of [["written", "solid"], ["read", "dot"]]) {
      for (const [part, values] of Object.entries(data[what])) {
        const color = look.series[names.indexOf(part) % 8];
        traces.push(line(`${harmless(part)}, ${what}`, data.x, values, color, { line: { color, dash, width: 1.5 }, hovertemplate: "%{y:,.2f} MB/s" }));
      }
    }
    return plot(id, traces, overTime(look, data, axis(look, "MB per second", { rangemode: "tozero" })));
  },

  collection(id, data) {
    const look = colours();
    return plot(id, [
      line("time spent collecting garbage", data.x, data.share, look.series[3], { fill: "tozeroy", fillcolor: washed(look.series[3], 0.2), hovertemplate: "%{y:.2f} %" }),
      line("heap in use", data.x, data.heap, look.series[0], { yaxis: "y2", hovertemplate: "%{y:,.0f} MB" }),
    ], overTime(look, data, axis(look, "% of time", { rangemode: "tozero" }), { yaxis2: rightAxis(look, "heap, MB") }));
  },

  batches(id, data) {
    const look = colours();
    return plot(id, stacked(look, data.x, data.parts, "%{y:,.0f} ms"), overTime(look, data, axis(look, "duration of a batch, ms", { rangemode: "tozero" })));
  },

  "batch-rows": (id, data) => {
    const look = colours();
    const ticks = line("ticks in a batch", data.x, data.y, look.series[0], { line: { color: look.series[0], width: 1 }, hovertemplate: "%{y:,}" });
    return plot(id, [ticks], overTime(look, data, axis(look, "ticks", { rangemode: "tozero" })));
  },

  state(id, data) {
    const look = colours();
    const traces = [];
    if (data.rows) traces.push(line("rows", data.x, data.rows, look.series[0], { hovertemplate: "%{y:,.0f} rows" }));
    if (data.megabytes) traces.push(line("memory", data.x, data.megabytes, look.series[1], { yaxis: "y2", hovertemplate: "%{y:,.2f} MB" }));
    const more = data.megabytes ? { yaxis2: rightAxis(look, "MB") } : {};
    return plot(id, traces, overTime(look, data, axis(look, "rows", { rangemode: "tozero" }), more));
  },

  "by-scale-factor": byScaleFactor,
  "latency-and-cost": latencyAndCost,

  "compared-percentiles": (id, data) => {
    const look = colours();
    const traces = data.runs.map((run, place) => percentileLine(harmless(run.name), run, look.series[place % 8]));
    return plot(id, traces, percentileLayout(look, data.range));
  },

  "compared-over-time": (id, data) => {
    const look = colours();
    const traces = data.runs.map((run, place) =>
      line(harmless(run.name), run.x, run.y, look.series[place % 8], { hovertemplate: "%{y:,.1f} ms" }));
    const xaxis = axis(look, "share of the trading day, %", { range: [0, 100], showgrid: false });
    return plot(id, traces, { xaxis, yaxis: axis(look, "p99 of the orders, ms", decades(data.range)) });
  },
};

function latencyOverTime(id, data) {
  const look = colours();
  const traces = [];
  if (data.dots) {
    const names = data.dots.name.map((place) => harmless(data.dots.names[place]));
    traces.push({
      type: "scatter", mode: "markers", name: data.dots.every ? "every order" : "orders, extremes of slots",
      x: data.dots.x, y: data.dots.y, text: names, marker: { size: 3.5, color: washed(look.series[7], 0.55) },
      hovertemplate: "%{y:,.1f} ms, %{text}", hoverinfo: "skip",
    });
  }
  traces.push(
    line("max", data.x, data.max, look.series[3], { line: { color: washed(look.series[3], 0.5), width: 3 }, hovertemplate: "%{y:,.1f} ms" }),
    line("p99", data.x, data.p99, look.series[1], { hovertemplate: "%{y:,.1f} ms" }),
    line("median", data.x, data.p50, look.series[0], { hovertemplate: "%{y:,.1f} ms" }),
  );
  const yaxis = axis(look, "latency, ms", data.range ? decades(data.range) : { rangemode: "tozero" });
  return plot(id, traces, overTime(look, data, yaxis));
}

function percentileLine(name, { x, y, percent }, color) {
  return line(name, x, y, color, { customdata: percent, hovertemplate: "%{y:,.1f} ms at p%{customdata:.4~f}", line: { color, width: 2 } });
}

function percentileLayout(look, range) {
  return {
    hovermode: "closest",
    xaxis: axis(look, "percentile (each further nine as wide as the nine before)", {
      type: "log", range: [0, 4.02], tickvals: [1, 2, 10, 100, 1000, 10000], ticktext: ["0", "50", "90", "99", "99.9", "99.99"],
    }),
    yaxis: axis(look, "latency, ms", decades(range)),
  };
}

/* Three panels with a common legend: the score, the latency that makes it, and what it costs. */
function byScaleFactor(id, data) {
  const look = colours();
  const panels = [["p_score", "x", "y", "%{y:,.2f}"], ["p99", "x2", "y2", "%{y:,.1f} ms"], ["cost", "x3", "y3", "%{y:,.2f} s"]];
  const traces = panels.flatMap(([value, xaxis, yaxis, hover]) => data.series.map(({ name, points, published }, place) => {
    const color = look.series[place % 8];
    return {
      type: "scatter", mode: "lines+markers", name: harmless(name), legendgroup: String(place), showlegend: value === "p_score", xaxis, yaxis,
      x: points.map((point) => point.sf), y: points.map((point) => point[value]), text: points.map((point) => harmless(point.label)),
      hovertemplate: `${hover}, %{text}`, line: { color, width: 1.8, dash: published ? "dot" : "solid" },
      marker: { size: 9, color: points.map((point) => (point.valid ? color : look.surface)), line: { color, width: 2 }, symbol: published ? "diamond" : "circle" },
    };
  }));
  const values = (name) => data.series.flatMap(({ points }) => points.map((point) => point[name]));
  const below = onPhone(); // panels below each other, not side by side
  const scale = (anchor, domain) => axis(look, "scale factor", { anchor, domain: below ? [0, 1] : domain, ...decades(values("sf")) });
  const figure = (anchor, domain, value, title) => axis(look, title, { anchor, domain: below ? domain : [0, 1], ...decades(values(value)) });
  return plot(id, traces, {
    hovermode: "closest", xaxis: scale("y", [0, 0.27]), xaxis2: scale("y2", [0.365, 0.635]), xaxis3: scale("y3", [0.73, 1]),
    yaxis: figure("x", [0.74, 1], "p_score", "p_score (higher is better)"),
    yaxis2: figure("x2", [0.37, 0.63], "p99", "99th percentile, ms (lower is better)"),
    yaxis3: figure("x3", [0, 0.26], "cost", "CPU s per million ticks (lower is better)"),
  });
}

/* Runs as dots, medians of points as diamonds, and the Pareto front as a line between medians. */
function latencyAndCost(id, data) {
  const look = colours();
  const places = (found) => ({ x: found.map((place) => place.cost), y: found.map((place) => place.p99) });
  const hovertemplate = "%{y:,.1f} ms, %{x:,.2f} s a million ticks, %{text}";
  const traces = [line("Pareto front of medians", ...Object.values(places(data.front)), look.muted, {
    line: { color: look.muted, width: 1.6, dash: "dot" }, hoverinfo: "skip",
  })];
  data.points.forEach(({ name, median, runs }, place) => {
    const color = look.series[place % 8];
    const marks = { type: "scatter", mode: "markers", name: harmless(name), legendgroup: String(place), hovertemplate };
    traces.push({
      ...marks, ...places(runs), text: runs.map((run) => harmless(run.name) + (run.valid ? "" : ", void")), showlegend: !median,
      marker: { size: 8, color: runs.map((run) => (run.valid ? washed(color, 0.5) : look.surface)), line: { color, width: 1.4 } },
    });
    if (median) {
      traces.push({
        ...marks, ...places([median]), text: [`median of ${harmless(name)}`],
        marker: { size: 14, symbol: "diamond", color, line: { color: look.ink, width: 1 } },
      });
    }
  });
  const scale = (value) => {
    const values = data.points.flatMap(({ runs }) => runs.map((run) => run[value]));
    return Math.max(...values) > 20 * Math.min(...values) ? decades(values) : { rangemode: "tozero" };
  };
  return plot(id, traces, {
    hovermode: "closest", xaxis: axis(look, "CPU s of the engine per million ticks (lower is better)", scale("cost")),
    yaxis: axis(look, "99th percentile, ms (lower is better)", scale("p99")),
  });
}
