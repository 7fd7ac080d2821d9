// Charts over simulated time, which share their axis, their zoom and their cursor.
import { rows } from "./engine.js";
import { element, quantity } from "./format.js";
import { colors, isDark, isPrinted, ranked } from "./palette.js";

/** @typedef {import("./engine.js").Result} Result */
/** @typedef {{label: string, metric: string, color: string, dash?: number[], values: Float64Array, pale?: boolean, together?: boolean}} Drawn */

/** Lines of one chart, at most: more cannot be told apart. */
export const MOST = 8;
/** What axes take at the left, in pixels: the same everywhere, so that times stand below each other. */
const LEFT = 76;
/** A gap is so many times as long as half of the distances between samples, or longer. */
const LONG = 5;
/** A link has a colour before others that is at least so busy, of what the busiest is (plots/palette.py). */
const NEARLY = 0.5;
/** More lines than that are told apart by the key above the charts, not by a legend below each. */
const LEGEND = 6;

/** What a sheet has room for between its margins, A4 or Letter, in pixels. */
const SHEET = 690;

/** How wide a drawing is, in pixels. @param {HTMLElement} place */
export const room = (place) => (isPrinted() ? SHEET : Math.max(280, place.clientWidth));

const ink = () => (isDark() ? "#a0a8b2" : "#59616b");
const grid = () => (isDark() ? "#2b3137" : "#e6e9ed");

/** Flows that are drawn: the first ones. @param {Result} result */
export const flowsOf = (result) => [...new Set(result.lines.filter((line) => line.flow).map((line) => line.entity))];

/** @type {{result: Result | null, dark: boolean, found: Map<string, string>}} */
let painted = { result: null, dark: false, found: new Map() };

/** The colours of a run's flows and links. @param {Result} result */
export function paints(result) {
  if (painted.result !== result || painted.dark !== isDark()) {
    const links = rows(result.tables.links), most = Math.max(...links.map(({ utilization }) => utilization));
    const named = (/** @type {boolean} */ busy) => links.filter(({ utilization }) => (utilization >= NEARLY * most) === busy).map(({ link }) => link);
    const flows = rows(result.tables.flows).map(({ label }) => label);
    painted = { result, dark: isDark(), found: colors([], [...ranked([...flows, ...named(true)]), ...ranked(named(false))]) };
  }
  return painted.found;
}

/** Links that are drawn: those where packets waited longest, in the order of the scenario. @param {Result} result */
export function linksOf(result) {
  const queues = result.lines.filter((line) => !line.flow && line.metric === "queue_packets");
  const longest = new Map(queues.map((line) => [line.entity, line.values.reduce((most, value) => Math.max(most, value || 0), 0)]));
  const chosen = [...longest].filter(([, most]) => most > 0).sort((a, b) => b[1] - a[1]).slice(0, 4).map(([entity]) => entity);
  return queues.map((line) => line.entity).filter((entity) => chosen.includes(entity));
}

/**
 * Lines of one metric.
 * @param {Result} result
 * @param {string} metric
 * @param {string[]} entities
 * @param {Partial<Drawn>} [more]
 * @returns {Drawn[]}
 */
function lines(result, metric, entities, more = {}) {
  const paint = paints(result);
  return entities.slice(0, MOST).flatMap((entity) => {
    const line = result.lines.find((each) => each.entity === entity && each.metric === metric);
    return line ? [{ label: entity, metric, color: paint.get(entity) ?? ink(), values: line.values, ...more }] : [];
  });
}

/** A name beside its colour. @param {string} name @param {string} [color] */
const key = (name, color) => element("span", { className: "key" }, element("i", { style: `background:${color}` }), name);

/** The goodput of all flows. @param {Result} result @returns {Drawn[]} */
function sum(result) {
  const of = result.lines.filter((line) => line.metric === "goodput_bps");
  if (of.length < 2) return [];
  const values = new Float64Array(result.times.length);
  for (const line of of) line.values.forEach((value, index) => (values[index] += value || 0));
  return [{ label: `all ${of.length} flows`, metric: "goodput_bps", color: isDark() ? "#e4e7eb" : "#1b1f24", values, together: true }];
}

