/* Tables that can be searched and sorted: incorrect answers, first errors, runs side by side. */

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
    return rows.sort((first, second) => sign * compare(first[place], second[place]));
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

function compare(first, second) {
  if (first === null || second === null) return (first === null) - (second === null);
  if (typeof first === "number" && typeof second === "number") return first - second;
  return String(first).localeCompare(String(second), "en", { numeric: true });
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
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
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

// ---- Latency by group ---------------------------------------------------------------------------------------------------

function showLatencyGroups(found, choose) {
  const figure = (value) => (value === null ? "–" : grouped.format(value));
  const figures = ["orders", "p50, ms", "p99, ms", "max, ms"].map((title) => ({ title, show: figure }));
  const pair = { title: "pair", text: true };
  const strategy = [{ title: "strategy", text: true, link: choose }, pair, { title: "period, s", show: figure }, ...figures];
  const show = (id, columns, rows, all) => {
    const target = document.getElementById(id);
    const note = rows.length < all ? `Those with the worst latency are here, of ${grouped.format(all)}.` : "";
    return target && new DataTable(target, columns, rows, note);
  };
  show("slowest-strategies", strategy, found.slowest, 0)?.search.parentElement.remove();
  show("pair-latency", [pair, ...figures], found.pairs, found.allPairs);
  show("strategy-latency", strategy, found.strategies, found.allStrategies);
}

// ---- Comparison --------------------------------------------------------------------------------------------------------

function showRuns(runs) {
  const target = document.getElementById("runs-table");
  if (!target || !runs) return;
  const figure = (value) => (value === null ? "–" : grouped.format(value));
  const [text, number] = [(title) => ({ title, text: true }), (title) => ({ title, show: figure })];
  new DataTable(target, [
    text("run"), text("engine, plan (class)"), number("SF"), number("p_score"), number("from"), number("to"), text("score"), text("answers"),
    text("standard"), number("load"), number("p50, ms"), number("p99, ms"), number("p99.9, ms"), number("max, ms"), number("orders"),
    number("triggers"), number("CPU s per million ticks"),
  ], runs);
}
