/* Puts the page together. */

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
  return (name) => { view.choose(name); document.getElementById("strategies").scrollIntoView(); };
}

function redrawAll() {
  return Promise.all([...drawn.values()].map((draw) => draw()));
}

/* Follow the reader's preference for light or dark, and the width of a phone; paper is light, and narrower than most screens. */
function followPreferences() {
  for (const query of [matchMedia("(prefers-color-scheme: dark)"), PHONE]) query.addEventListener("change", redrawAll);
  const printing = (begins) => { document.documentElement.classList.toggle("paper", begins); redrawAll(); };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
}

async function main() {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  report.strategies = await unpackAll(report.strategies ?? null);
  await drawCharts(report);
  const choose = await showStrategies(report);
  if (report.latencyGroups) showLatencyGroups(report.latencyGroups, choose);
  if (report.incorrect) {
    showIncorrect(report.incorrect, choose);
    showFirstErrors(report.incorrect, choose);
  }
  showRuns(report.runs);
  followPreferences();
  document.documentElement.setAttribute("data-ready", "true");
}

main();
