// What held each flow back, over time: a band for each flow, with the share of each interval that each limit took.
import { rows } from "./engine.js";
import { element, quantity, words } from "./format.js";
import { isDark, limitColor } from "./palette.js";
import { MOST, describe, flowsOf, options, tell } from "./plots.js";

/** @typedef {import("./engine.js").Result} Result */

const HEIGHT = 22;

/** The share of its time that each flow was held back by what. @param {Result} result @param {string[]} flows */
function shares(result, flows) {
  const of = rows(result.tables.flows).filter(({ label }) => flows.includes(label)).map((row) => {
    const limits = Object.entries(row).filter(([name, share]) => name.startsWith("limited_by_") && share > 0).sort(([, a], [, b]) => b - a);
    return `${row.label} ${limits.map(([name, share]) => `${words(name)} ${quantity(name, share)}`).join(", ")}`;
  });
  return `What held each flow back, over time: ${of.join("; ")}`;
}

export class Bands {
  /** @param {HTMLElement} place @param {import("./plots.js").Charts} charts */
  constructor(place, charts) {
    this.charts = charts;
    this.box = element("figure", { className: "chart", id: "chart-limits" });
    this.caption = element("figcaption");
    place.append(this.box);
    this.box.append(this.caption);
    /** @type {any} */
    this.plot = null;
    this.shape = "";
    /** What is painted. @type {{result: Result, flows: string[], lines: import("./engine.js").Line[], limits: string[]} | null} */
    this.shown = null;
  }

  /** @param {Result} result */
  draw(result) {
    const flows = flowsOf(result).slice(0, MOST);
    const of = result.lines.filter((line) => line.metric.startsWith("limited_by_") && flows.includes(line.entity));
    const limits = [...new Set(of.map((line) => line.metric))];
    this.box.hidden = !limits.length;
    this.shown = { result, flows, lines: of, limits };
    const shape = JSON.stringify([this.charts.wide, isDark(), flows, limits]);
    const data = [result.times, Array.from(result.times, () => null)];
    if (this.plot && this.shape === shape) {
      this.plot.setData(data, false);
      tell(this.plot, shares(result, flows));
      this.charts.rescale(this.plot);
      return;
    }
    this.shape = shape;
    this.caption.replaceChildren("Limited by ", ...limits.map((limit) => element("span", { className: "key" }, element("i", { style: `background:${limitColor(limit)}` }), words(limit))));
    this.plot?.destroy();
    this.charts.plots.delete("limits");
    this.plot = null;
    if (!limits.length) return;
    const made = options("", this.charts.wide, flows.length * HEIGHT + 34, String);
    made.scales.y = { range: () => [0, flows.length] };
    made.axes[1] = {
      ...made.axes[1], grid: { show: false }, ticks: { show: false }, splits: () => flows.map((_, index) => flows.length - index - 0.5),
      values: () => flows.map((flow) => (flow.length > 9 ? `${flow.slice(0, 8)}…` : flow)),
    };
    made.legend = { show: false };
    made.series.push({ show: true, stroke: "transparent", points: { show: false } });
    made.hooks = {
      drawAxes: [(/** @type {any} */ plot) => this.paint(plot)],
      setScale: [(/** @type {any} */ plot, /** @type {string} */ scale) => scale === "x" && this.charts.follow(plot)],
    };
    // @ts-expect-error the library is a script before this one
    this.plot = new uPlot(made, data, this.box);
    describe(this.plot, shares(result, flows));
    this.charts.plots.set("limits", this.plot);
    this.charts.rescale(this.plot);
  }

  /** @param {any} plot */
  paint(plot) {
    if (!this.shown) return;
    const { result, flows, lines, limits } = this.shown;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = isDark() ? 0.85 : 0.9;
    flows.forEach((flow, row) => {
      const of = limits.flatMap((limit) => lines.filter((line) => line.entity === flow && line.metric === limit));
      const top = plot.valToPos(flows.length - row - 0.12, "y", true);
      const height = plot.valToPos(flows.length - row - 0.88, "y", true) - top;
      /** Rectangles that may go on. @type {{left: number, right: number, from: number, share: number, color: string}[]} */
      const open = of.map(({ metric }) => ({ left: 0, right: 0, from: 0, share: 0, color: limitColor(metric) }));
      const fill = (/** @type {typeof open[number]} */ { left, right, from, share, color }) => {
        ctx.fillStyle = color;
        if (share > 0) ctx.fillRect(left, top + from * height, right - left, share * height);
      };
      result.times.forEach((time, index) => {
        // Whole pixels: nothing shows between two rectangles.
        const left = Math.round(plot.valToPos(time - result.interval, "x", true));
        const right = Math.round(plot.valToPos(time, "x", true));
        if (right < bbox.left || left > bbox.left + bbox.width) return;
        let from = 0;
        of.forEach((line, place) => {
          const share = Math.min(1 - from, (line.values[index] || 0) / result.interval);
          const before = open[place];
          if (before.right === left && Math.abs(before.from - from) < 1e-6 && Math.abs(before.share - share) < 1e-6) before.right = right;
          else {
            fill(before);
            open[place] = { ...before, left, right, from, share };
          }
          from += share;
        });
      });
      open.forEach(fill);
    });
    ctx.restore();
  }
}
