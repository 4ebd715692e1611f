/* What all charts share: colours, axes, phases and lines. */

const drawn = new Map(); // by id: the function that draws the chart again
const PAPER_WIDTH = 690; // pixels between the margins of A4, or of a letter
const onPaper = () => document.documentElement.classList.contains("paper");
const PHONE = matchMedia("(max-width: 560px)"); // as in the style
const onPhone = () => PHONE.matches && !onPaper();

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
    title: { text: onPhone() ? title.replace(" (", "<br>(") : title, font: { size: 12, color: look.muted }, standoff: 8 },
    gridcolor: look.grid, linecolor: look.line, zerolinecolor: look.line, tickfont: { size: 11.5 }, automargin: true, ...more,
  };
}

function timeAxis(look, title, end, more = {}) {
  const tickformat = end < 3600e3 ? "%-M:%S" : "%-H:%M";
  const range = [moment(0), moment(end)];
  return axis(look, title, { type: "date", tickformat, hoverformat: "%-H:%M:%S", showgrid: false, nticks: onPhone() ? 5 : 8, range, ...more });
}

function plot(id, traces, layout) {
  const look = colours();
  const target = document.getElementById(id);
  const full = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: onPhone() ? { l: 40, r: 8, t: 44, b: 36 } : { l: 62, r: 18, t: 52, b: 40 },
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

/* The measurement interval as a band, the phases of the run by their borders and names; and when faults were injected. */
function phases(look, marks) {
  const shapes = [], annotations = [];
  const interval = marks.interval, measurement = onPhone() ? "measured" : "measurement interval";
  const measured = (phase) => phase.begin === interval?.begin && phase.end === interval?.end;
  const label = (phase, text, y) => annotations.push({
    xref: "x", yref: "paper", x: moment((phase.begin + phase.end) / 2), y, yanchor: "bottom", showarrow: false,
    text, font: { size: 11, color: look.muted },
  });
  if (interval) {
    shapes.push({
      type: "rect", xref: "x", yref: "paper", x0: moment(interval.begin), x1: moment(interval.end), y0: 0, y1: 1, fillcolor: look.interval,
      line: { width: 0 }, layer: "below",
    });
    if (!marks.phases.some(measured)) label(interval, measurement, 0);
  }
  for (const phase of marks.phases) {
    if (phase.begin > 0 && !measured(phase)) {
      shapes.push({
        type: "line", xref: "x", yref: "paper", x0: moment(phase.begin), x1: moment(phase.begin), y0: 0, y1: 1,
        line: { width: 1, dash: "dot", color: look.line }, layer: "below",
      });
    }
    if (phase.end - phase.begin > marks.end / 12) {
      label(phase, measured(phase) && phase.name === "measurement" ? measurement : harmless(phase.name), 1);
    }
  }
  for (const fault of marks.faults) {
    shapes.push({
      type: "line", xref: "x", yref: "paper", x0: moment(fault.at), x1: moment(fault.at), y0: 0, y1: 1,
      line: { width: 1.5, dash: "dash", color: look.series[3] }, layer: "above",
    });
    if (marks.faults.length <= 12) {
      annotations.push({
        xref: "x", yref: "paper", x: moment(fault.at), y: 0.98, xanchor: "left", yanchor: "top", showarrow: false, textangle: -90,
        text: `fault: ${harmless(fault.kind)}`, font: { size: 10, color: look.series[3] },
      });
    }
  }
  return { shapes, annotations };
}

function overTime(look, data, yaxis, more = {}) {
  const wall = timeAxis(look, "wall time since the first tick was due", data.marks.end);
  return { xaxis: wall, yaxis, ...phases(look, data.marks), ...more };
}

/* A dashed line across a chart: a limit that has a name. */
function markLevel(look, layout, level, name) {
  layout.shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: level, y1: level, line: { color: look.bad, width: 1, dash: "dash" } });
  layout.annotations.push({ xref: "paper", x: 1, y: level, xanchor: "right", yanchor: "bottom", showarrow: false, text: name, font: { size: 11, color: look.bad } });
}

const line = (name, x, y, color, more = {}) => ({
  type: "scatter", mode: "lines", name, x, y, line: { color, width: 1.6 }, ...more,
});

const area = (name, x, y, color) => ({
  type: "scatter", mode: "lines", stackgroup: "all", name, x, y, line: { color, width: 0.8 }, fillcolor: washed(color, 0.45),
});

/* A logarithmic axis with whole labels: 1, 2, 5, 10, or only the decades where there are many. */
function decades(values) {
  const above = values.filter((value) => value > 0);
  if (!above.length) return { type: "log" };
  const [least, greatest] = [Math.min(...above), Math.max(...above)];
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
