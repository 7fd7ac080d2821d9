// Single packets of the time that the charts show: a time-sequence graph of one flow, and the bottleneck at work.
import { Stopped, rows } from "./engine.js";
import { element, time } from "./format.js";
import { color, isDark } from "./palette.js";
import { describe, options, paints, room } from "./plots.js";

/** @typedef {{event: number, time: number, link: number, kind: number, flow: number, seq: number, size: number, more: number}} Packet */

const ENQUEUE = 0, DEQUEUE = 1, RECEIVE = 2, DROP = 3, SENT = 4, SACKED = 5;
const ACK = 1;
/** Packets of the animation that are drawn in the queue. */
const WAITING = 60;

export class Packets {
  /**
   * @param {HTMLDetailsElement} place
   * @param {() => import("./engine.js").Engine} make
   * @param {() => import("./engine.js").Result | null} now
   */
  constructor(place, make, now) {
    this.place = place;
    this.make = make;
    this.now = now;
    this.range = [0, 1];
    /** The time of the packets that are here. */
    this.from = 0;
    this.until = 1;
    this.playing = false;
    this.at = 0;
    /** @type {import("./engine.js").Engine | null} */
    this.engine = null;
    /** @type {Packet[] | null} */
    this.records = null;
    /** What they are of. @type {import("./engine.js").Result | null} */
    this.run = null;
    this.flow = element("select", { ariaLabel: "flow", onchange: () => this.draw() });
    this.button = element("button", { type: "button", onclick: () => this.load() }, "Show the packets of the time above");
    this.said = element("span", { className: "said", role: "status" });
    this.graph = element("figure", { className: "chart" });
    this.link = element("select", { ariaLabel: "link", onchange: () => this.paint() });
    this.play = element("button", { type: "button", onclick: () => this.toggle() }, "Play");
    this.step = element("button", { type: "button", onclick: () => this.forward() }, "Step");
    this.slow = element("input", { type: "range", min: "0", max: "1000", value: "0", ariaLabel: "time of the animation", oninput: () => this.seek() });
    this.canvas = element("canvas", { role: "img" });
    this.film = element("div", { hidden: true }, element("div", { className: "tools" }, element("label", {}, "link ", this.link), this.play, this.step, this.slow), this.canvas);
    place.append(element("div", { className: "tools" }, this.button, element("label", {}, "flow ", this.flow), this.said), this.graph, this.film);
    place.addEventListener("toggle", () => place.open && !this.records && this.load());
  }

  /** The time that the charts show. @param {number} from @param {number} to */
  span(from, to) {
    const moved = this.now() !== this.run || from !== this.range[0] || to !== this.range[1];
    this.range = [from, to];
    if (this.records && moved) this.said.textContent = "the charts have moved on: show them again";
  }

  async load() {
    const run = this.now();
    if (!run) return;
    const [from, to] = this.range;
    this.engine ??= this.make();
    this.said.textContent = "simulating …";
    let answer;
    try {
      answer = await this.engine.run({ positions: run.positions, packets: { from_s: from, to_s: to } });
    } catch (error) {
      // They were asked for again.
      if (error instanceof Stopped) return;
      throw error;
    }
    if (!answer.ok) return void (this.said.textContent = answer.text);
    const { links, flows, width, cut } = JSON.parse(answer.text);
    /** @type {Packet[]} */
    const records = [];
    for (let at = 0; at < answer.data.length; at += width) {
      const [event, when, link, kind, flow, seq, size, more] = answer.data.subarray(at, at + width);
      records.push({ event, time: when, link, kind, flow, seq, size, more });
    }
    this.records = records;
    this.run = run;
    this.links = links;
    this.from = from;
    this.until = cut ? records[records.length - 1].time : to;
    const chosen = this.flow.value;
    this.flow.replaceChildren(...flows.map((/** @type {string} */ label, /** @type {number} */ index) => element("option", { value: String(index) }, label)));
    if (chosen in flows) this.flow.value = chosen;
    const busy = new Map();
    for (const { event, link } of records) if (event === ENQUEUE) busy.set(link, (busy.get(link) ?? 0) + 1);
    const known = this.link.value;
    this.link.replaceChildren(...[...busy.keys()].sort((a, b) => links[a].rate_bps - links[b].rate_bps || a - b).map((index) => element("option", { value: String(index) }, links[index].name)));
    if (known && busy.has(Number(known))) this.link.value = known;
    this.said.textContent = `${time(from)} to ${time(this.until)}${cut ? ": as many packets as fit; zoom in for the others" : ""}`;
    this.at = from;
    this.film.hidden = false;
    this.redraw();
  }