/** @type {{id: string, title: string, column: string, of: (result: Result) => Drawn[]}[]} */
export const CHARTS = [
  {
    id: "window", title: "Congestion window (solid) and packets in flight (dashed)", column: "packets",
    of: (result) => [...lines(result, "cwnd_packets", flowsOf(result)), ...lines(result, "in_flight_packets", flowsOf(result), { dash: [4, 3] })],
  },
  { id: "queue", title: "Packets waiting at links", column: "packets", of: (result) => lines(result, "queue_packets", linksOf(result)) },
  { id: "rate", title: "Goodput", column: "goodput_bps", of: (result) => [...lines(result, "goodput_bps", flowsOf(result)), ...sum(result)] },
  { id: "load", title: "Utilization of links", column: "utilization", of: (result) => lines(result, "utilization", linksOf(result)) },
  { id: "delay", title: "One-way delay", column: "one_way_delay_s", of: (result) => lines(result, "one_way_delay_s", flowsOf(result)) },
];

/**
 * Where an axis ends. Peaks that are rare and would hide all else are cut off: goodput comes all at once when what was
 * missing arrives. What exceeds all that links carried is such a peak, unless it is usual, as where links share the work.
 * @param {Drawn[]} drawn @param {number} [carried] the most that a link carried in an interval
 */
function ceiling(drawn, carried) {
  const sorted = drawn.map(({ values }) => Float64Array.from(values.filter((value) => value > 0)).sort());
  const quantile = (/** @type {number} */ part) => Math.max(0, ...sorted.map((values) => values[Math.floor(values.length * part)] ?? 0));
  const most = Math.max(0, ...sorted.map((values) => values[values.length - 1] ?? 0));
  const usual = Math.max(carried || Infinity, quantile(0.9));
  if (most > 1.2 * usual) return { end: 1.2 * usual, cut: true };
  const typical = quantile(0.98);
  return most > 3 * typical ? { end: 1.5 * typical, cut: true } : { end: 1.06 * most || 1, cut: false };
}

/** The most that a link carried in an interval, in bits per second: how busy it was, of what it sent when it was busy. @param {Result} result */
function carried(result) {
  const links = new Map(rows(result.tables.links).map((row) => [row.link, row]));
  const most = result.lines.filter((line) => !line.flow && line.metric === "utilization").map((line) => {
    const { bytes_out: bytes, utilization } = links.get(line.entity) ?? {};
    return utilization > 0 ? (8 * bytes * line.values.reduce((one, other) => Math.max(one, other || 0), 0)) / (utilization * result.times[result.times.length - 1]) : 0;
  });
  return Math.max(0, ...most);
}

/** Losses at links, or marks of flows: when there were any. @param {Result} result @param {string} metric */
export function ticks(result, metric) {
  const when = new Set();
  for (const line of result.lines.filter((each) => each.metric === metric)) {
    line.values.forEach((value, index) => value > 0 && when.add(index));
  }
  return [...when].map((index) => result.times[index]);
}

/**
 * What a line goes over, and where it is interrupted: nothing was sampled for five times as long as usual (plots/gaps.py).
 * @param {Float64Array} values
 */
function gaps(values) {
  if (!values.some(Number.isNaN)) return values;
  const there = [...values.keys()].filter((place) => !Number.isNaN(values[place]));
  const apart = there.slice(1).map((place, index) => place - there[index]);
  const usual = [...apart].sort((a, b) => a - b)[apart.length >> 1];
  /** @type {(number | null | undefined)[]} */
  const found = Array.from(values, (value) => (Number.isNaN(value) ? undefined : value));
  apart.forEach((distance, index) => distance > LONG * usual && found.fill(null, there[index] + 1, there[index + 1]));
  return found;
}

/**
 * Axes and cursor of a chart over time.
 * @param {string} title
 * @param {number} width
 * @param {number} height
 * @param {(value: number) => string} write
 * @returns {any}
 */
export function options(title, width, height, write) {
  const axis = { stroke: ink(), grid: { stroke: grid(), width: 1 }, ticks: { stroke: grid(), width: 1 }, font: "11px system-ui" };
  return {
    title, width, height, padding: [8, 14, 0, 0],
    scales: { x: { time: false }, y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, most > 0 ? most * 1.06 : 1] } },
    axes: [
      { ...axis, size: 30, values: (/** @type {any} */ _, /** @type {number[]} */ values) => values.map((value) => `${Number(value.toPrecision(6))} s`) },
      { ...axis, size: LEFT, values: (/** @type {any} */ _, /** @type {number[]} */ values) => values.map(write) },
    ],
    cursor: { sync: { key: "lab", setSeries: false }, drag: { x: true, y: false, setScale: true } },
    legend: { live: true },
    hooks: {},
    series: [{ label: "time", value: (/** @type {any} */ _, /** @type {number | null} */ value) => (value == null ? "–" : `${Number(value.toPrecision(6))} s`) }],
  };
}

