// Totals as the command line prints them, with what changed against the run before or the pinned one.
import { change, element, limit, quantity } from "./format.js";
import { rows } from "./engine.js";

/** @typedef {import("./engine.js").Result} Result */

/** Rows of a table that are shown. */
const ROWS = 8;

/** @typedef {Record<string, Record<string, string>>} Shown columns of each table by their headers, as the command line prints them */

/** What a row of a table is called, the column with its name, and which rows are shown. @type {Record<string, {head: string, label: string, of: (rows: Record<string, any>[]) => Record<string, any>[]}>} */
const TABLES = {
  flows: { head: "flow", label: "label", of: (rows) => rows },
  links: { head: "link", label: "link", of: busiest },
  nodes: { head: "processor", label: "node", of: (rows) => rows.filter((row) => row.load_true != null) },
};

/** Links that carried anything, where there are many those that were busiest. @param {Record<string, any>[]} links */
function busiest(links) {
  const used = links.filter((row) => row.packets_in > 0);
  const least = used.map((row) => row.utilization).sort((a, b) => b - a)[ROWS - 1] ?? 0;
  return [...used.filter((row) => row.utilization >= least).slice(0, ROWS), ...used.filter((row) => row.utilization < least)];
}

/** The rate of all flows from the first start to the last stop: one flow need not run while another does. @param {Record<string, any>[]} flows */
function together(flows) {
  const lasts = Math.max(...flows.map((row) => row.stop_s)) - Math.min(...flows.map((row) => row.start_s));
  return lasts > 0 ? flows.reduce((sum, row) => sum + ((row.goodput_bps || 0) * (row.stop_s - row.start_s)) / lasts, 0) : 0;
}

/** What all rows have, where there are several. @param {Record<string, any>[]} all @param {string} column */
function total(all, column) {
  if (column === "goodput_bps") return together(all);
  return column.startsWith("packets_") ? all.reduce((sum, row) => sum + row[column], 0) : null;
}

/**
 * @param {Result} result
 * @param {Result | null} before
 * @param {string} name
 * @param {Shown} shown
 */
function table(result, before, name, shown) {
  const here = rows(result.tables[name]);
  const { head, label, of } = TABLES[name];
  const known = new Map(before ? rows(before.tables[name]).map((row) => [row[label], row]) : []);
  const columns = Object.entries(shown[name]).filter(([, column]) => column in result.tables[name]);
  const used = of(here);
  const body = used.slice(0, ROWS).map((row) => {
    const other = known.get(row[label]) ?? (used.length === 1 && known.size === 1 ? [...known.values()][0] : undefined);
    const cells = columns.map(([, column]) => element("td", {}, quantity(column, row[column]), element("small", {}, change(column, row[column], other?.[column]))));
    if (name === "flows") cells.push(element("td", { className: "limit" }, limit(row), element("small", {}, other && limit(other) !== limit(row) ? `before: ${limit(other)}` : "")));
    return element("tr", {}, element("th", { scope: "row" }, row[label]), ...cells);
  });
  const heads = [head, ...columns.map(([head]) => head), ...(name === "flows" ? ["limited by"] : [])];
  if (name === "flows" && here.length > 1) {
    const others = before ? rows(before.tables.flows) : [];
    const cells = columns.map(([, column]) => {
      const sum = total(here, column);
      return sum === null ? element("td") : element("td", {}, quantity(column, sum), element("small", {}, change(column, sum, others.length ? total(others, column) : null)));
    });
    body.push(element("tr", {}, element("th", { scope: "row" }, `all ${here.length}`), ...cells, element("td")));
  }
  const more = used.length > ROWS ? [element("caption", {}, `${ROWS} of ${used.length}`)] : [];
  return element("table", { ariaLabel: `totals of ${head}s` }, ...more,
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", className: head === "limited by" ? "left" : "" }, head)))), element("tbody", {}, ...body));
}

/**
 * Shows the totals of a run.
 * @param {HTMLElement} place
 * @param {Result} result
 * @param {Result | null} before
 * @param {Shown} shown
 */
export function showTotals(place, result, before, shown) {
  // Made once: who has scrolled to the last column sees it change.
  if (!place.childElementCount) place.append(...Object.values(TABLES).map(({ head }) => element("div", { className: "wide", role: "region", ariaLabel: `${head}s`, tabIndex: 0 })), element("div"));
  const [flows, links, nodes, warnings] = /** @type {HTMLElement[]} */ ([...place.children]);
  flows.replaceChildren(table(result, before, "flows", shown));
  links.replaceChildren(table(result, before, "links", shown));
  nodes.hidden = !TABLES.nodes.of(rows(result.tables.nodes)).length;
  nodes.replaceChildren(...(nodes.hidden ? [] : [table(result, before, "nodes", shown)]));
  warnings.replaceChildren(...result.warnings.map((text) => element("p", { className: "warning" }, text)));
}

/** One sentence on a run, for those who hear the page. @param {Result} result */
export function spoken(result) {
  const flows = rows(result.tables.flows);
  const first = flows.length === 1 ? `, limited by ${limit(flows[0])}` : ` by ${flows.length} flows`;
  return `Goodput ${quantity("goodput_bps", together(flows))}${first}`;
}

/** The lines of a metric: a column of each flow, or one value of all. @typedef {(result: Result) => [string, number | null][]} Lines */
/** @param {string} column @returns {Lines} */
const each = (column) => (result) => rows(result.tables.flows).map((row) => [row.label, row[column]]);
/** @param {(result: Result) => number | null} of @returns {Lines} */
const all = (of) => (result) => [["", of(result)]];

/** What a sweep draws: its name, the column whose unit it has, and its lines. @type {[string, string, Lines][]} */
export const METRICS = [
  ["goodput of each flow", "goodput_bps", each("goodput_bps")],
  ["goodput of all flows", "goodput_bps", all((result) => together(rows(result.tables.flows)))],
  ["one-way delay of each flow", "delay_s", each("one_way_delay_mean_s")],
  ["mean one-way delay", "delay_s", all((result) => {
    const flows = rows(result.tables.flows);
    const arrived = flows.reduce((sum, row) => sum + row.packets_delivered, 0);
    return flows.reduce((sum, row) => sum + (row.one_way_delay_mean_s || 0) * row.packets_delivered, 0) / arrived;
  })],
  ["mean completion time", "completion_s", all((result) => {
    const took = rows(result.tables.flows).map((row) => row.completion_s).filter((time) => time != null);
    return took.length ? took.reduce((sum, time) => sum + time, 0) / took.length : null;
  })],
  ["packets dropped", "packets", all((result) => rows(result.tables.flows).reduce((sum, row) => sum + row.packets_dropped, 0))],
  ["packets retransmitted", "packets", all((result) => rows(result.tables.flows).reduce((sum, row) => sum + row.packets_retransmitted, 0))],
  ["utilization of the busiest link", "utilization", all((result) => rows(result.tables.links).reduce((most, row) => Math.max(most, row.utilization), 0))],
];
