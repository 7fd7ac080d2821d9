// The laboratory in a notebook: what anywidget shows, and what it says to Python.
import { element } from "./format.js";
import { openLab } from "./lab.js";

/** @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void,
 *   on: (event: string, heard: () => void) => void, off: (event: string, heard: () => void) => void}} Model */

/** @param {{model: Model, el: HTMLElement}} view */
async function render({ model, el }) {
  const root = element("div");
  el.classList.add("lab-frame");
  // JupyterLab takes arrow keys for its cells, and then no slider moves.
  el.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  let said = String(model.get("positions"));
  const lab = await openLab(root, model.get("_given"), model.get("_document"), model.get("_engine"), model.get("_worker"), {
    positions: model.get("positions"),
    ran: ({ positions }) => {
      if (String(positions) === said) return;
      said = String(positions);
      model.set("positions", positions);
      model.save_changes();
    },
  });
  // What Python moves; what the widget itself said is older than where its sliders may be by now.
  const follow = () => {
    const positions = model.get("positions");
    if (String(positions) !== said) lab.controls.move([...positions.entries()]);
  };
  model.on("change:positions", follow);
  return () => {
    model.off("change:positions", follow);
    lab.close();
  };
}

export default { render };
