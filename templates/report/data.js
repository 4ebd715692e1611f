/* The data of a report, and how it is put into words. Names that come from data only ever become text, never markup. */
"use strict";

// ---- The answers of strategies: packed arrays become typed arrays again; those of charts plotly reads itself ----------

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
  if (Array.isArray(value)) return Array.isArray(value[0]) ? value : Promise.all(value.map(unpackAll)); // rows are plain
  const entries = await Promise.all(Object.entries(value).map(async ([name, inner]) => [name, await unpackAll(inner)]));
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

// Plotly takes numbers below 10,000 on an axis of dates for years, so times are counted from some midnight.
const MIDNIGHT = Date.UTC(2000, 0, 1);
const moment = (milliseconds) => MIDNIGHT + milliseconds;
const moments = (times) => Float64Array.from(times, moment);

// ---- Words ---------------------------------------------------------------------------------------------------------

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const counted = (number, noun) => `${grouped.format(number)} ${noun}${number === 1 ? "" : "s"}`;
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
