// The colours of reports and figures (plots/palette.py): a flow has the same one here and there.

/** @typedef {{named: string[], series: number, vivid: number, places: Record<string, number>, limits: Record<string, string>}} Palette */

/** @type {Palette} */
let palette = { named: ["#8f8f8f"], series: 1, vivid: 1, places: {}, limits: {} };
/** Takes the colours that the page brings. @param {Palette} given */
export const usePalette = (given) => void (palette = given);

const scheme = matchMedia("(prefers-color-scheme: dark)");
let printed = false;
/** Whether the page is being printed: paper is never dark. */
export const isPrinted = () => printed;
/** @param {boolean} now */
export const onPaper = (now) => void (printed = now);
export const isDark = () => scheme.matches && !printed;

/** On a dark ground as bright as the style of reports makes it, by less contrast. @param {string} color */
function lit(color) {
  if (!isDark()) return color;
  const part = (/** @type {number} */ place) => Math.min(255, Math.round(1.4 * (127.5 + 0.8 * (parseInt(color.slice(place, place + 2), 16) - 127.5))));
  return `#${[1, 3, 5].map((place) => part(place).toString(16).padStart(2, "0")).join("")}`;
}

/** Of what has no name. @param {number} index */
export const color = (index) => lit(palette.named[index % palette.series]);
/** Of what limits a flow. @param {string} limit */
export const limitColor = (limit) => lit(palette.limits[limit] ?? palette.named[palette.series - 1]);

/** @param {string} text */
function crc32(text) {
  let found = -1;
  for (const byte of new TextEncoder().encode(text)) {
    found ^= byte;
    for (let bit = 0; bit < 8; bit++) found = (found >>> 1) ^ (found & 1 ? 0xedb88320 : 0);
  }
  return ~found >>> 0;
}

/** @param {string} name */
const member = (name) => /^(.*)\[(\d+)\]$/s.exec(name);
/** @param {string} name */
const own = (name) => (Object.hasOwn(palette.places, name.toLowerCase()) ? palette.places[name.toLowerCase()] : undefined);

/** The place of a name if nothing else were drawn; none for a number. @param {string} name @returns {number | null} */
function wanted(name) {
  const of = member(name);
  const first = of && (wanted(of[1]) ?? 0);
  if (of && first !== null) return of[2] === "0" ? first : (first + Number(of[2])) % palette.vivid;
  if (/^[-+.\d]/.test(name)) return null;
  return own(name) ?? crc32(name) % palette.vivid;
}

/** @param {string} name @returns {[number, number, string]} */
function rank(name) {
  const of = member(name);
  if (of) return [1, Number(of[2]), name];
  if (wanted(name) === null) return [3, 0, ""];
  return own(name) === undefined ? [2, 0, ""] : [0, 0, name];
}

/** Names in the order in which they get their colours. @param {string[]} names */
export const ranked = (names) => [...new Set(names)].map((name) => ({ name, key: rank(name) }))
  .sort(({ key: a }, { key: b }) => a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : Number(a[2] > b[2])))
  .map(({ name }) => name);

/** A colour for each name, by the same rules as `palette.colors` in Python. @param {string[]} names @param {string[]} [among] */
export function colors(names, among = []) {
  /** @type {Map<string, string>} */
  const found = new Map();
  let taken = new Set();
  for (const name of new Set([...among, ...ranked(names)])) {
    const first = wanted(name) ?? 0;
    const vivid = Array.from({ length: palette.vivid }, (_, step) => (first + step) % palette.vivid);
    const place = [first, ...vivid, ...palette.named.keys()].find((each) => !taken.has(each)) ?? 0;
    found.set(name, lit(palette.named[place]));
    taken = taken.size < palette.named.length - 1 ? taken.add(place) : new Set();
  }
  return found;
}
