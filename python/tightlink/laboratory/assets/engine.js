// The engine in a worker: one run at a time, the newest wish next, and an end whenever it takes too long.

/** @typedef {{positions: number[], samples?: number, packets?: {from_s: number, to_s: number}}} Request */
/** @typedef {{id: number, ok: boolean, text: string, data: Float64Array, ms: number, broken?: boolean}} Answer */

/** A run that somebody waits for longer than this gives way to a newer wish, in milliseconds; shorter ones are all shown. */
const PATIENCE = 1000;

export class Stopped extends Error {}

export class Engine {
  /**
   * @param {WebAssembly.Module} module
   * @param {string} document_
   * @param {string} script
   */
  constructor(module, document_, script) {
    this.module = module;
    this.document = document_;
    this.script = script;
    this.simulated = 0;
    /** @type {((simulated: number) => void) | null} */
    this.watch = null;
    /** @type {{request: Request, resolve: (answer: Answer) => void, reject: (why: Error) => void} | null} */
    this.running = null;
    /** @type {Engine["running"]} */
    this.next = null;
    this.begin = 0;
    this.count = 0;
    this.start();
  }

  start() {
    const place = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    this.worker = new Worker(place);
    URL.revokeObjectURL(place);
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.postMessage({ module: this.module, document: this.document });
  }

  /** @param {any} message */
  heard(message) {
    if (message.opened) {
      if (!message.opened.ok) this.running?.reject(new Error(message.opened.text));
    } else if (message.simulated !== undefined) {
      this.simulated = message.simulated;
      this.watch?.(message.simulated);
    } else if (this.running && message.id === this.count) {
      const { resolve } = this.running;
      this.running = null;
      if (message.broken) this.restart();
      resolve(message);
      this.proceed();
    }
  }

  restart() {
    this.close();
    this.start();
  }

  close() {
    this.worker?.terminate();
  }

  /**
   * Simulates; a wish that a newer one replaces is stopped.
   * @param {Request} request
   * @returns {Promise<Answer>}
   */
  run(request) {
    return new Promise((resolve, reject) => {
      this.next?.reject(new Stopped("replaced"));
      this.next = { request, resolve, reject };
      if (!this.running) this.proceed();
      else if (performance.now() - this.begin > PATIENCE) this.stop("replaced");
    });
  }

  proceed() {
    if (!this.next || this.running) return;
    this.running = this.next;
    this.next = null;
    this.begin = performance.now();
    this.simulated = 0;
    this.count += 1;
    this.worker?.postMessage({ id: this.count, request: this.running.request });
  }

  /** Ends what runs. @param {string} [why] */
  stop(why = "stopped") {
    const running = this.running;
    if (!running) return;
    this.running = null;
    this.restart();
    running.reject(new Stopped(why));
    this.proceed();
  }
}

/**
 * What was packed by gzip, as bytes or as text.
 * @param {string | BlobPart} packed
 */
export function unpacked(packed) {
  const bytes = typeof packed === "string" ? Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)) : packed;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

/**
 * @typedef {{entity: string, flow: boolean, metric: string, values: Float64Array}} Line
 * @typedef {{positions: number[], digest: string, packet_hops: number, warnings: string[], ms: number, times: Float64Array,
 *   interval: number, lines: Line[], tables: Record<string, Record<string, any[]>>}} Result
 */

/**
 * Of flows that have a number of bytes, how long these took, as a column of the table of flows.
 * @param {Record<string, Record<string, any[]>>} tables
 */
function addCompletions({ flows, completions }) {
  if (!flows || !completions) return;
  const alone = (/** @type {string} */ label) => completions.label.indexOf(label) === completions.label.lastIndexOf(label);
  const names = completions.label.map((label, row) => (alone(label) ? label : `${label}[${completions.transfer[row]}]`));
  const took = new Map(names.map((name, row) => [name, completions.completion_s[row]]));
  if (flows.label.some((label) => took.has(label))) flows.completion_s = flows.label.map((label) => took.get(label) ?? null);
}

/**
 * What the engine answered, with each line as a view of its numbers.
 * @param {number[]} positions
 * @param {Answer} answer
 * @returns {Result}
 */
export function result(positions, answer) {
  const found = JSON.parse(answer.text);
  if (found.tables) addCompletions(found.tables);
  const count = found.samples ?? 0;
  const lines = (found.lines ?? []).map((/** @type {any} */ line) => ({ ...line, values: answer.data.subarray(line.begin, line.begin + count) }));
  return { ...found, positions, ms: answer.ms, interval: found.interval_s, times: answer.data.subarray(0, count), lines };
}

/**
 * The rows of a table.
 * @param {Record<string, any[]>} table
 * @returns {Record<string, any>[]}
 */
export function rows(table) {
  const names = Object.keys(table);
  return (table[names[0]] ?? []).map((_, row) => Object.fromEntries(names.map((name) => [name, table[name][row]])));
}
