// The page: a scenario, its sliders, and what every packet of it does.
import { element, quantity, time } from "./format.js";
import { Engine, Stopped, result, unpacked } from "./engine.js";
import { isDark, onPaper, usePalette } from "./palette.js";
import { Charts } from "./plots.js";
import { Bands } from "./bands.js";
import { showTotals, spoken } from "./totals.js";
import { Packets } from "./packets.js";
import { Sweep } from "./sweep.js";
import { csvOf, pictureOf, save, tomlOf, vectorsOf } from "./exports.js";
import { Controls } from "./controls.js";

/**
 * @typedef {{title: string, duration: string, version: string, text: string, template: string, totals: import("./totals.js").Shown, timed: boolean, palette: import("./palette.js").Palette,
 *   sliders: {key: string, texts: string[], literals: (string | null)[], start: number, choice: boolean, errors: Record<string, string>}[]}} Given
 * @typedef {import("./engine.js").Result} Result
 */

/** Samples of each line. */
const SAMPLES = 600;
/** What a run takes before it is worth a word, in milliseconds. */
const QUIET = 400;
/** How long sliders rest before the address says where they are: browsers refuse to change it all the time. */
const REST = 300;

/**
 * Opens a laboratory in an element.
 * @param {HTMLElement} root
 * @param {Given} given
 * @param {string} scenario the scenario and what sliders change in it: text for the engine, as it has numbers that JavaScript rounds
 * @param {string | BlobPart} packed the engine
 * @param {string} worker
 * @param {{fragment?: boolean, positions?: number[], ran?: (result: Result) => void}} [more] whether the address carries the
 *   state; where the sliders begin; who is told of each run
 */
