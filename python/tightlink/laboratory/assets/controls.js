// The sliders, what they say, and the buttons of a lesson's text.
import { element } from "./format.js";

/** @typedef {import("./lab.js").Given} Given */

/** @type {Record<string, string>} */
const NAMES = {
  "queue.kind": "queue discipline", "queue.limit": "buffer", "tcp.congestion": "congestion control", "tcp.window": "receiver's window",
  flows: "number of flows", loss: "random loss",
};

/** A key in words: what it belongs to, and what it is. A queue is its kind, or its limit. @param {Given["sliders"][number]} slider */
export function named({ key, choice }) {
  let [kind, name, ...rest] = key.split(".");
  if (kind === "topology" && rest.length > 1) [name, ...rest] = rest;
  const what = rest.join(".").replace(/^queue$/, choice ? "queue.kind" : "queue.limit");
  return rest.length ? `${name}: ${NAMES[what] ?? what.replaceAll(".", " ").replaceAll("_", " ")}` : key;
}

/** A part of a link; one that was not encoded, or was cut, stays as it is. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Sliders that have been made: a notebook has several laboratories in one document. */
let known = 0;

export class Controls {
  /**
   * @param {HTMLElement} place
   * @param {Given} given
   * @param {number[] | undefined} positions
   * @param {(positions: number[]) => void} moved
   */
  constructor(place, given, positions, moved) {
    this.given = given;
    this.positions = positions ? [...positions] : given.sliders.map(({ start }) => start);
    this.moved = moved;
    this.error = element("p", { className: "error", role: "alert", hidden: true });
    this.parts = given.sliders.map((slider, index) => this.control(slider, index));
    place.append(...this.parts.map(({ box }) => box), this.error);
    this.show();
  }

  /** @param {Given["sliders"][number]} slider @param {number} index */
  control(slider, index) {
    const id = `slider-${(known += 1)}`;
    const output = element("output", { htmlFor: id, ariaLive: "off" });
    const input = slider.choice
      ? element("select", { id }, ...slider.texts.map((text, place) => element("option", { value: String(place) }, text)))
      : element("input", { id, type: "range", min: "0", max: String(slider.texts.length - 1), step: "1" });
    input.title = slider.key;
    input.addEventListener("input", () => this.move([[index, Number(input.value)]]));
    const reset = element("button", { type: "button", className: "reset", title: `back to ${slider.texts[slider.start]}`, ariaLabel: `${slider.key}: back to ${slider.texts[slider.start]}`, onclick: () => {
      this.move([[index, slider.start]]);
      input.focus();
    } }, "↺");
    const box = element("div", { className: slider.choice ? "control choice" : "control" }, element("label", { htmlFor: id, title: slider.key }, named(slider)), element("span", {}, output, reset), input);
    return { box, input, output, reset };
  }

  /** @param {[number, number][]} moves */
  move(moves) {
    for (const [slider, place] of moves) this.positions[slider] = place;
    this.show();
    this.moved([...this.positions]);
  }

  show() {
    this.parts.forEach(({ box, input, output, reset }, index) => {
      const { texts, start } = this.given.sliders[index];
      const text = texts[this.positions[index]];
      if (output.textContent === text) return;
      input.value = String(this.positions[index]);
      input.setAttribute("aria-valuetext", text);
      output.textContent = text;
      reset.hidden = this.positions[index] === start;
      box.classList.toggle("moved", this.positions[index] !== start);
    });
  }

  /** Why there is no run at these positions; the last good one stays. @param {string} [sentence] */
  say(sentence = "") {
    this.error.textContent = sentence;
    this.error.hidden = !sentence;
  }

  /** The positions as a link carries them: what was moved. */
  get fragment() {
    const moved = this.given.sliders.flatMap(({ key, texts, start }, index) => (this.positions[index] === start ? [] : [[key, texts[this.positions[index]]]]));
    return moved.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  }

  /** Moves the sliders as a link says; keys that are unknown here stay out. @param {string} fragment */
  follow(fragment) {
    const wanted = new Map(fragment.replace(/^#/, "").split("&").map((pair) => /** @type {[string, string]} */ (pair.split("=").map(decoded))));
    this.positions = this.given.sliders.map(({ key, texts, start }) => {
      const place = texts.indexOf(wanted.get(key) ?? "");
      return place < 0 ? start : place;
    });
    this.show();
  }
}
