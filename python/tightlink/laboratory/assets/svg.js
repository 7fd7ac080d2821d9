// What charts draw on their canvases, as vectors: contexts that remember what is drawn while they draw it.

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
/** @param {number[]} numbers */
const written = (...numbers) => numbers.map((number) => Number(number.toFixed(2))).join(" ");

/** A path that remembers what it is made of: the browser's own says nothing of it. */
class Remembered extends Path2D {
  /** @param {Path2D | string} [from] */
  constructor(from) {
    super(from);
    this.text = from instanceof Remembered ? from.text : "";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    super.moveTo(x, y);
    this.text += `M${written(x, y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    super.lineTo(x, y);
    // As on a canvas, a line from nowhere begins where it goes.
    this.text += `${this.text ? "L" : "M"}${written(x, y)}`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    super.rect(x, y, width, height);
    this.text += `M${written(x, y)}h${written(width)}v${written(height)}h${written(-width)}z`;
  }
}

const ANCHORS = { center: "middle", right: "end", end: "end", left: "start", start: "start" };
/** Baselines as shifts, which all programs understand, in heights of letters. */
const SHIFTS = { top: 0.75, hanging: 0.75, middle: 0.35, alphabetic: 0, ideographic: 0, bottom: -0.22 };
let clips = 0;

export class Recorder {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.context = context;
    /** @type {string[]} */
    this.parts = [];
    this.path = new Remembered();
    /** @type {{clip: string, x: number, y: number, turn: number}[]} */
    this.states = [{ clip: "", x: 0, y: 0, turn: 0 }];
    /** @type {Record<string, (...given: any[]) => void>} */
    const methods = {
      save: () => this.states.push({ ...this.state }),
      restore: () => this.states.length > 1 && this.states.pop(),
      translate: (x, y) => {
        this.state.x += x;
        this.state.y += y;
      },
      rotate: (angle) => (this.state.turn += (angle * 180) / Math.PI),
      beginPath: () => (this.path = new Remembered()),
      moveTo: (x, y) => this.path.moveTo(x, y),
      lineTo: (x, y) => this.path.lineTo(x, y),
      rect: (x, y, width, height) => this.path.rect(x, y, width, height),
      clip: (path = this.path) => this.clip(path),
      stroke: (path = this.path) => this.stroke(path),
      fillRect: (x, y, width, height) => this.fillRect(x, y, width, height),
      fillText: (text, x, y) => this.fillText(String(text), x, y),
    };
    this.names = Object.keys(methods);
    for (const [name, remember] of Object.entries(methods)) {
      const own = /** @type {any} */ (context)[name];
      /** @type {any} */ (context)[name] = (/** @type {any[]} */ ...given) => {
        remember(...given);
        return own.apply(context, given);
      };
    }
  }

  /** Ends the recording. @returns {string} */
  end() {
    for (const name of this.names) delete (/** @type {any} */ (this.context)[name]);
    return this.parts.join("");
  }

  get state() {
    return this.states[this.states.length - 1];
  }

  /** @param {string} tag @param {string} attributes @param {string} [text] */
  add(tag, attributes, text = "") {
    const { clip, x, y, turn } = this.state;
    const { globalAlpha } = this.context;
    const place = `${x || y ? `translate(${written(x, y)})` : ""}${turn ? `rotate(${written(turn)})` : ""}`;
    const more = `${clip && ` clip-path="url(#${clip})"`}${place && ` transform="${place}"`}${globalAlpha < 1 ? ` opacity="${written(globalAlpha)}"` : ""}`;
    this.parts.push(`<${tag} ${attributes}${more}>${escaped(text)}</${tag}>`);
  }

  /** @param {any} path */
  clip(path) {
    const name = `clip${(clips += 1)}`;
    const { clip } = this.state;
    this.parts.push(`<clipPath id="${name}"${clip && ` clip-path="url(#${clip})"`}><path d="${path.text}"/></clipPath>`);
    this.state.clip = name;
  }

  /** @param {any} path */
  stroke(path) {
    const { strokeStyle, lineWidth } = this.context;
    const dash = this.context.getLineDash();
    if (path.text && strokeStyle !== "rgba(0, 0, 0, 0)") this.add("path", `d="${path.text}" fill="none" stroke="${strokeStyle}" stroke-width="${written(lineWidth)}"${dash.length ? ` stroke-dasharray="${written(...dash)}"` : ""}`);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.add("rect", `x="${written(x)}" y="${written(y)}" width="${written(width)}" height="${written(height)}" fill="${this.context.fillStyle}"`);
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const { fillStyle, font, textAlign, textBaseline } = this.context;
    this.add("text", `x="${written(x)}" y="${written(y)}" dy="${SHIFTS[textBaseline]}em" text-anchor="${ANCHORS[textAlign]}" fill="${fillStyle}" style="font: ${escaped(font)}"`, text);
  }
}

/**
 * What plots draw, as vectors in the order of the plots.
 * @param {any[]} plots
 * @returns {Promise<string[]>}
 */
export async function recorded(plots) {
  const recorders = plots.map(({ ctx }) => new Recorder(ctx));
  const own = globalThis.Path2D;
  globalThis.Path2D = Remembered;
  // Of data that are set anew, lines are found again.
  for (const plot of plots) {
    const { min, max } = plot.scales.x;
    plot.setData(plot.data, false);
    plot.setScale("x", { min, max });
  }
  // Plots draw once what was asked for is over.
  await new Promise((resolve) => setTimeout(resolve));
  globalThis.Path2D = own;
  return recorders.map((recorder) => recorder.end());
}
