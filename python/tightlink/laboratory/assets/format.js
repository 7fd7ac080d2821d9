// Quantities as the command line prints them.

/**
 * A little less where a number lies exactly between two shorter ones, of which the smaller is even: Python takes that one,
 * JavaScript the larger.
 * @param {number} value
 * @param {string} written with all its digits
 * @param {number} kept of these
 */
const even = (value, written, kept) => (/^[02468]50*$/.test(written.replace(/e.*|[-.]/g, "").slice(kept - 1)) ? value * (1 - Number.EPSILON) : value);

/** @param {number} value @param {number} [digits] */
export const rounded = (value, digits = 4) => Number(even(value, value.toExponential(99), digits).toPrecision(digits));

/** A share in per cent, rounded once; loads may be above 100 %. @param {number} value */
function share(value) {
  const whole = String(Math.trunc(Math.abs(value))), decimals = 4 - (whole === "0" ? 0 : whole.length);
  return `${rounded(100 * Number(even(value, value.toFixed(99), whole.length + decimals).toFixed(decimals)))} %`;
}

/** A number of packets or the like, with an exponent where Python writes one. @param {number} value */
function plain(value) {
  const size = Math.abs(value);
  return size && (size < 1e-4 || size >= 1e6) ? value.toExponential().replace(/\d+$/, (power) => power.padStart(2, "0")) : String(value);
}

/** @param {number} value @param {[string, number][]} units */
const scaled = (value, units) => {
  const [name, factor] = units.find(([, size]) => Math.abs(value) >= size) ?? units[units.length - 1];
  return `${rounded(value / factor, 12)} ${name}`;
};

/** @type {[string, number][]} */
const RATES = [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]];
/** @type {[string, number][]} */
const TIMES = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];

/** @param {number} value */
export const rate = (value) => scaled(rounded(value), RATES);
/** What is less is what rounding left of nothing. */
const NOTHING = 1e-12;
/** @param {number} value */
export const time = (value) => (Math.abs(value) < NOTHING ? "0 s" : scaled(rounded(value), TIMES));

/** A queue of fewer packets on average is none to speak of. */
const NO_QUEUE = 0.001;

/** What stands where there is no number. */
const NONE = "–";

/**
 * A number that is written, perhaps with a unit, with its thousands apart and a minus sign.
 * @param {string} text
 */
const grouped = (text) => text.replace(/^-/, "−").replace(/\d+/, (whole) => BigInt(whole).toLocaleString("en"));

/**
 * A value of a column in the unit that the column's name says.
 * @param {string} column
 * @param {number | null | undefined} value
 */
export function quantity(column, value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (column.endsWith("_bps")) return grouped(rate(value));
  if (column.endsWith("_s")) return grouped(time(value));
  if (/^(utilization|load_|limited_by_)/.test(column)) return grouped(share(value));
  if (Math.abs(value) < NOTHING) return "0";
  if (column.endsWith("_packets") && value > 0 && value < NO_QUEUE) return `< ${NO_QUEUE}`;
  return grouped(Number.isInteger(value) ? String(value) : plain(rounded(value)));
}

/**
 * How a value of a column changed, in words that fit into a cell.
 * @param {string} column
 * @param {number | null | undefined} now
 * @param {number | null | undefined} before
 */
export function change(column, now, before) {
  const none = (/** @type {number} */ value) => value === 0 || (column.endsWith("_s") && Math.abs(value) < NOTHING);
  if (now == null || before == null || now === before || (none(now) && none(before))) return "";
  if (none(before)) return "▲ new";
  const share = (now - before) / before;
  const percent = Math.abs(share) < 0.0005 ? "<0.1" : Number((Math.abs(share) * 100).toPrecision(2));
  return share > 2 ? `▲ ×${Number((now / before).toPrecision(2))}` : `${share > 0 ? "▲" : "▼"}\u00a0${percent}\u00a0%`;
}

/** @param {string} column */
export const words = (column) => column.replace(/^limited_by_/, "").replace(/_(s|bps|packets)$/, "").replaceAll("_", " ");

/**
 * What held a flow back for most of its time.
 * @param {Record<string, number>} row
 */
export function limit(row) {
  const shares = Object.entries(row).filter(([name]) => name.startsWith("limited_by_"));
  const [name, share] = shares.reduce((most, next) => (next[1] > most[1] ? next : most), ["", 0]);
  return share > 0 ? `${words(name)} ${Math.round(share * 100)} %` : NONE;
}

/**
 * An element with attributes, children and handlers.
 * @param {string} tag
 * @param {Record<string, any>} [more]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function element(tag, more = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(more)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
