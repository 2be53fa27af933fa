"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("screen and (max-width: 760px)");
  const state = { study: 0, preference: "all", hidden: new Set(), printing: false };
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const study = () => report.studies[state.study];
  const colour = (style) => (dark.matches && !state.printing ? style.dark : style.light);
  const fade = (hex, alpha) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    return `rgba(${r},${g},${b},${alpha})`;
  };

  // Give a trace the look of its method; `meta.role` says what kind of mark it is.
  const paint = (trace) => {
    const style = study().methods[trace.meta.method].style;
    const c = colour(style);
    const width = trace.meta.method === study().reference ? 3.2 : 2;
    const looks = {
      line: { line: { ...trace.line, color: c, dash: style.dash, width },
        marker: { symbol: style.symbol, size: 9, color: c } },
      band: { line: { width: 0, color: c }, fillcolor: fade(c, 0.11) },
      bar: { marker: { color: fade(c, 0.8), line: { color: c, width: 1 },
        pattern: { shape: style.hatch, fillmode: "overlay", fgcolor: css("--card"), fgopacity: 0.75, solidity: 0.2,
          size: 8 } },
        error_x: trace.error_x && { ...trace.error_x, color: css("--text") } },
      interval: { marker: { symbol: trace.meta.apart ? "circle" : "circle-open", size: 10, line: { width: 2 },
        color: trace.meta.apart ? css("--accent") : css("--soft") },
        error_x: { ...trace.error_x, color: trace.meta.apart ? css("--accent") : css("--soft") } },
      paper: { marker: { symbol: "diamond-open", size: 10, color: css("--text"), line: { width: 2 } } },
      radar: { line: { color: c, dash: style.dash, width }, marker: { symbol: style.symbol, size: 7, color: c },
        mode: "lines+markers" },
      front: { marker: { symbol: trace.type === "scatter3d" ? solid(style.symbol) : style.symbol,
        size: trace.type === "scatter3d" ? 5 : 10, color: c, line: { color: css("--text"), width: 1.2 } } },
      dominated: { opacity: trace.type === "scatter3d" ? 0.3 : 0.45, marker: { color: c, line: { width: 1, color: c },
        symbol: trace.type === "scatter3d" ? "circle" : style.symbol + "-open",
        size: trace.type === "scatter3d" ? 3 : 6 } },
      strong: { line: { color: c, dash: style.dash, width: 2.4 }, marker: { symbol: style.symbol, size: 8, color: c } },
      faint: { opacity: 0.28, line: { color: c, dash: style.dash, width: 1 }, marker: { size: 3, color: c } },
    };
    return { showlegend: false, ...trace, ...looks[trace.meta.role] };
  };
  // Three-dimensional scatter knows only a few symbols.
  const solid = (symbol) => (["circle", "square", "diamond", "cross", "x"].includes(symbol) ? symbol : "circle");

  const axis = (given, extra) => ({ gridcolor: css("--grid"), linecolor: css("--line"), zerolinecolor: css("--line"),
    automargin: true, ...given, ...extra,
    title: { ...(given && given.title), standoff: 8, font: { size: 13, color: css("--soft") } } });

  const layoutOf = (figure) => {
    const given = figure.layout;
    const layout = { height: 340, ...given, margin: { l: 52, r: 14, t: 14, b: 46 }, paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif", size: 12.5, color: css("--text") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--line"), activecolor: css("--accent") },
      shapes: (given.shapes || []).map((shape) => ({ ...shape, line: { ...shape.line, color: css("--soft") } })),
      showlegend: false, hovermode: "closest", dragmode: narrow.matches ? false : "zoom",
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--text") }, align: "left" },
    };
    if (given.scene) {
      const three = Object.fromEntries(["xaxis", "yaxis", "zaxis"].map((key) => [key, {
        ...given.scene[key], gridcolor: css("--line"), color: css("--soft"), backgroundcolor: css("--card"),
        zerolinecolor: css("--line") }]));
      return { ...layout, dragmode: "turntable", margin: { l: 0, r: 0, t: 0, b: 0 },
        scene: { ...three, aspectmode: "cube",
          camera: { eye: narrow.matches ? { x: 1.9, y: 1.9, z: 1.1 } : { x: 1.65, y: 1.65, z: 0.95 } } } };
    }
    if (given.polar) {
      const side = narrow.matches ? 78 : 60;
      return { ...layout, height: narrow.matches ? 330 : 440, margin: { l: side, r: side, t: 34, b: 34 }, polar: {
        bgcolor: "rgba(0,0,0,0)",
        radialaxis: { ...given.polar.radialaxis, nticks: narrow.matches ? 4 : 7, gridcolor: css("--grid"),
          linecolor: css("--line"), tickfont: { color: css("--soft"), size: 11 } },
        angularaxis: { gridcolor: css("--grid"), linecolor: css("--line"), direction: "clockwise", rotation: 90 } } };
    }
    const ticks = given.xaxis && given.xaxis.ticktext && narrow.matches
      ? { ticktext: given.xaxis.ticktext.map((text) => text.replace(" to ", "<br>to ")), tickangle: 0, tickfont: { size: 10 } }
      : {};
    return { ...layout, xaxis: axis(given.xaxis, ticks), yaxis: axis(given.yaxis) };
  };

  // Break long labels into short lines where the page is narrow.
  const wrap = (text) => {
    if (!narrow.matches) return text;
    const lines = [""];
    for (const word of text.replace("<b>", " <b>").split(/\s+/)) {
      const longer = `${lines[lines.length - 1]} ${word}`.trim();
      if (longer.replace(/<[^>]+>/g, "").length > 17 && lines[lines.length - 1]) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines.join("<br>");
  };
  const wrapTraces = (trace) => (["bar", "interval", "paper"].includes(trace.meta.role) ? { ...trace, y: trace.y.map(wrap) } : trace);

  // A closed list of buttons: the default one can send the data of a figure to a server.
  const buttons = (layout) => {
    if (layout.scene) return ["toImage", "resetCameraDefault3d"];
    return layout.polar ? ["toImage"] : ["toImage", "zoom2d", "pan2d", "resetScale2d"];
  };
  const config = (figure) => ({ responsive: true, displaylogo: false, displayModeBar: narrow.matches ? false : "hover",
    modeBarButtons: [buttons(figure.layout)] });

  const drawOne = (div) => {
    const choices = study().figures[div.dataset.figure];
    const figure = choices[state.preference] || choices.all;
    const traces = figure.gap ? [] : figure.data.filter((trace) => !state.hidden.has(trace.meta.method));
    if (traces.length) {
      const note = div.querySelector(".gap");
      if (note) note.remove();
      Plotly.react(div, traces.map(wrapTraces).map(paint), layoutOf(figure), config(figure));
      return;
    }
    Plotly.purge(div);
    const note = document.createElement("p");
    note.className = "gap";
    note.textContent = figure.gap || "All methods that have data here are switched off.";
    div.replaceChildren(note);
  };

  // Figures below the fold are drawn when they come near, so that a big report opens at once.
  const nearby = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      entry.target.dataset.near = entry.isIntersecting ? "yes" : "";
      if (entry.isIntersecting && entry.target.dataset.stale) refresh(entry.target);
    }
  }, { rootMargin: "600px" });
  const refresh = (div) => { div.dataset.stale = ""; drawOne(div); };
  // What the words explain is there: `data-role` names a kind of mark, `data-scope` whether one preference is chosen.
  const explain = () => {
    const figures = Object.values(study().figures).map((choices) => choices[state.preference] || choices.all);
    const roles = new Set(figures.flatMap((figure) => (figure.data || []).flatMap((trace) =>
      [trace.meta.role, trace.error_x && "whisker"])));
    for (const words of document.querySelectorAll("[data-role]")) words.hidden = !roles.has(words.dataset.role);
    for (const words of document.querySelectorAll("[data-scope]")) {
      words.hidden = (words.dataset.scope === "all") !== (state.preference === "all");
    }
  };
  const draw = () => {
    explain();
    for (const div of document.querySelectorAll(".figure[data-figure]")) {
      div.dataset.stale = "yes";
      if (div.dataset.near) refresh(div);
    }
  };

  const swatch = (style) => {
    const dashes = { solid: "", dash: "5 3", dot: "1.5 3", dashdot: "6 3 1.5 3", longdash: "9 3", longdashdot: "9 3 1.5 3" };
    return `<svg width="24" height="10" aria-hidden="true"><line x1="0" y1="5" x2="24" y2="5" stroke="${colour(style)}" ` +
      `stroke-width="3.5" stroke-dasharray="${dashes[style.dash]}"/></svg>`;
  };

  const chips = () => {
    byId("methods").replaceChildren(...study().methods.map((method, k) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.dataset.method = k;
      chip.setAttribute("aria-pressed", String(!state.hidden.has(k)));
      chip.innerHTML = swatch(method.style);
      chip.append(method.name);
      chip.addEventListener("click", () => {
        state.hidden.has(k) ? state.hidden.delete(k) : state.hidden.add(k);
        chip.setAttribute("aria-pressed", String(!state.hidden.has(k)));
        draw();
      });
      return chip;
    }));
  };

  const options = (select, entries) => select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));

  const show = () => {
    byId("fronts").replaceChildren(...study().fronts.map((name) => {
      const div = document.createElement("div");
      div.className = /3d|parallel/.test(name) || study().fronts.length === 1 ? "figure wide" : "figure";
      div.dataset.figure = name;
      nearby.observe(div);
      return div;
    }));
    for (const block of document.querySelectorAll("[data-study]")) {
      block.hidden = Number(block.dataset.study) !== state.study;
    }
    options(byId("preference"), [["all", "All preferences"], ...study().preferences.map((label, p) => [p, label])]);
    chips();
    draw();
  };

  options(byId("study"), report.studies.map((one, i) => [i, one.title]));
  byId("study").addEventListener("change", (event) => {
    Object.assign(state, { study: Number(event.target.value), preference: "all", hidden: new Set() });
    show();
  });
  byId("preference").addEventListener("change", (event) => { state.preference = event.target.value; draw(); });
  for (const query of [dark, narrow]) query.addEventListener("change", () => { chips(); draw(); });
  // Paper has one width and no reader who scrolls: draw everything, light and as wide as a page.
  const print = (on) => {
    state.printing = on;
    chips();
    for (const div of document.querySelectorAll(".figure[data-figure]")) {
      const pair = !div.classList.contains("wide") && div.parentElement.classList.contains("grid");
      const width = pair ? 330 : 680;
      div.style.width = on ? `${width}px` : "";
      refresh(div);
      if (div.data) Plotly.relayout(div, on ? { width } : { width: null, autosize: true });
    }
  };
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  document.querySelectorAll(".figure[data-figure]").forEach((div) => nearby.observe(div));
  show();
  document.documentElement.dataset.ready = "yes";
})();
