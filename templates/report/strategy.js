/* A strategy up close. */

class StrategyView {
  constructor(data, incorrect) {
    this.data = data;
    this.names = data.strategies.map(([name]) => name);
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

  /* Start where there is something to see: the first strategy that went wrong, else the strategy with most orders. */
  first(found) {
    if (found.firstErrors.length && this.names.includes(found.firstErrors[0][0])) return found.firstErrors[0][0];
    const starts = this.data.orders.starts;
    const counts = this.names.map((_, place) => starts[place + 1] - starts[place]);
    return this.names[counts.indexOf(Math.max(...counts))];
  }

  indicators() {
    const { starts, time, ratio, avgRatio, upperBand } = this.data.indicators;
    const [begin, end] = [starts[this.place], starts[this.place + 1]];
    const values = (column) => restored(column, this.place, begin, end);
    const [mean, upper] = [values(avgRatio), values(upperBand)];
    return { time: time.slice(begin, end), ratio: values(ratio), mean, upper, lower: mean.map((value, row) => 2 * value - upper[row]) };
  }

  orders() {
    const { starts, time, buy, symbol, symbols, price, size } = this.data.orders;
    const found = [];
    for (let row = starts[this.place]; row < starts[this.place + 1]; row++) {
      found.push({ time: time[row], buy: buy[row] === 1, symbol: symbols[symbol[row]], price: price[row], size: size[row] });
    }
    return found.sort((first, second) => first.time - second.time || first.buy - second.buy); // what is sold comes before what is bought
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
    const [alias, user, funds, symbol1, symbol2, period, periods, multiplier, stop] = this.data.strategies[this.place];
    const known = symbol1 !== "";
    const orders = this.orders(), indicators = this.indicators();
    const trades = classified(orders, this.data.marketClose);
    const given = this.data.indicators.given[this.place];
    const thinned = given > indicators.time.length ? `, ${grouped.format(indicators.time.length)} of them drawn with all extremes` : "";
    document.getElementById("strategy-parameters").textContent = [
      known ? `${alias}${user ? ` of ${user}` : ""} watches ${symbol1} and ${symbol2}` : alias,
      known ? `windows of ${period / 1000} s, bands of ${multiplier} standard deviations over ${periods} windows, stop-loss at ${stop * 100} %, funds ${grouped.format(funds / 100)}` : "its parameters are gone with the dataset",
      `${counted(given, "indicator")}${thinned}, ${counted(orders.length, "order")}`,
    ].join("; ") + ".";
    return plot("strategy", this.traces(indicators, trades, known, funds, symbol1, symbol2), this.layout(trades, symbol1, symbol2));
  }

  traces(indicators, trades, known, funds, symbol1, symbol2) {
    const look = colours();
    const [first, second] = [this.prices(symbol1), this.prices(symbol2)];
    const x = moments(indicators.time);
    const price = (symbol, { x, y }, color, yaxis) => line(harmless(symbol), x, y, color, { yaxis, hovertemplate: "%{y:,.2f}" });
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

function restored(column, place, begin, end) {
  const low = column.low[place], span = column.high[place] - low;
  return Array.from(column.steps.subarray(begin, end), (step) => (step === NOTHING ? null : low + (step / (NOTHING - 1)) * span));
}

/* Orders of the same moment belong together: sell and buy is a change of sides, sell alone a stop-loss or the close. */
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
