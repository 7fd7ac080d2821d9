// Laboratories in a report: one at a time, in the page itself, by one engine.
import { element } from "./format.js";
import { unpacked } from "./engine.js";
import { openLab } from "./lab.js";

/** Opens the chosen scenario when it is asked for. */
function openReport() {
  const found = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(`laboratory-${id}`));
  // The styles of the report are not for laboratories, nor theirs for the report.
  const inside = found("place").attachShadow({ mode: "open" });
  /** @type {Awaited<ReturnType<typeof openLab>> | null} */
  let open = null;
  /** @type {[import("./lab.js").Given, string][] | null} */
  let all = null;
  found("open").addEventListener("click", async () => {
    found("open").disabled = true;
    open?.close();
    all ??= await unpacked(found("scenarios").textContent).json();
    const [given, scenario] = /** @type {[import("./lab.js").Given, string][]} */ (all)[Number(found("choice").value)];
    const root = element("div");
    inside.replaceChildren(element("style", {}, found("style").textContent), element("div", { className: "lab-frame" }, root));
    open = await openLab(root, given, scenario, found("engine").textContent, found("worker").textContent);
    found("open").disabled = false;
  });
}

export { openReport };
