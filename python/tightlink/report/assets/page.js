"use strict";
(() => {
  const FEW = 12;
  const table = document.querySelector("table.claims");
  if (table) claims(table);
  contents();
  const source = document.getElementById("data");
  if (source) charts(JSON.parse(source.textContent));

  // The table of claims: a button for each verdict, and the long tail folded away.
  function claims(table) {
    const rows = [...table.tBodies[0].rows];
    const buttons = [...document.querySelectorAll(".filters button")];
    const more = document.querySelector(".more");
    const fold = (folded) => {
      more.hidden = !folded;
      rows.forEach((row, place) => row.classList.toggle("folded", folded && place >= FEW && row.dataset.verdict === "holds"));
    };
    if (rows.length > FEW + 4) fold(true);
    more.addEventListener("click", () => fold(false));
    for (const button of buttons) {
      button.addEventListener("click", () => {
        fold(false);
        const wanted = button.dataset.verdict;
        for (const row of rows) row.classList.toggle("filtered", wanted !== "" && row.dataset.verdict !== wanted);
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      });
    }
    const target = () => {
      const row = location.hash.startsWith("#claim-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (row) { fold(false); row.scrollIntoView(); }
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
      links.forEach((link, id) => link.classList.toggle("here", here !== undefined && here.id === id));
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
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

    const ink = "currentColor";
    const font = getComputedStyle(document.body).fontFamily;
    const quiet = { labelColor: ink, labelOpacity: 0.75, titleColor: ink, titleOpacity: 0.85, titleFontWeight: 500 };
    const config = {
      background: null, font, padding: 2, view: { stroke: null },
      title: { anchor: "start", color: ink, fontSize: 12, fontWeight: 600, offset: 8, frame: "group" },
      axis: { ...quiet, gridColor: ink, gridOpacity: 0.1, domainColor: ink, domainOpacity: 0.35, tickColor: ink, tickOpacity: 0.35,
        labelFontSize: 11, titleFontSize: 11.5, titlePadding: 6, tickSize: 4, labelOverlap: true },
      axisX: { grid: false, tickCount: { expr: "clamp(floor(width / 45), 3, 10)" } }, axisY: { domain: false, ticks: false, labelPadding: 5, tickCount: { expr: "clamp(floor(height / 28), 3, 8)" } },
      legend: { ...quiet, orient: "top", direction: "horizontal", labelFontSize: 11.5, symbolType: "circle", symbolStrokeWidth: 0,
        labelLimit: 260, columnPadding: 14, offset: 6 },
    };
    const legendOfLines = { symbolType: "stroke", symbolStrokeWidth: 2.5 };

    async function draw(box) {
      const spec = JSON.parse(box.querySelector("script").textContent);
      const hover = spec.usermeta && spec.usermeta.hover;
      const used = [...named(spec, new Set())];
      spec.datasets = Object.fromEntries(used.map((name) => [name, rows(name)]));
      const place = document.createElement("div");
      place.className = "view";
      box.append(place);
      const alone = box.parentElement.children.length === 1;
      try {
        const { view } = await vegaEmbed(place, spec, {
          mode: "vega-lite", renderer: "svg", tooltip: { theme: "custom" },
          formatLocale: { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["", ""] },
          actions: alone && { export: true, source: false, compiled: false, editor: false },
          config: {
            ...config,
            axisY: alone ? config.axisY : { ...config.axisY, minExtent: 30 },
            legend: hover ? { ...config.legend, ...legendOfLines } : config.legend,
          },
        });
        if (hover) follow(box, view, hover, columns(used[0]));
        box.dataset.state = "drawn";
      } catch (error) {
        box.dataset.state = "failed";
        place.innerHTML = '<p class="failed">This chart cannot be drawn.</p>';
        console.error(error);
      }
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

    // A cross-hair with the values of all lines; the charts of a row follow each other.
    function follow(box, view, hover, data) {
      const alone = box.parentElement.children.length === 1;
      const lines = new Map();
      data[hover.x].forEach((x, place) => {
        const name = hover.by === null ? "" : data[hover.by][place];
        if (!lines.has(name)) lines.set(name, { x: [], y: [] });
        lines.get(name).x.push(x);
        lines.get(name).y.push(data[hover.y][place]);
      });
      const overlay = document.createElement("div");
      box.append(overlay);
      const color = (name) => (hover.by === null ? getComputedStyle(box.querySelector(".mark-line path")).stroke : view.scale("color")(name));
      const text = (value) => (typeof value === "number" ? String(Number(value.toPrecision(5))) : value);
      const inside = () => {
        const [left, top] = view.origin();
        const svg = box.querySelector("svg").getBoundingClientRect();
        const frame = box.getBoundingClientRect();
        return { left: left + svg.left - frame.left, top: top + svg.top - frame.top };
      };
      box.show = (x) => {
        const { left, top } = inside();
        const [sx, sy] = [view.scale("x"), view.scale("y")];
        const near = [...lines].map(([name, line]) => {
          let best = 0;
          line.x.forEach((value, place) => { if (Math.abs(value - x) < Math.abs(line.x[best] - x)) best = place; });
          return { name, x: line.x[best], y: line.y[best] };
        });
        const at = sx(near.reduce((best, point) => (Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best)).x);
        overlay.replaceChildren();
        const add = (kind, style) => {
          const part = document.createElement("div");
          part.className = kind;
          Object.assign(part.style, style);
          overlay.append(part);
          return part;
        };
        add("cross", { left: `${left + at}px`, top: `${top}px`, height: `${view.height()}px` });
        for (const point of near) add("dot", { left: `${left + sx(point.x)}px`, top: `${top + sy(point.y)}px`, background: color(point.name) });
        const tip = add("tip", { top: `${top}px` });
        const rows = [[hover.x_title, near[0].x], ...near.slice(0, FEW).map((point) => [point.name || (alone ? hover.y_title : ""), point.y, color(point.name)])];
        const body = document.createElement("table");
        for (const [name, value, swatch] of rows) {
          const row = body.insertRow();
          const cell = row.insertCell();
          if (swatch && hover.by !== null) cell.append(Object.assign(document.createElement("i"), { style: `background:${swatch}` }));
          cell.append(name);
          row.insertCell().append(text(value));
        }
        tip.append(body);
        const right = at < view.width() / 2;
        tip.style.left = `${left + at + (right ? 10 : -10 - tip.offsetWidth)}px`;
      };
      box.hide = () => overlay.replaceChildren();
      box.along = hover.x;
      const together = () => [...box.parentElement.children].filter((other) => other.along === box.along);
      box.addEventListener("pointermove", (event) => {
        const x = event.clientX - box.getBoundingClientRect().left - inside().left;
        if (x < -4 || x > view.width() + 4) { together().forEach((other) => other.hide()); return; }
        const value = view.scale("x").invert(x);
        together().forEach((other) => other.show(value));
      });
      box.addEventListener("pointerleave", () => together().forEach((other) => other.hide()));
    }

    all();
  }
})();