  /** For a window of another width, or other colours. */
  redraw() {
    if (!this.records) return;
    this.draw();
    this.paint();
  }

  /** The time-sequence graph of the flow, as Wireshark and tcptrace draw it. */
  draw() {
    const flow = Number(this.flow.value);
    const of = (this.records ?? []).filter((each) => each.flow === flow);
    const acks = of.filter(({ event, kind }) => event === RECEIVE && kind === ACK);
    const lasts = new Map();
    for (const each of acks) lasts.set(each.link, (lasts.get(each.link) ?? 0) + 1);
    const parts = { sent: of.filter(({ event, more }) => event === SENT && !more), again: of.filter(({ event, more }) => event === SENT && more), lost: of.filter(({ event, kind }) => event === DROP && kind !== ACK), sacked: of.filter(({ event }) => event === SACKED) };
    const seqs = [...parts.sent, ...parts.again, ...acks].map(({ seq }) => seq);
    this.plot?.destroy();
    this.graph.hidden = !seqs.length;
    if (!seqs.length) return;
    const low = seqs.reduce((a, b) => Math.min(a, b)), high = seqs.reduce((a, b) => Math.max(a, b)) + 1;
    const made = options("", room(this.place), 300, (value) => String(Math.round(value)));
    const red = isDark() ? "#ff8078" : "#b3261e";
    made.scales.y = { range: () => [low, high] };
    made.legend = { show: false };
    made.cursor = { drag: { x: true, y: true } };
    made.series.push({ stroke: "transparent", points: { show: false } });
    made.hooks = { draw: [(/** @type {any} */ plot) => {
      const { ctx, bbox } = plot;
      const x = (/** @type {number} */ at) => plot.valToPos(at, "x", true);
      const y = (/** @type {number} */ at) => plot.valToPos(at, "y", true);
      const bars = (/** @type {Packet[]} */ packets, /** @type {string} */ paint, /** @type {number} */ wide) => {
        ctx.strokeStyle = paint;
        ctx.lineWidth = wide * devicePixelRatio;
        ctx.beginPath();
        for (const { time: at, seq } of packets) {
          ctx.moveTo(x(at), y(seq));
          ctx.lineTo(x(at), Math.min(y(seq + 1), y(seq) - 2));
        }
        ctx.stroke();
      };
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.strokeStyle = color(2);
      ctx.lineWidth = devicePixelRatio;
      ctx.beginPath();
      let level = null;
      const last = [...lasts.keys()].pop();
      for (const { time: at, seq, link } of acks) {
        if (link !== last) continue;
        if (level === null) ctx.moveTo(x(at), y(seq));
        else { ctx.lineTo(x(at), y(level)); ctx.lineTo(x(at), y(seq)); }
        level = seq;
      }
      ctx.stroke();
      ctx.strokeStyle = color(3);
      ctx.lineWidth = 2 * devicePixelRatio;
      ctx.beginPath();
      for (const { time: at, seq, more } of parts.sacked) { ctx.moveTo(x(at), y(seq)); ctx.lineTo(x(at), y(more)); }
      ctx.stroke();
      bars(parts.sent, color(0), 1.5);
      bars(parts.again, red, 2.5);
      ctx.fillStyle = red;
      ctx.font = `${12 * devicePixelRatio}px system-ui`;
      ctx.textAlign = "center";
      for (const { time: at, seq } of parts.lost) ctx.fillText("×", x(at), y(seq) + 4 * devicePixelRatio);
      ctx.restore();
    }] };
    const times = of.map((each) => each.time);
    this.graph.replaceChildren(element("figcaption", {}, "Sequence numbers: ", ...[["sent", color(0)], ["retransmitted, or × lost", red], ["acknowledged", color(2)], ["selectively", color(3)]].map(([word, paint]) => element("span", { className: "key" }, element("i", { style: `background:${paint}` }), word))));
    // @ts-expect-error the library is a script before this one
    this.plot = new uPlot(made, [times, times.map(() => null)], this.graph);
    describe(this.plot, `Sequence numbers over time: ${parts.sent.length} packets sent, ${parts.again.length} retransmitted, ${parts.lost.length} lost`);
  }

