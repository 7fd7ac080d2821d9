// What leaves the page: the scenario as TOML, the lines as CSV, the charts as pictures.
import { element } from "./format.js";
import { Recorder, recorded } from "./svg.js";

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
 * The text of an element in one line, with the colours of its keys.
 * @param {CanvasRenderingContext2D} context
 * @param {Element} from
 * @param {number} base
 */
function caption(context, from, base) {
  const size = 13 * devicePixelRatio;
  let left = size / 2;
  context.font = `600 ${size}px system-ui, sans-serif`;
  for (const node of from.childNodes) {
    const key = node instanceof Element ? node.querySelector("i") : null;
    if (key) {
      context.fillStyle = getComputedStyle(key).backgroundColor;
      context.fillRect(left, base - 0.7 * size, 0.7 * size, 0.7 * size);
      left += size;
    }
    const text = node.textContent?.trim() ?? "";
    context.fillStyle = getComputedStyle(from).color;
    context.fillText(text, left, base);
    left += context.measureText(text).width + size;
  }
}

/**
 * All charts below each other: what stands above each, and where.
 * @param {import("./plots.js").Charts} charts
 */
function laidOut(charts) {
  const head = 22 * devicePixelRatio;
  let top = charts.key.childNodes.length ? head : 0;
  const parts = [...charts.place.querySelectorAll("figure")].flatMap((figure) => {
    const plot = [...charts.plots.values()].find((each) => figure.contains(each.root));
    if (figure.hidden || !plot) return [];
    const part = { plot, base: top + 0.7 * head, top: top + head, caption: /** @type {Element} */ (figure.querySelector("figcaption")) };
    top += head + plot.ctx.canvas.height;
    return [part];
  });
  const width = Math.max(...parts.map(({ plot }) => plot.ctx.canvas.width));
  const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", { width, height: top }));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const captions = () => {
    context.fillStyle = getComputedStyle(charts.place).getPropertyValue("--ground");
    context.fillRect(0, 0, width, top);
    caption(context, charts.key, 0.7 * head);
    for (const part of parts) caption(context, part.caption, part.base);
  };
  return { parts, canvas, context, captions };
}

/** All charts as a picture. @param {import("./plots.js").Charts} charts @returns {Promise<Blob | null>} */
export function pictureOf(charts) {
  const { parts, canvas, context, captions } = laidOut(charts);
  captions();
  for (const { plot, top } of parts) context.drawImage(plot.ctx.canvas, 0, top);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

/** All charts as vectors. @param {import("./plots.js").Charts} charts */
export async function vectorsOf(charts) {
  const { parts, canvas, context, captions } = laidOut(charts);
  const above = new Recorder(context);
  captions();
  const head = above.end();
  const drawn = await recorded(parts.map(({ plot }) => plot));
  const body = parts.map(({ top }, index) => `<g transform="translate(0 ${top})">${drawn[index]}</g>`);
  const { width, height } = canvas;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width / devicePixelRatio}" height="${height / devicePixelRatio}" viewBox="0 0 ${width} ${height}">${head}${body.join("\n")}</svg>\n`;
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