async function openLab(root, given, scenario, packed, worker, more = {}) {
  usePalette(given.palette);
  root.classList.add("lab");
  const section = (/** @type {string} */ name, /** @type {string} */ title) => element("section", { className: name, ariaLabel: title });
  const panel = section("panel", "sliders");
  const shown = section("shown", "what came out");
  const status = element("p", { className: "status", role: "status" });
  const stop = element("button", { type: "button", hidden: true }, "Stop");
  const totals = element("div", { className: "totals" });
  const charts_ = element("div", { className: "charts" });
  const packets_ = element("details", { className: "more" }, element("summary", {}, "Single packets"));
  const sweep_ = element("details", { className: "more" }, element("summary", {}, "Sweep one slider"));
  const tools = element("div", { className: "tools" });
  const text = element("div", { className: "text" });
  const lead = element("p", { className: "lead" });
  text.innerHTML = given.text;
  root.replaceChildren(
    element("header", {}, element("h1", {}, given.title), lead),
    text, panel, shown, element("footer", {}, given.version));
  shown.append(element("div", { className: "tools" }, status, stop), totals, tools, charts_, packets_, sweep_);

  const module = await WebAssembly.compile(await unpacked(packed).arrayBuffer());
  /** @type {Engine[]} */
  const engines = [];
  const make = () => {
    engines.push(new Engine(module, scenario, worker));
    return engines[engines.length - 1];
  };
  const engine = make();
  /** @type {Result | null} */
  let now = null;
  /** @type {Result | null} */
  let before = null;
  /** @type {Result | null} */
  let pinned = null;
  let wanted = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;

  const packets = new Packets(packets_, make, () => now);
  const charts = new Charts(charts_, (from, to) => packets.span(from, to));
  const bands = new Bands(charts_, charts);
  const controls = new Controls(panel, given, more.positions, (positions) => simulate(positions));
  const sweep = new Sweep(sweep_, given, make, () => controls.positions);

  const tell = () => {
    if (now) status.replaceChildren(element("b", {}, spoken(now)), ` · ${now.packet_hops.toLocaleString("en")} packet-hops in ${time(now.ms / 1000)} · digest `, element("code", { title: now.digest }, now.digest.slice(0, 12)));
  };
  /** How long runs are, for which there may be a slider. @param {number[]} positions */
  const lasts = (positions) => {
    const slider = given.sliders.findIndex(({ key }) => key === "duration");
    return slider < 0 ? given.duration : given.sliders[slider].texts[positions[slider]];
  };
  const showAll = () => {
    if (!now) return;
    const begin = performance.now();
    showTotals(totals, now, pinned ?? before, given.totals);
    charts.draw(now, pinned);
    bands.draw(now);
    packets.span(...(charts.range ?? charts.whole));
    const drawn = performance.now() - begin;
    tell();
    root.dataset.digest = now.digest;
    root.dataset.positions = now.positions.join(",");
    root.dataset.simulatedMs = String(now.ms);
    root.dataset.drawnMs = String(drawn);
  };

  /** For a window of another width, or other colours. */
  const redraw = () => {
    showAll();
    packets.redraw();
    sweep.draw();
  };

  /** @param {number[]} positions */
  async function simulate(positions) {
    const number = ++wanted;
    lead.textContent = `${lasts(positions)} of simulated time. Every move simulates every packet again, here in this page.`;
    const begin = performance.now();
    clearTimeout(resting);
    if (more.fragment) resting = setTimeout(() => history.replaceState(null, "", `#${controls.fragment}`), REST);
    const late = setTimeout(() => (stop.hidden = false), QUIET);
    try {
      const answer = await engine.run({ positions, samples: SAMPLES });
      if (!answer.ok) {
        if (number === wanted) {
          controls.say(answer.text);
          tell();
        }
        root.dataset.error = answer.text;
        return;
      }
      controls.say();
      delete root.dataset.error;
      const found = result(positions, answer);
      if (now && String(now.positions) !== String(positions)) before = now;
      now = found;
      showAll();
      root.dataset.wholeMs = String(performance.now() - begin);
      more.ran?.(found);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      if (error.message !== "stopped") return;
      tell();
      controls.say(`stopped at ${quantity("x_s", engine.simulated)} of ${lasts(positions)}: what is shown is the run before`);
    } finally {
      clearTimeout(late);
      if (number === wanted) stop.hidden = true;
      root.dataset.runs = String(Number(root.dataset.runs ?? 0) + 1);
    }
  }

  engine.watch = (simulated) => {
    if (!stop.hidden) status.textContent = `simulated ${time(simulated)} of ${lasts(controls.positions)} …`;
  };
  stop.addEventListener("click", () => engine.stop());
  const pin = element("button", { type: "button", ariaPressed: "false" }, "Pin as A");
  pin.addEventListener("click", () => {
    pinned = pinned ? null : now;
    pin.setAttribute("aria-pressed", String(Boolean(pinned)));
    showAll();
  });
  const button = (/** @type {string} */ label, /** @type {() => void} */ what) => element("button", { type: "button", onclick: what }, label);
  const symbol = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ what) => Object.assign(button(sign, what), { title: label, ariaLabel: label });
  const picture = () => pictureOf(charts);
  const vectors = () => vectorsOf(charts);
  const stem = given.title.replace(/[^\p{L}\p{N}_]+/gu, "-").replace(/^-|-$/g, "") || "scenario";
  tools.append(
    pin,
    button("Reset", () => controls.move(given.sliders.map(({ start }, index) => [index, start]))),
    button("Whole time", () => charts.zoom(null)),
    symbol("+", "half of the time shown", () => charts.part(0.5)),
    symbol("−", "twice the time shown", () => charts.part(2)),
    symbol("◂", "earlier", () => charts.part(1, -0.5)),
    symbol("▸", "later", () => charts.part(1, 0.5)),
    button("TOML", () => save(`${stem}.toml`, new Blob([tomlOf(given, controls.positions)], { type: "text/plain" }))),
    button("CSV", () => now && save(`${stem}.csv`, new Blob([csvOf(now)], { type: "text/csv" }))),
    button("PNG", async () => save(`${stem}.png`, await picture())),
    button("SVG", async () => save(`${stem}.svg`, new Blob([await vectors()], { type: "image/svg+xml" }))),
  );
  text.addEventListener("click", (/** @type {any} */ event) => {
    const moves = event.target.closest?.("button.set")?.dataset.moves;
    if (moves) controls.move(JSON.parse(moves));
  });
  const closed = new AbortController();
  const { signal } = closed;
  if (more.fragment) {
    controls.follow(location.hash);
    addEventListener("hashchange", () => {
      controls.follow(location.hash);
      simulate([...controls.positions]);
    }, { signal });
  }
  let width = charts.width;
  const resized = new ResizeObserver(() => {
    if (charts.width !== width) {
      width = charts.width;
      requestAnimationFrame(redraw);
    }
  });
  resized.observe(charts_);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal });
  for (const [event, now] of /** @type {[string, boolean][]} */ ([["beforeprint", true], ["afterprint", false]])) {
    addEventListener(event, () => {
      onPaper(now);
      redraw();
    }, { signal });
  }
  const close = () => {
    closed.abort();
    resized.disconnect();
    for (const each of engines) each.close();
  };
  root.dataset.dark = String(isDark());
  await simulate([...controls.positions]);
  const lab = { controls, simulate, toml: () => tomlOf(given, controls.positions), picture, vectors, engine, charts, make, close };
  /** @type {any} */ (root).laboratory = lab;
  return lab;
}

/** Opens the laboratory that this page holds. */
function openPage() {
  const held = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? "";
  openLab(/** @type {HTMLElement} */ (document.getElementById("lab")), JSON.parse(held("given")), held("document"), held("engine"), held("worker"), { fragment: true });
}

export { openLab, openPage };