  /** Where each packet of the link is at a time. */
  state() {
    const link = Number(this.link.value);
    /** @type {Map<string, {flow: number, seq: number, kind: number, since: number, wire: boolean, lost: boolean}>} */
    const here = new Map();
    for (const { event, time: at, link: on, kind, flow, seq } of this.records ?? []) {
      if (at > this.at) break;
      if (on !== link) continue;
      const key = `${flow} ${kind} ${seq}`;
      if (event === ENQUEUE) here.set(key, { flow, seq, kind, since: at, wire: false, lost: false });
      else if (event === DEQUEUE) here.set(key, { flow, seq, kind, since: at, wire: true, lost: false });
      else if (event === DROP) here.set(key, { flow, seq, kind, since: at, wire: false, lost: true });
      else if (event === RECEIVE) here.delete(key);
    }
    return { link, packets: [...here.values()].filter(({ lost, since }) => !lost || this.at - since < (this.until - this.from) / 40) };
  }

  paint() {
    if (!this.records || !this.links) return;
    const wide = room(this.place) - 8, high = 120, ratio = devicePixelRatio;
    Object.assign(this.canvas, { width: wide * ratio, height: high * ratio });
    this.canvas.style.width = `${wide}px`;
    const ctx = this.canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    const run = this.now();
    const paint = run ? paints(run) : new Map(), flows = run ? rows(run.tables.flows).map(({ label }) => label) : [];
    const { link, packets } = this.state();
    const { delay_s: delay, rate_bps: rate } = this.links[link] ?? { delay_s: 0, rate_bps: 1 };
    const middle = high / 2, box = wide * 0.5, ink = isDark() ? "#a0a8b2" : "#59616b";
    ctx.strokeStyle = ink;
    ctx.strokeRect(8.5, middle - 14.5, box, 29);
    ctx.beginPath();
    ctx.moveTo(box + 8, middle);
    ctx.lineTo(wide - 8, middle);
    ctx.stroke();
    ctx.fillStyle = ink;
    ctx.font = "12px system-ui";
    const waiting = packets.filter(({ wire, lost }) => !wire && !lost), lost = packets.filter((each) => each.lost), going = packets.filter(({ wire }) => wire);
    this.canvas.setAttribute("aria-label", `The link at ${time(this.at)}: ${waiting.length} packets waiting, ${going.length} on the wire, ${lost.length} lost`);
    this.slow.setAttribute("aria-valuetext", time(this.at));
    ctx.fillText(`${waiting.length} waiting`, 8, middle - 22);
    ctx.fillText(time(this.at), 8, high - 8);
    ctx.fillText("on the wire", box + 16, middle - 22);
    const size = Math.min(16, box / Math.max(20, Math.min(waiting.length, WAITING)));
    const block = (/** @type {number} */ x, /** @type {number} */ y, /** @type {any} */ packet) => {
      ctx.fillStyle = paint.get(flows[packet.flow]) ?? ink;
      ctx.globalAlpha = packet.kind === ACK ? 0.55 : 1;
      ctx.fillRect(x, y - (packet.kind === ACK ? 4 : 9), size - 2, packet.kind === ACK ? 8 : 18);
      ctx.globalAlpha = 1;
    };
    waiting.slice(0, WAITING).forEach((packet, index) => block(box + 6 - (index + 1) * size, middle, packet));
    for (const packet of going) {
      const through = Math.min(1, (this.at - packet.since) / Math.max(1e-12, delay + (8 * 1500) / rate));
      block(box + 10 + through * (wide - box - 30), middle, packet);
    }
    ctx.fillStyle = isDark() ? "#ff8078" : "#b3261e";
    lost.forEach((_, index) => ctx.fillText("✕", 14 + 14 * index, middle + 32));
    this.slow.value = String(Math.round((1000 * (this.at - this.from)) / Math.max(1e-12, this.until - this.from)));
  }

  seek() {
    this.at = this.from + (Number(this.slow.value) / 1000) * (this.until - this.from);
    this.paint();
  }

  forward() {
    const link = Number(this.link.value);
    const next = (this.records ?? []).find((each) => each.time > this.at && each.link === link);
    if (next) this.at = next.time;
    this.paint();
  }

  toggle() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "Pause" : "Play";
    let before = performance.now();
    // Twenty seconds for what is shown, and at most a thousandth of real speed for packets that eyes cannot follow.
    const frame = (/** @type {number} */ now) => {
      if (!this.playing || !this.canvas.isConnected) return;
      this.at += ((now - before) / 1000) * ((this.until - this.from) / 20);
      before = now;
      if (this.at >= this.until) this.at = this.from;
      this.paint();
      requestAnimationFrame(frame);
    };
    if (this.playing) requestAnimationFrame(frame);
  }
}
