// One slider over all of its positions, in a worker of its own: one curve.
import { element, quantity } from "./format.js";
import { result, Stopped } from "./engine.js";
import { METRICS } from "./totals.js";
import { color } from "./palette.js";
import { describe, options } from "./plots.js";

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
    this.which = element("select", { ariaLabel: "what is swept" }, ...given.sliders.map(({ key }, index) => element("option", { value: String(index) }, key)));
    this.metrics = METRICS.filter(([, column]) => column !== "completion_s" || given.timed);
    this.metric = element("select", { ariaLabel: "what is drawn" }, ...this.metrics.map(([name], index) => element("option", { value: String(index) }, name)));
    this.button = element("button", { type: "button", onclick: () => (this.going ? this.end() : this.start()) }, "Sweep");
    this.said = element("span", { className: "said", role: "status" });
    this.box = element("figure", { className: "chart" });
    place.append(element("div", { className: "tools" }, element("label", {}, "over ", this.which), element("label", {}, "draw ", this.metric), this.button, this.said), this.box);
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
    for (const place of places) {
      const positions = this.positions().map((own, index) => (index === slider ? place : own));
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
    const { texts, key } = this.given.sliders[this.swept];
    const [name, column, value] = this.metrics[Number(this.metric.value)];
    const write = (/** @type {number} */ number) => quantity(column, number);
    const made = options(`${name} over ${key}`, Math.max(280, this.box.clientWidth), 230, write);
    // The last position's words stand around the end of the axis.
    made.padding = [8, 48, 0, 0];
    made.cursor = { drag: { x: false, y: false } };
    made.axes[0] = { ...made.axes[0], values: (/** @type {any} */ _, /** @type {number[]} */ values) => values.map((place) => (Number.isInteger(place) ? texts[place] ?? "" : "")) };
    made.series[0] = { label: key, value: (/** @type {any} */ _, /** @type {number | null} */ place) => (place == null ? "–" : texts[place]) };
    made.series.push({ label: name, stroke: color(0), width: 1.5, points: { show: true, size: 6 }, value: (/** @type {any} */ _, /** @type {number | null} */ number) => (number == null ? "–" : write(number)) });
    this.plot?.destroy();
    const points = this.found.map(([place, each]) => [place, each && value(each)]);
    // @ts-expect-error the library is a script before this one
    this.plot = new uPlot(made, [points.map(([place]) => place), points.map(([, number]) => number)], this.box);
    const told = (/** @type {import("./engine.js").Result | null} */ each) => {
      const number = each && value(each);
      return number === null ? (each ? "nothing" : "an error") : write(number);
    };
    const said = this.found.map(([place, each]) => `${texts[place]}: ${told(each)}`);
    describe(this.plot, `${name} over ${key}: ${said.join("; ")}`);
  }
}
