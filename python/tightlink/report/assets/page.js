"use strict";
(() => {
  const FEW = 12;
  // Around panels below each other: the labels of their axes, in pixels.
  const PANEL_MARGIN = 64;
  // Charts of fewer pixels are narrow: their legends have no room beside each other.
  const NARROW = 500;
  const STACKED = { legend: { layout: { top: { direction: "vertical", anchor: "start" } } } };
  // What names beside an axis take of a narrow chart at most.
  const BESIDE = 0.3;
  // And slanted names below one at least, in pixels.
  const SLANTED = 120;
  // Height of the button of a chart's menu, in pixels.
  const MENU = 30;
  // Points of a chart that are read out one by one at most.
  const HEARD = 100;
  claims([...document.querySelectorAll("details.claimed")]);
  contents();
  unfold();
  reachable();
  const source = document.getElementById("data");
  if (source) charts(JSON.parse(source.textContent));

  // The claims, folded by section: a button for each verdict opens the sections that have it.
  function claims(parts) {
    const buttons = [...document.querySelectorAll(".filters button")];
    const folded = parts.map((part) => !part.open);
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const wanted = button.dataset.verdict;
        parts.forEach((part, place) => {
          const rows = [...part.querySelectorAll("tbody tr")];
          for (const row of rows) row.classList.toggle("filtered", wanted !== "" && row.dataset.verdict !== wanted);
          part.hidden = rows.every((row) => row.classList.contains("filtered"));
          part.open = wanted !== "" || !folded[place];
        });
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      });
    }
    const target = () => {
      const row = location.hash.startsWith("#claim-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (row) { row.closest("details").open = true; row.scrollIntoView(); }
    };
    addEventListener("hashchange", target);
    target();
  }

  // The table of contents says where the reader is.
  function contents() {
    const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
    const sections = [...document.querySelectorAll("section[id]")];
    const mark = () => {
      const here = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3).pop();
      links.forEach((link, id) => (here !== undefined && here.id === id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  }

  // On paper nothing can be unfolded: what is folded is open while the page is printed.
  function unfold() {
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")].filter((part) => !part.closest(".vega-embed"));
      folded.forEach((part) => { part.open = true; });
    });
    addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
  }

  // What has more than it shows is scrolled by keys, too.
  function reachable() {
    const more = (part) => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    const sizes = new ResizeObserver((parts) => parts.forEach(({ target }) => (more(target) ? target.setAttribute("tabindex", "0") : target.removeAttribute("tabindex"))));
    document.querySelectorAll(".scroll").forEach((part) => sizes.observe(part));
  }

  function charts(store) {
    const sets = new Map();
    const column = (data) => (Array.isArray(data) ? data : data.at.map((place) => data.words[place]));
    const columns = (name) => {
      if (!sets.has(name)) sets.set(name, Object.fromEntries(Object.entries(store[name]).map(([key, data]) => [key, column(data)])));
      return sets.get(name);
    };
    const rows = (name) => {
      const entries = Object.entries(columns(name));
      if (entries.length === 0) return [];
      return entries[0][1].map((_, place) => Object.fromEntries(entries.map(([key, values]) => [key, values[place]])));
    };
    const named = (part, found) => {
      if (part === null || typeof part !== "object") return found;
      if (part.data && part.data.name in store) found.add(part.data.name);
      Object.values(part).forEach((inner) => named(inner, found));
      return found;
    };

    const look = JSON.parse(document.getElementById("look").textContent);
    look.config.font = getComputedStyle(document.body).fontFamily;
    const mixed = (config, changes) => Object.entries(changes).reduce((all, [part, own]) => ({ ...all, [part]: { ...all[part], ...own } }), config);

    const text = (value) => (typeof value === "number" ? String(Number(value.toPrecision(5))) : value);

    async function draw(box) {
      const spec = JSON.parse(box.querySelector("script").textContent);
      const { hover, panels } = spec.usermeta || {};
      const used = [...named(spec, new Set())];
      const shown = (hover ? [{ ...hover, data: used[0] }] : panels || []).map((panel) => ({ ...panel, lines: lines(panel, columns(panel.data)) }));
      const name = called(box, spec);
      const about = box.closest("figure").querySelector("figcaption")?.textContent;
      spec.description = [about ? `${name}: ${about}` : name, ...shown.map(heard)].map((part) => part.replace(/\.?$/, ".")).join(" ");
      spec.datasets = Object.fromEntries(used.map((set) => [set, rows(set)]));
      // Marks that are clicked on keep their names.
      const many = (panels || !spec.params) && Object.values(spec.datasets).some((set) => set.length > HEARD);
      const place = document.createElement("div");
      place.className = "view";
      box.append(place);
      const alone = box.parentElement.children.length === 1;
      // Panels below each other do not follow the width of the page by themselves.
      const room = () => Math.max(box.clientWidth - PANEL_MARGIN, 120);
      const narrow = box.clientWidth < NARROW;
      // A title that is wider than its chart begins above the labels at its side.
      if (spec.title && narrow) spec.title = { text: spec.title.text || spec.title, frame: "bounds", limit: box.clientWidth - MENU };
      if (panels) widths(spec, room());
      else inColumns(spec, box.clientWidth);
      try {
        const { view } = await vegaEmbed(place, spec, {
          mode: "vega-lite", renderer: "svg", tooltip: { theme: "custom" },
          formatLocale: look.formatLocale,
          actions: alone && { export: true, source: false, compiled: false, editor: false },
          config: [alone ? {} : look.among_others, hover ? look.lines : {}, narrow ? STACKED : {}, many ? { mark: { aria: false } } : {}].reduce(mixed, look.config),
        });
        if (shown.length > 0) follow(box, view, shown.map((panel) => (hover ? alonePanel : linkedPanel)(box, view, panel)));
        const menu = place.querySelector("summary");
        if (menu) {
          menu.setAttribute("aria-label", `Save this chart: ${name}`);
          // Where nothing stands above what is drawn, its button would cover that.
          place.style.paddingTop = `${Math.max(0, MENU - view.origin()[1])}px`;
        }
        if (panels) {
          byKeys(place);
          addEventListener("resize", () => view.width(room()).runAsync());
        }
        box.dataset.state = "drawn";
      } catch (error) {
        box.dataset.state = "failed";
        place.innerHTML = '<p class="failed">This chart cannot be drawn.</p>';
        console.error(error);
      }
    }

    // The keyboard does what the mouse does: it clicks on the names of a legend, and drags over the strip below.
    function byKeys(place) {
      const fire = (target, kinds, x, y) => kinds.forEach((kind) => target.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: x, clientY: y })));
      const focusable = (part, role, name) => Object.entries({ tabindex: "0", role, "aria-label": name }).forEach((each) => part.setAttribute(...each));
      const pressed = (part, keys) => part.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
        event.preventDefault();
        keys[event.key]();
      });
      for (const name of place.querySelectorAll(".role-legend-label text")) {
        focusable(name, "button", `Show ${name.textContent} alone; Escape for all`);
        const click = (part) => () => {
          const { left, top } = part.getBoundingClientRect();
          fire(part, ["pointermove", "pointerdown", "pointerup", "click"], left + 3, top + 3);
        };
        // A click beside all that is drawn is one on nothing.
        const [pick, all] = [click(name), click(place.querySelector("svg"))];
        pressed(name, { Enter: pick, " ": pick, Escape: all });
      }
      const strip = place.querySelector(".strip_group path.background");
      if (!strip) return;
      const drag = (from, to) => {
        const { left, top, width, height } = strip.getBoundingClientRect();
        const at = (share) => left + Math.min(1, Math.max(0, share)) * width;
        const down = top + height / 2;
        fire(strip, ["pointermove", "pointerdown"], at(from), down);
        fire(window, ["pointermove", "pointerup"], at(to), down);
      };
      const zoomed = (change) => () => {
        const [all, chosen] = [strip, place.querySelector(".zoom_brush path")].map((part) => part.getBoundingClientRect());
        const [low, high] = chosen.width > 0 ? [chosen.left, chosen.right].map((x) => (x - all.left) / all.width) : [0, 1];
        const [middle, half] = change((low + high) / 2, (high - low) / 2);
        if (half >= 0.49) fire(strip, ["dblclick"], all.left + 1, all.top + 1);
        else drag(...[-half, half].map((away) => Math.min(1 - half, Math.max(half, middle)) + away));
      };
      focusable(strip, "button", "Zoom: plus and minus, arrow keys to move, Escape for all");
      const nearer = zoomed((middle, half) => [middle, half / 2]);
      pressed(strip, {
        "+": nearer, "=": nearer, Enter: nearer,
        "-": zoomed((middle, half) => [middle, half * 2]),
        ArrowLeft: zoomed((middle, half) => [middle - half / 2, half]),
        ArrowRight: zoomed((middle, half) => [middle + half / 2, half]),
        Escape: zoomed(() => [0.5, 0.5]),
      });
    }

    // What a chart is called for those who hear it: its section, and its title or else its axes.
    function called(box, spec) {
      const title = spec.title && (spec.title.text || spec.title);
      return [box.closest("section")?.querySelector("h2")?.textContent, title || axes(spec)].filter(Boolean).join(": ");
    }

    // What is drawn over what, where both axes say so.
    function axes(part) {
      const { x, y } = part.encoding || {};
      if (x?.title && y?.title) return `${y.title} over ${x.title}`;
      return [part.layer, part.hconcat, part.vconcat].flat().reduce((found, inner) => found || (inner && axes(inner)), undefined);
    }

    // From where to where the lines of a panel go, for those who do not see them.
    function heard({ y_title, lines }) {
      const said = [...lines].slice(0, FEW).map(([name, { y }]) => {
        const known = y.filter((value) => value !== null);
        return `${name} ${text(Math.min(...known))} to ${text(Math.max(...known))}`.trim();
      });
      return `${y_title}: ${said.join(", ")}${lines.size > FEW ? ` and ${lines.size - FEW} more` : ""}`;
    }

    // Vega reserves the lines of a legend before it knows how wide a chart is that fills its box: names would be cut off above.
    // Names beside an axis leave room for what is drawn.
    function inColumns(part, width) {
      if (part === null || typeof part !== "object") return;
      const columns = part.legend && part.legend.columns;
      if (columns && columns.expr) columns.expr = columns.expr.replace("width", `${width}`);
      if (part.axis && part.axis.labelLimit) {
        // Slanted names below a small chart have room under their neighbours.
        const room = part.axis.labelAngle ? Math.max(BESIDE * width, SLANTED) : BESIDE * width;
        part.axis.labelLimit = Math.min(part.axis.labelLimit, room);
      }
      Object.entries(part).forEach(([key, inner]) => key === "datasets" || inColumns(inner, width));
    }

    function widths(spec, width) {
      if (spec.vconcat) spec.vconcat.forEach((part) => widths(part, width));
      else spec.width = width;
    }

    // What is on the screen is drawn first.
    async function all() {
      const waiting = new Set(document.querySelectorAll(".chart"));
      const distance = (box) => {
        const { top, bottom } = box.getBoundingClientRect();
        return bottom < 0 ? -bottom + innerHeight : Math.max(0, top - innerHeight);
      };
      while (waiting.size > 0) {
        const next = [...waiting].reduce((best, box) => (distance(box) < distance(best) ? box : best));
        waiting.delete(next);
        await draw(next);
        await new Promise((resume) => setTimeout(resume));
      }
      document.documentElement.dataset.charts = "drawn";
    }

    // Where a chart stands in its box, its axes, and its lines by their names.
    function alonePanel(box, view, hover) {
      const color = (name) => (hover.by === null ? getComputedStyle(box.querySelector(".mark-line path")).stroke : view.scale("color")(name));
      const at = () => ({ ...shifted(box, view, 0, 0), width: view.width(), height: view.height() });
      return { ...hover, at, color, scales: () => [view.scale("x"), view.scale("y")], shown: () => true };
    }
    function linkedPanel(box, view, hover) {
      const at = () => {
        const [x, y, group] = find(view.scenegraph().root.items[0], `${hover.name}_group`, 0, 0);
        return { ...shifted(box, view, x, y), width: group.width, height: group.height };
      };
      // What the legend picks out; nothing is all.
      const shown = (name) => {
        const chosen = view.signal("chosen")[hover.by];
        return !hover.fading || chosen === undefined || chosen.includes(name);
      };
      return { ...hover, at, color: view.scale("color"), scales: () => [view.scale("panels_x"), view.scale(`${hover.name}_y`)], shown };
    }
    function find(group, name, x, y) {
      for (const mark of group.items || []) {
        for (const item of mark.items || []) {
          if (mark.marktype !== "group") continue;
          if (mark.name === name) return [x + item.x, y + item.y, item];
          const found = find(item, name, x + item.x, y + item.y);
          if (found) return found;
        }
      }
      return null;
    }
    function shifted(box, view, x, y) {
      const [left, top] = view.origin();
      const svg = box.querySelector("svg").getBoundingClientRect();
      const frame = box.getBoundingClientRect();
      return { left: left + x + svg.left - frame.left, top: top + y + svg.top - frame.top };
    }
    function lines(hover, data) {
      const found = new Map();
      data[hover.x].forEach((x, place) => {
        const name = hover.by === null ? "" : data[hover.by][place];
        if (!found.has(name)) found.set(name, { x: [], y: [] });
        found.get(name).x.push(x);
        found.get(name).y.push(data[hover.y][place]);
      });
      return found;
    }

    // A cross-hair with the values of all lines; the charts of a row and the panels of a chart follow each other.
    function follow(box, view, panels) {
      const alone = box.parentElement.children.length === 1;
      const overlay = document.createElement("div");
      box.append(overlay);
      const add = (to, kind, style) => {
        const part = document.createElement("div");
        part.className = kind;
        Object.assign(part.style, style);
        to.append(part);
        return part;
      };
      const show = (panel, x) => {
        const { left, top, width, height } = panel.at();
        const [sx, sy] = panel.scales();
        const near = [...panel.lines].filter(([name]) => panel.shown(name)).map(([name, line]) => {
          let best = 0;
          line.x.forEach((value, place) => { if (Math.abs(value - x) < Math.abs(line.x[best] - x)) best = place; });
          return { name, x: line.x[best], y: line.y[best] };
        });
        // The nearest samples may be outside of what is zoomed in to; where a line is interrupted, there is none.
        const within = ({ x, y }) => y !== null && sx(x) >= -1 && sx(x) <= width + 1;
        near.splice(0, near.length, ...near.filter(within));
        if (near.length === 0) return;
        const time = near.reduce((best, point) => (Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best)).x;
        const at = sx(time);
        add(overlay, "cross", { left: `${left + at}px`, top: `${top}px`, height: `${height}px` });
        for (const point of near) add(overlay, "dot", { left: `${left + sx(point.x)}px`, top: `${top + sy(point.y)}px`, background: panel.color(point.name) });
        const tip = add(overlay, "tip", { top: `${top}px` });
        const several = panels.length > 1;
        // As the lines stand there, from the top; what has no room between the panels is left out.
        if (several) near.sort((one, other) => sy(one.y) - sy(other.y));
        const most = several ? Math.max(1, Math.floor(height / 17) - 1) : FEW;
        const left_out = near.length - most;
        const shown = near.slice(0, left_out > 0 ? most - 1 : most);
        const rows = [[panel.x_title, time], ...shown.map((point) => [point.name || (alone ? panel.y_title : ""), point.y, panel.color(point.name)])];
        if (several && left_out > 0) rows.push([`${near.length - shown.length} more`, ""]);
        const body = document.createElement("table");
        for (const [name, value, swatch] of rows) {
          const row = body.insertRow();
          const cell = row.insertCell();
          if (swatch && panel.by !== null) cell.append(Object.assign(document.createElement("i"), { style: `background:${swatch}` }));
          cell.append(name);
          row.insertCell().append(text(value));
        }
        tip.append(body);
        const right = at < width / 2;
        tip.style.left = `${left + at + (right ? 10 : -10 - tip.offsetWidth)}px`;
      };
      box.show = (x) => { overlay.replaceChildren(); panels.forEach((panel) => show(panel, x)); };
      box.hide = () => overlay.replaceChildren();
      box.along = panels[0].x;
      const together = () => [...box.parentElement.children].filter((other) => other.along === box.along);
      box.addEventListener("pointermove", (event) => {
        const frame = box.getBoundingClientRect();
        const [first, last] = [panels[0].at(), panels[panels.length - 1].at()];
        const [x, y] = [event.clientX - frame.left - first.left, event.clientY - frame.top];
        const below = panels.length > 1 && (y < first.top || y > last.top + last.height);
        if (below || x < -4 || x > first.width + 4) { together().forEach((other) => other.hide()); return; }
        const value = panels[0].scales()[0].invert(x);
        together().forEach((other) => other.show(value));
      });
      box.addEventListener("pointerleave", () => together().forEach((other) => other.hide()));
    }

    all();
  }
})();