/** What a line is called. @param {Drawn} line */
const called = ({ label, metric }) => (metric === "in_flight_packets" ? `${label} in flight` : label);

/** The lines of a chart in words: between what each lies, its mean, and where it ends. @param {Drawn[]} drawn @param {(value: number) => string} write */
function inWords(drawn, write) {
  const of = drawn.map((line) => {
    const there = line.values.filter((value) => !Number.isNaN(value));
    if (!there.length) return `${called(line)} nothing`;
    const [least, most] = there.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    const mean = there.reduce((sum, value) => sum + value, 0) / there.length;
    return `${called(line)} ${write(least)} to ${write(most)}, ${write(mean)} on average, ${write(there[there.length - 1])} at the end`;
  });
  return of.join("; ");
}

/** Says what a chart shows. @param {any} plot @param {string} text */
export function tell(plot, text) {
  const drawn = plot.root.querySelector(".u-wrap");
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", text);
}

/** Says what a chart shows, and lets keys hide its lines as a click on their names does. @param {any} plot @param {string} text */
export function describe(plot, text) {
  tell(plot, text);
  // The first row is the time.
  for (const row of [...plot.root.querySelectorAll(".u-legend .u-series")].slice(1)) {
    const name = row.querySelector(".u-label");
    const pressed = () => name.setAttribute("aria-pressed", String(!row.classList.contains("u-off")));
    name.setAttribute("role", "button");
    name.tabIndex = 0;
    name.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      name.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
    row.addEventListener("click", pressed);
    pressed();
  }
}

export class Charts {
  /**
   * @param {HTMLElement} place
   * @param {(from: number, to: number) => void} zoomed
   */
  constructor(place, zoomed) {
    this.place = place;
    this.zoomed = zoomed;
    /** @type {Map<string, any>} */
    this.plots = new Map();
    /** @type {Map<string, string>} */
    this.shapes = new Map();
    /** @type {Map<string, number>} */
    this.ends = new Map();
    /** @type {[number, number] | null} */
    this.range = null;
    this.busy = false;
    // Looked up once for each run: every look has the browser lay out what was drawn until then.
    this.wide = 0;
    this.key = element("p", { className: "flows" });
    place.append(this.key);
    this.boxes = new Map(CHARTS.map(({ id, title }) => {
      const box = element("figure", { className: "chart", id: `chart-${id}` });
      box.append(element("figcaption", {}, title));
      place.append(box);
      return [id, box];
    }));
  }

  get width() {
    return room(this.place);
  }

  /**
   * Draws a run, and a pinned one palely behind it.
   * @param {Result} result
   * @param {Result | null} pinned
   */
  draw(result, pinned) {
    this.result = result;
    this.pinned = pinned;
    this.wide = this.width;
    if (this.range && this.range[1] > this.whole[1]) this.range = null;
    const flows = flowsOf(result);
    const paint = paints(result);
    const named = flows.slice(0, MOST).map((flow) => key(flow, paint.get(flow)));
    this.key.replaceChildren(...(flows.length > 1 ? ["Flows", ...named, flows.length > MOST ? ` and ${flows.length - MOST} more` : ""] : []));
    for (const chart of CHARTS) {
      const drawn = chart.of(result);
      // The samples of a run of another duration are at other times.
      const other = pinned && pinned.times.length === result.times.length && pinned.interval === result.interval ? chart.of(pinned).map((line) => ({ ...line, label: `A ${line.label}`, pale: true })) : [];
      this.show(chart, [...drawn, ...other]);
    }
  }

