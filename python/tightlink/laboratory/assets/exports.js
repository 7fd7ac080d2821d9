// What leaves the page: the scenario as TOML, the lines as CSV, the charts as a picture.
import { element } from "./format.js";

/** @typedef {import("./lab.js").Given} Given */

/**
 * The scenario at the positions of the sliders, as a file that the command line runs to the same bytes.
 * @param {Given} given
 * @param {number[]} positions
 */
export function tomlOf(given, positions) {
  let text = given.template;
  given.sliders.forEach(({ literals }, index) => {
    const literal = literals[positions[index]];
    const token = `"@slider${index}@"`;
    // What the scenario leaves to its profile stays left to it.
    if (literal === null) text = text.split("\n").filter((line) => !line.endsWith(`= ${token}`)).join("\n");
    else text = text.replaceAll(token, () => literal);
  });
  return text;
}

/** @param {import("./engine.js").Result} result */
export function csvOf(result) {
  const quoted = (/** @type {string} */ text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const head = ["time_s", ...result.lines.map(({ entity, metric }) => quoted(`${entity} ${metric}`))];
  const body = Array.from(result.times, (time, index) => [time, ...result.lines.map(({ values }) => (Number.isNaN(values[index]) ? "" : values[index]))].join(","));
  return [head.join(","), ...body, ""].join("\n");
}

/**
 * All charts below each other.
 * @param {HTMLElement} place
 * @returns {Promise<Blob | null>}
 */
export function pictureOf(place) {
  const parts = [...place.querySelectorAll("figure")].filter((figure) => !figure.hidden && figure.querySelector("canvas"));
  const canvases = parts.map((figure) => /** @type {HTMLCanvasElement} */ (figure.querySelector("canvas")));
  const ratio = devicePixelRatio;
  const head = 22 * ratio;
  const made = element("canvas", { width: Math.max(...canvases.map(({ width }) => width)), height: canvases.reduce((sum, { height }) => sum + height + head, 0) });
  const context = made.getContext("2d");
  const style = getComputedStyle(place);
  context.fillStyle = style.getPropertyValue("--ground");
  context.fillRect(0, 0, made.width, made.height);
  context.fillStyle = style.color;
  context.font = `600 ${13 * ratio}px system-ui`;
  let top = 0;
  parts.forEach((figure, index) => {
    context.fillText(figure.querySelector("figcaption")?.textContent ?? "", 8 * ratio, top + 15 * ratio);
    context.drawImage(canvases[index], 0, top + head);
    top += canvases[index].height + head;
  });
  return new Promise((resolve) => made.toBlob(resolve));
}

/**
 * Offers a file.
 * @param {string} name
 * @param {Blob | null} blob
 */
export function save(name, blob) {
  if (!blob) return;
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
