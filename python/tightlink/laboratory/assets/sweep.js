// One slider over all of its positions, in its own worker: a curve of each flow, or of all.
import { element, quantity } from "./format.js";
import { result, Stopped } from "./engine.js";
import { METRICS } from "./totals.js";
import { color } from "./palette.js";
import { MOST, describe, options, paints, room } from "./plots.js";
import { named } from "./controls.js";

/** @typedef {import("./lab.js").Given} Given */

/** Positions of a slider that are simulated, at most. */
const POSITIONS = 25;

export class Sweep {
  /**
   * @param {HTMLElement} place
   * @param {Given} given
   * @param {() => import("./engine.js").Engine} make
   * @param {() => number[]} positions
   */
  constructor(place, given, make, positions) {
    this.given = given;
    this.make = make;
    this.positions = positions;
    this.plot = null;
    /** @type {import("./engine.js").Engine | null} */
    this.engine = null;
    this.going = false;
    this.which = element("select", { ariaLabel: "what is swept" }, ...given.sliders.map((slider, index) => element("option", { value: String(index), title: slider.key }, named(slider))));
    this.metrics = METRICS.filter(([, column]) => column !== "completion_s" || given.timed);
    this.metric = element("select", { ariaLabel: "what is drawn" }, ...this.metrics.map(([name], index) => element("option", { value: String(index) }, name)));
    this.button = element("button", { type: "button", onclick: () => (this.going ? this.end() : this.start()) }, "Sweep");
    this.said = element("span", { className: "said", role: "status" });
    this.box = element("figure", { className: "chart" });
    place.append(element("div", { className: "tools" }, element("label", {}, "over ", this.which), element("label", {}, "draw ", this.metric), this.button, this.said), this.box);
    this.place = place;
    this.metric.addEventListener("change", () => this.draw());
    /** @type {[number, import("./engine.js").Result | null][]} */
    this.found = [];
  }

  end() {
    this.going = false;
    this.engine?.stop();
  }

  async start() {
    const slider = Number(this.which.value);
    const { texts, start } = this.given.sliders[slider];
    const step = Math.max(1, Math.ceil(texts.length / POSITIONS));
    const places = texts.map((_, index) => index).filter((index) => index % step === 0 || index === start || index === texts.length - 1);
    this.engine ??= this.make();
    this.going = true;
    this.button.textContent = "Stop";
    this.found = [];
    this.swept = slider;
    // Who moves another slider meanwhile still sees one curve.
    const begun = [...this.positions()];
    for (const place of places) {
      const positions = begun.map((own, index) => (index === slider ? place : own));
      try {
        const answer = await this.engine.run({ positions });
        this.found.push([place, answer.ok ? result(positions, answer) : null]);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
      }
      if (!this.going) break;
      this.said.textContent = `${this.found.length} of ${places.length}`;
      this.draw();
    }
    this.said.textContent = this.going ? `${this.found.length} runs` : `stopped after ${this.found.length} runs`;
    this.going = false;
    this.button.textContent = "Sweep";
    this.draw();
  }

  draw() {
    if (!this.found.length || this.swept === undefined) return;
    const swept = this.given.sliders[this.swept];
    const { texts } = swept;
    const [name, column, lines] = this.metrics[Number(this.metric.value)];
    const write = (/** @type {number | null | undefined} */ number) => (number == null ? "–" : quantity(column, number));
    /** The values at each position, by the labels of the lines. @type {[number, Map<string, number | null> | null][]} */
    const points = this.found.map(([place, each]) => [place, each && new Map(lines(each))]);
    const labels = [...new Set(points.flatMap(([, values]) => [...(values ?? new Map()).keys()]))];
    const drawn = labels.slice(0, MOST);
    const title = `${name} over ${named(swept)}${labels.length > MOST ? ` (${MOST} of ${labels.length})` : ""}`;
    const made = options(title, room(this.place), 230, write);
    // The last position's words stand around the end of the axis.
    made.padding = [8, 48, 0, 0];
    made.cursor = { drag: { x: false, y: false } };
    made.axes[0] = { ...made.axes[0], values: (/** @type {any} */ _, /** @type {number[]} */ values) => values.map((place) => (Number.isInteger(place) ? texts[place] ?? "" : "")) };
    made.series[0] = { label: named(swept), value: (/** @type {any} */ _, /** @type {number | null} */ place) => (place == null ? "–" : texts[place]) };
    made.series.push(...drawn.map((label) => {
      const first = this.found.find((_, index) => points[index][1]?.has(label))?.[1];
      return { label: label || name, stroke: (label && first && paints(first).get(label)) || color(0), width: 1.5, points: { show: true, size: 6 }, value: (/** @type {any} */ _, /** @type {number | null} */ number) => write(number) };
    }));
    this.plot?.destroy();
    // @ts-expect-error the library is a script before this one
    this.plot = new uPlot(made, [points.map(([place]) => place), ...drawn.map((label) => points.map(([, values]) => values?.get(label) ?? null))], this.box);
    const said = points.map(([place, values]) => {
      const told = drawn.filter((label) => values?.has(label)).map((label) => `${label && `${label} `}${write(values?.get(label))}`);
      return `${texts[place]}: ${values ? told.join(", ") : "an error"}`;
    });
    describe(this.plot, `${title}: ${said.join("; ")}`);
  }
}