  /** @param {typeof CHARTS[number]} chart @param {Drawn[]} drawn */
  show(chart, drawn) {
    const box = /** @type {HTMLElement} */ (this.boxes.get(chart.id));
    box.hidden = drawn.length === 0;
    const { end, cut } = ceiling(drawn, chart.id === "rate" && this.result ? carried(this.result) : undefined);
    this.ends.set(chart.id, end);
    const title = cut ? `${chart.title} (peaks cut off: what waited behind a hole counts when the hole is filled)` : chart.title;
    // The key above the charts has flows only.
    const others = drawn.length > LEGEND ? drawn.filter(({ together }) => together).map((line) => key(called(line), line.color)) : [];
    /** @type {HTMLElement} */ (box.firstElementChild).replaceChildren(title, ...others);
    const shape = JSON.stringify([this.wide, isDark(), drawn.map(({ label, metric, pale, color }) => [label, metric, pale, color])]);
    const data = [this.result?.times, ...drawn.map(({ values }) => gaps(values))];
    const known = this.plots.get(chart.id);
    const write = (/** @type {number} */ value) => quantity(chart.column, value);
    const text = `${chart.title}, over time: ${inWords(drawn, write)}`;
    if (known && this.shapes.get(chart.id) === shape) {
      known.setData(data, false);
      tell(known, text);
      this.rescale(known);
      return;
    }
    known?.destroy();
    this.shapes.set(chart.id, shape);
    if (!drawn.length) return void this.plots.delete(chart.id);
    const made = options("", this.wide, 190, write);
    made.scales.y.range = () => [0, this.ends.get(chart.id)];
    // Lines of one pixel: wider ones take a browser without a graphics processor several times as long.
    made.series.push(...drawn.map((line) => ({
      label: called(line), stroke: line.pale ? `${line.color}77` : line.color,
      width: 1, dash: line.pale ? [2, 3] : line.dash, points: { show: false },
      value: (/** @type {any} */ _, /** @type {number | null} */ value) => (value == null ? "–" : write(value)),
    })));
    if (drawn.length > LEGEND) made.legend = { show: false };
    made.hooks = {
      draw: [(/** @type {any} */ plot) => this.drawTicks(plot, chart.id)],
      setScale: [(/** @type {any} */ plot, /** @type {string} */ scale) => scale === "x" && this.follow(plot)],
    };
    // @ts-expect-error the library is a script before this one
    const plot = new uPlot(made, data, box);
    describe(plot, text);
    this.plots.set(chart.id, plot);
    this.rescale(plot);
  }

  /** @param {any} plot */
  rescale(plot) {
    this.busy = true;
    const [from, to] = this.range ?? this.whole;
    plot.setScale("x", { min: from, max: to });
    this.busy = false;
  }

  /** @returns {[number, number]} */
  get whole() {
    const times = this.result?.times ?? new Float64Array(0);
    return [0, times.length ? times[times.length - 1] : 1];
  }

  /** Zooms the others as one of them was. @param {any} plot */
  follow(plot) {
    if (this.busy || !this.result) return;
    const [low, high] = this.whole;
    const { min, max } = plot.scales.x;
    this.zoom(min <= low + 1e-12 && max >= high - 1e-12 ? null : [Math.max(low, min), Math.min(high, max)], plot);
  }

  /** Shows a part of the time that is shown, or more; for keys and fingers, which drag nothing. @param {number} share @param {number} [shift] of that part */
  part(share, shift = 0) {
    const [low, high] = this.whole;
    const [from, to] = this.range ?? this.whole;
    const wide = share * (to - from);
    if (wide >= high - low) return this.zoom(null);
    const begin = Math.min(Math.max((from + to - wide) / 2 + shift * wide, low), high - wide);
    this.zoom([begin, begin + wide]);
  }

  /** @param {[number, number] | null} range @param {any} [from] */
  zoom(range, from) {
    this.range = range;
    const [low, high] = range ?? this.whole;
    queueMicrotask(() => {
      for (const plot of this.plots.values()) if (plot !== from) this.rescale(plot);
      this.zoomed(low, high);
    });
  }

  /** Ticks where packets were lost, or marked. @param {any} plot @param {string} id */
  drawTicks(plot, id) {
    if (!this.result || (id !== "queue" && id !== "window")) return;
    const { ctx, bbox } = plot;
    ctx.save();
    for (const [metric, paint] of id === "queue" ? [["packets_dropped", isDark() ? "#ff8078" : "#b3261e"]] : [["packets_marked", "#d68a00"]]) {
      ctx.strokeStyle = paint;
      ctx.lineWidth = devicePixelRatio;
      ctx.beginPath();
      for (const time of ticks(this.result, metric)) {
        const x = plot.valToPos(time, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + 7 * devicePixelRatio);
      }
      ctx.stroke();
    }
    ctx.restore();
  }
}

