"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const m = data.objectives.length;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const figure = document.getElementById("figure");
  const slider = document.getElementById("weight");
  const column = (rows, k) => rows.map((row) => row[k]);
  const rowsAt = (rows, kept) => kept.map((index) => rows[index]);
  const short = (value) => (value === null ? "" : Number(value.toPrecision(4)).toString());
  const words = (weights) => weights.map((w, k) => `${data.objectives[k]} ${w.toFixed(2)}`).join(", ");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function place(rows) {
    const axes = { x: column(rows, 0), y: column(rows, 1) };
    return m === 3 ? { ...axes, z: column(rows, 2) } : axes;
  }

  function marks(rows, look) {
    return { type: m === 3 ? "scatter3d" : "scatter", mode: "markers", ...place(rows), ...look };
  }

  function errors() {
    if (data.half.some((row) => row.includes(null))) return {};
    const bar = (k) => ({ type: "data", array: column(data.half, k), thickness: 1, width: m === 3 ? 2 : 3 });
    return m === 3 ? { error_x: bar(0), error_y: bar(1), error_z: bar(2) } : { error_x: bar(0), error_y: bar(1) };
  }

  function points() {
    const traces = [];
    if (data.known) {
      const look = { symbol: "diamond-open", size: m === 3 ? 6 : 12, color: colour("--text") };
      traces.push(marks(data.known, { name: "exact front", marker: look, hoverinfo: "x+y+z" }));
    }
    for (const seed of data.seeds) {
      const tint = dark.matches ? seed.style.dark : seed.style.light;
      const kept = rowsAt(seed.returns, seed.kept);
      const faint = { color: tint, size: m === 3 ? 2 : 5, opacity: 0.35 };
      traces.push(marks(seed.returns, { marker: faint, showlegend: false, hoverinfo: "skip" }));
      const text = rowsAt(seed.asked, seed.kept).map(words);
      const look = { color: tint, size: m === 3 ? 4 : 8, symbol: m === 3 ? "circle" : seed.style.symbol };
      traces.push(marks(kept, { name: seed.name, marker: look, text, hovertemplate: "%{text}<br>%{x:.4g}, %{y:.4g}" }));
    }
    const middle = { color: colour("--soft"), size: m === 3 ? 2 : 4, symbol: m === 3 ? "circle" : "line-ew-open" };
    const name = `mean, 95 % over ${data.over}`;
    traces.push(marks(data.mean, { name, marker: middle, ...errors(), hoverinfo: "skip", opacity: 0.8 }));
    const ring = { color: colour("--accent"), size: m === 3 ? 9 : 18, symbol: "circle-open", line: { width: 3 } };
    traces.push(marks([data.mean[0]], { name: "chosen", marker: ring, hoverinfo: "skip" }));
    return traces;
  }

  const ends = data.objectives.map((_, k) => {
    const all = data.seeds.flatMap((seed) => column(rowsAt(seed.returns, seed.kept), k));
    return [Math.min(...all), Math.max(...all)];
  });
  const share = (row) => row.map((value, k) => (value - ends[k][0]) / (ends[k][1] - ends[k][0] || 1));

  function line(rows, look) {
    const places = data.objectives.map((_, k) => k);
    const x = rows.flatMap(() => [...places, null]), y = rows.flatMap((row) => [...share(row), null]);
    return { type: "scatter", mode: "lines", x, y, hoverinfo: "skip", ...look };
  }

  function parallel() {
    const traces = data.seeds.map((seed) => {
      const color = dark.matches ? seed.style.dark : seed.style.light;
      return line(rowsAt(seed.returns, seed.kept), { name: seed.name, line: { color, width: 1 }, opacity: 0.6 });
    });
    return [...traces, line([data.mean[0]], { name: "chosen", line: { color: colour("--accent"), width: 4 } })];
  }

  function layout() {
    const lines = { gridcolor: colour("--grid"), zerolinecolor: colour("--line") };
    const axis = (k) => ({ title: { text: data.objectives[k] }, ...lines });
    const paper = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("--text") } };
    const base = { ...paper, height: 560, margin: { l: 70, r: 30, t: 20, b: 60 },
      legend: { orientation: "h", y: -0.16 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") } };
    if (m === 2) return { ...base, xaxis: axis(0), yaxis: axis(1) };
    if (m === 3) return { ...base, scene: { xaxis: axis(0), yaxis: axis(1), zaxis: axis(2) } };
    const ticktext = data.objectives.map((name, k) => `${name}<br>${short(ends[k][0])} to ${short(ends[k][1])}`);
    const tickvals = ticktext.map((_, k) => k);
    const across = { range: [-0.2, m - 0.8], tickvals, ticktext, gridcolor: colour("--soft"), zeroline: false };
    const up = { title: { text: "share of the range of the points" }, gridcolor: colour("--grid"), zeroline: false };
    return { ...base, xaxis: across, yaxis: up };
  }

  // A closed list of buttons: the default one can send the data of a figure to a server.
  const buttons = m === 3 ? ["toImage", "resetCameraDefault3d"] : ["toImage", "zoom2d", "pan2d", "resetScale2d"];

  function draw() {
    const traces = m > 3 ? parallel() : points();
    const config = { responsive: true, displaylogo: false, modeBarButtons: [buttons] };
    Plotly.react(figure, traces, layout(), config).then(show);
  }

  function returns(index) {
    return data.objectives.map((name, k) => {
      const all = column(data.mean, k);
      const low = Math.min(...all), span = Math.max(...all) - low || 1;
      const share = (value) => Math.max(0, Math.min(1, (value - low) / span));
      const value = data.mean[index][k], half = data.half[index][k];
      const ends = half === null ? "" : `${short(value - half)} to ${short(value + half)}`;
      const from = half === null ? 0 : share(value - half), to = half === null ? 0 : share(value + half);
      const whisker = `<u style="left:${100 * from}%;width:${100 * (to - from)}%"></u>`;
      const bar = `<div class="bar"><i style="width:${100 * share(value)}%"></i>${whisker}</div>`;
      return `<tr><td>${name}</td><td data-label="mean return">${short(value)}</td>` +
        `<td data-label="95 % over ${data.over}">${ends}</td><td class="wide" data-label="of its range">${bar}</td></tr>`;
    }).join("");
  }

  function show() {
    const index = Number(slider.value);
    const chips = data.asked[index].map((w, k) => `<span>${data.objectives[k]} <b>${w.toFixed(2)}</b></span>`);
    document.getElementById("weights").innerHTML = chips.join("");
    document.getElementById("returns").innerHTML = returns(index);
    slider.setAttribute("aria-valuetext", words(data.asked[index]));
    const chosen = m > 3 ? { y: line([data.mean[index]], {}).y } : place([data.mean[index]]);
    const wrapped = Object.fromEntries(Object.entries(chosen).map(([key, value]) => [key, [value]]));
    Plotly.restyle(figure, wrapped, [figure.data.length - 1]);
    if (!data.strips.length) return;
    const nearest = data.strips.reduce((a, b) => (Math.abs(b.index - index) < Math.abs(a.index - index) ? b : a));
    document.getElementById("strip").innerHTML =
      `<p class="how">An episode from left to right, for the nearest preference that was filmed: ` +
      `${words(data.asked[nearest.index])}.</p><img alt="film strip" src="${nearest.picture}">`;
  }

  slider.max = data.asked.length - 1;
  slider.value = Math.floor((data.asked.length - 1) / 2);
  document.getElementById("interval").textContent = `95 % over ${data.over}`;
  document.getElementById("legend").textContent = m > 3
    ? "A line per non-dominated point of a seed, with every objective scaled to the range of these points."
    : "Strong marks are non-dominated points of a seed. Hover over a point to see its preference.";
  slider.addEventListener("input", show);
  dark.addEventListener("change", draw);
  draw();
  document.documentElement.dataset.ready = "yes";
})();
