// Runs the engine in a thread of its own, so that the page never waits for it.
/** @type {any} */
let engine = null;
let told = 0;
let fault = "";

const text = (/** @type {number} */ at, /** @type {number} */ length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at >>> 0, length >>> 0));

const host = {
  /** @param {number} simulatedSeconds */
  watch(simulatedSeconds) {
    const now = performance.now();
    if (now - told > 100) {
      told = now;
      postMessage({ simulated: simulatedSeconds });
    }
  },
  /** @param {number} at @param {number} length */
  fault(at, length) {
    fault = text(at, length);
  },
};

const give = (/** @type {string} */ words) => {
  const bytes = new TextEncoder().encode(words);
  const at = engine.tightlink_input(bytes.length);
  new Uint8Array(engine.memory.buffer, at >>> 0, bytes.length).set(bytes);
};

const answer = (/** @type {number} */ code) => {
  const words = text(engine.tightlink_text(), engine.tightlink_text_length());
  const at = engine.tightlink_data() >>> 0;
  const data = code ? new Float64Array(0) : new Float64Array(engine.memory.buffer, at, engine.tightlink_data_length() >>> 0).slice();
  return { ok: code === 0, text: words, data };
};

// What is asked for before the engine is there waits for it.
let ready = Promise.resolve();

const begin = async (/** @type {{module: WebAssembly.Module, document: string}} */ message) => {
  engine = (await WebAssembly.instantiate(message.module, { host })).exports;
  give(message.document);
  postMessage({ opened: answer(engine.tightlink_open()) });
};

onmessage = async ({ data: message }) => {
  try {
    if (message.module) {
      ready = begin(message);
      await ready;
      return;
    }
    await ready;
    if (message.memory) {
      // What it takes by now, in bytes.
      postMessage({ memory: engine.memory.buffer.byteLength });
      return;
    }
    told = performance.now();
    const start = told;
    give(JSON.stringify(message.request));
    const found = answer(engine.tightlink_run());
    postMessage({ id: message.id, ...found, ms: performance.now() - start }, { transfer: [found.data.buffer] });
  } catch (error) {
    postMessage({ id: message.id, ok: false, text: `the engine failed: ${fault || error}`, data: new Float64Array(0), broken: true });
  }
};
