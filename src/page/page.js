// Shows a snapshot (page_snapshot.h): the one inside the page, or a node's with its updates every second.
"use strict";

(() => {
  const POINTS_MAX = 4096; // points of a curve at most; beyond, every second point is dropped
  const EVENTS_MAX = 200;
  const NAMED_MAX = 40; // if there are at most this many nodes, the drawing names all of them
  const COLOURS = 10;
  const SILENT_MS = 5000; // without an update for this time, the page says that the node does not answer
  const AGAIN_MS = 2000;

  const snapshot = { figures: [], marks: [], happened: [] };
  const charts = new Map(); // figure's name -> { figure, graph, dirty }
  const at = (id) => document.getElementById(id);
  let colours = new Map(); // CSS colours by name; `redraw` empties it
  const colour = (name) => {
    if (!colours.has(name))
      colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return colours.get(name);
  };

  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  const figureText = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "?";
    const size = Math.abs(value);
    if (size >= 1e9) return (value / 1e9).toPrecision(3) + " G";
    if (size >= 1e6) return (value / 1e6).toPrecision(3) + " M";
    if (size >= 1e4) return (value / 1e3).toPrecision(3) + " k";
    return size === 0 || size >= 0.001 ? String(+value.toPrecision(4)) : value.toExponential(2);
  };

  const spanText = (s) => {
    if (s < 120) return figureText(+s.toFixed(1)) + " s";
    if (s < 7200) return (s / 60).toFixed(1) + " min";
    return s < 172800 ? (s / 3600).toFixed(1) + " h" : (s / 86400).toFixed(1) + " days";
  };

  // Merging an update into the snapshot.

  const thin = (points) => points.filter((_, i) => i % 2 === 1 || i === 0);

  const addPoints = (series, points) => {
    const last = series.points.length ? series.points[series.points.length - 1][0] : -Infinity;
    for (const point of points) if (point[0] > last) series.points.push(point);
    if (series.points.length > POINTS_MAX) series.points = thin(series.points);
  };

  const mergeFigure = (figure) => {
    const chart = charts.get(figure.name);
    if (!chart) {
      charts.set(figure.name, { figure, graph: null, dirty: true });
      snapshot.figures.push(figure);
      return;
    }
    for (const series of figure.series) {
      const known = chart.figure.series.find((other) => other.name === series.name);
      if (known) addPoints(known, series.points);
      else chart.figure.series.push(series);
    }
    chart.dirty = true;
  };

  const merge = (news) => {
    for (const [key, value] of Object.entries(news)) {
      if (key === "figures") value.forEach(mergeFigure);
      else if (key === "happened") {
        const last = snapshot.happened.length ? snapshot.happened[snapshot.happened.length - 1].at_s : -1;
        snapshot.happened.push(...value.filter((event) => event.at_s > last));
      }
      else snapshot[key] = value;
    }
    if (snapshot.happened.length > EVENTS_MAX) snapshot.happened = snapshot.happened.slice(-EVENTS_MAX);
  };

  const showHead = () => {
    const state = at("state");
    document.title = `${snapshot.title} · hearsay`;
    at("heading").textContent = snapshot.about || snapshot.title;
    state.replaceChildren();
    if (snapshot.badge) {
      const badge = make("span", snapshot.badge.text, snapshot.badge.is_good ? "good" : "bad");
      badge.id = "badge";
      state.append(badge, " ");
    }
    state.append(make("span", snapshot.about ? snapshot.title : ""));
    at("program").textContent = snapshot.program;
    at("limit").hidden = !snapshot.limit;
    at("limit").textContent = snapshot.limit || "";
  };

  const showVerdicts = () => {
    const words = { met: "met", missed: "NOT MET", open: "open" };
    const items = (snapshot.verdicts || []).map((verdict) => {
      const item = make("li", undefined, verdict.state);
      item.append(make("b", words[verdict.state] || ""), " " + verdict.text);
      return item;
    });
    at("verdicts").hidden = items.length === 0;
    at("verdicts").replaceChildren(...items);
  };

  const showFacts = () => {
    const facts = snapshot.facts || [];
    at("facts").hidden = facts.length === 0;
    at("facts").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
  };

  const showSpent = () => {
    const parts = (snapshot.spent || []).filter(([, part]) => part !== null);
    const text = parts.map(([name, part]) => `${name} ${(100 * part).toFixed(1)} %`).join(" · ");
    at("spent").hidden = parts.length === 0;
    at("spent-text").textContent = text;
    at("bar").setAttribute("aria-label", text);
    at("bar").replaceChildren(...parts.map(([, part], i) => {
      const piece = make("div");
      piece.style.flexGrow = String(part);
      piece.style.background = i === parts.length - 1 ? "var(--line)" : `var(--c${i})`;
      return piece;
    }));
  };

  const showHappened = () => {
    const items = snapshot.happened.slice().reverse().map((event) => {
      const item = make("li", undefined, event.level);
      item.append(make("time", spanText(event.at_s)), event.text);
      return item;
    });
    at("happened").hidden = items.length === 0;
    at("events").replaceChildren(...items);
  };

  const makeTable = (table) => {
    const whole = make("section");
    const box = make("div", undefined, "wide");
    const drawn = make("table");
    const head = make("tr");
    box.tabIndex = 0; // so that keys can scroll it
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", table.title);
    table.heads.forEach((name, i) => {
      const cell = make("th", name, i < table.texts ? "" : "figure");
      cell.scope = "col";
      head.append(cell);
    });
    const states = ["lost", "dead", "left", "out"];
    const rows = table.rows.map((row) => {
      const line = make("tr", undefined, row.find((text) => states.includes(text)));
      row.forEach((text, i) => line.append(make("td", text, i < table.texts ? "" : "figure")));
      return line;
    });
    const top = make("thead");
    const body = make("tbody");
    top.append(head);
    body.append(...rows);
    drawn.append(top, body);
    box.append(drawn);
    whole.append(make("h2", table.title), box, make("p", table.note, "note"));
    return whole;
  };

  // Rebuilds only tables that have changed, so that selections and scrolling in other tables stay.
  const showTables = () => {
    const place = at("tables");
    (snapshot.tables || []).forEach((table, i) => {
      const text = JSON.stringify(table);
      const old = place.children[i];
      if (old && old.dataset.text === text) return;
      const drawn = makeTable(table);
      drawn.dataset.text = text;
      if (old) {
        const scrolled = old.querySelector(".wide").scrollLeft;
        old.replaceWith(drawn);
        drawn.querySelector(".wide").scrollLeft = scrolled;
      } else place.append(drawn);
    });
  };

  const showRepeat = () => {
    at("repeat").hidden = !snapshot.command;
    at("command").textContent = snapshot.command || "";
    at("settings").hidden = !snapshot.settings;
    at("settings").querySelector("pre").textContent = snapshot.settings || "";
  };

  // The swarm: a circle of nodes, with this node, if it is in the swarm, in the middle.

  const drawing = { places: [], pointed: -1 };

  const placeNodes = (nodes, width, height) => {
    const self = nodes.findIndex((node) => node.is_self);
    const around = nodes.length - (self >= 0 ? 1 : 0);
    const named = nodes.length <= NAMED_MAX;
    const rx = width / 2 - (named ? 90 : 24);
    const ry = height / 2 - 28;
    let k = 0;
    return nodes.map((node, i) => {
      const angle = (2 * Math.PI * (i === self ? 0 : k++)) / Math.max(1, around) - Math.PI / 2;
      const apart = i === self && around > 0 ? 0 : around === 0 ? 0 : 1;
      const known = node.share !== null ? node.share : 0;
      const size = Math.min(24, 4 + 40 * Math.sqrt(known) * Math.min(1, 12 / nodes.length + 0.25));
      return { x: width / 2 + apart * rx * Math.cos(angle), y: height / 2 + apart * ry * Math.sin(angle),
        size, angle };
    });
  };

  const useColour = (use) => {
    if (use === null || use === undefined) return colour("--line");
    return use > 0.7 ? colour("--c1") : use > 0.3 ? colour("--c4") : colour("--c2");
  };

  const drawLink = (pen, link, places) => {
    const from = places[link.from], to = places[link.to];
    const rate = link.rate_bytes_per_s;
    pen.strokeStyle = useColour(link.use);
    pen.lineWidth = rate ? Math.max(0.6, Math.min(7, Math.log10(rate) - 3)) : 0.6;
    pen.beginPath();
    pen.moveTo(from.x, from.y);
    pen.lineTo(to.x, to.y);
    pen.stroke();
  };

  const drawNode = (pen, node, place) => {
    const gone = node.state !== "live";
    pen.beginPath();
    pen.arc(place.x, place.y, place.size, 0, 2 * Math.PI);
    pen.fillStyle = gone ? colour("--gone") : node.is_self ? colour("--c1") : colour("--c0");
    pen.fill();
    if (node.dials_only) {
      pen.setLineDash([3, 3]);
      pen.lineWidth = 1.5;
      pen.strokeStyle = colour("--ink");
      pen.beginPath();
      pen.arc(place.x, place.y, place.size + 3, 0, 2 * Math.PI);
      pen.stroke();
      pen.setLineDash([]);
    }
  };

  // Names are outside of the circle, because the links are inside. An outline in the background colour
  // keeps a name readable where a link crosses it.
  const drawName = (pen, node, place) => {
    const across = Math.cos(place.angle), down = Math.sin(place.angle);
    const isBeside = Math.abs(across) > 0.5 && !node.is_self;
    const away = place.size + (node.dials_only ? 9 : 6);
    const x = place.x + (isBeside ? Math.sign(across) * away : 0);
    const y = place.y + (isBeside ? 0 : (down < -0.01 ? -1 : 1) * (away + 6));
    pen.textAlign = !isBeside ? "center" : across > 0 ? "left" : "right";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = colour("--paper");
    pen.strokeText(node.name, x, y);
    pen.fillStyle = node.state !== "live" ? colour("--gone") : colour("--ink");
    pen.fillText(node.name, x, y);
  };

  const nodeText = (node) => {
    const words = [node.name, node.state];
    if (node.is_self) words.push("this node");
    if (node.share !== null) words.push(`share ${(100 * node.share).toFixed(1)} %`);
    if (node.dials_only) words.push("only dials out");
    return words.join(", ");
  };

  const drawingText = (swarm) => {
    const live = swarm.nodes.filter((node) => node.state === "live").length;
    const full = swarm.links.filter((link) => link.use > 0.7).length;
    return `${swarm.nodes.length} nodes, ${live} live; ${swarm.links.length} links are shown` +
      (full ? `, ${full} of them more than 70 % used. ` : ". ") +
      "Size: share of the progress. Width of a line: what the link carries; colour: how much of it is used. " +
      "Dashed ring: only dials out. Grey: gone.";
  };

  const drawSwarm = () => {
    const swarm = snapshot.swarm;
    at("swarm").hidden = !swarm || swarm.nodes.length === 0;
    if (at("swarm").hidden) return;
    const canvas = at("drawing");
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    drawing.places = placeNodes(swarm.nodes, width, height);
    swarm.links.forEach((link) => drawLink(pen, link, drawing.places));
    swarm.nodes.forEach((node, i) => drawNode(pen, node, drawing.places[i]));
    swarm.nodes.forEach((node, i) => {
      if (swarm.nodes.length <= NAMED_MAX || i === drawing.pointed) drawName(pen, node, drawing.places[i]);
    });
    at("drawing-about").textContent = drawingText(swarm);
    canvas.setAttribute("aria-label", "The swarm as a drawing; the table of members says the same.");
  };

  const point = (i) => {
    if (i === drawing.pointed || !snapshot.swarm) return;
    drawing.pointed = i;
    at("pointed").textContent = i >= 0 ? nodeText(snapshot.swarm.nodes[i]) : "";
    drawSwarm();
  };

  const onMove = (event) => {
    const box = at("drawing").getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 30 * 30;
    drawing.places.forEach((place, i) => {
      const apart = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (apart < least) [best, least] = [i, apart];
    });
    point(best);
  };

  const onKey = (event) => {
    const count = drawing.places.length;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || count === 0) return;
    event.preventDefault();
    point((Math.max(drawing.pointed, step > 0 ? -1 : 0) + step + count) % count);
  };

  // Returns one row for each x of any series; a series without a point there has null.
  const rowsOf = (figure, banded) => {
    const rows = new Map();
    const count = figure.series.length;
    const none = () => new Array(count).fill(null);
    figure.series.forEach((series, k) => {
      for (const [x, y, low, high] of series.points) {
        if (x === null || (figure.is_log_x && x <= 0)) continue;
        if (!rows.has(x)) rows.set(x, none());
        const has = y !== null;
        rows.get(x)[k] = !banded ? y : has ? [low ?? y, y, high ?? y] : null;
      }
    });
    const sorted = [...rows.entries()].sort((a, b) => a[0] - b[0]);
    const empty = banded ? none() : none();
    return sorted.length ? sorted.map(([x, values]) => [x, ...values]) : [[0, ...empty]];
  };

  const isBanded = (figure) => figure.series.some((series) => series.points.some((p) => p.length > 2));

  const strokeOf = (series, i) => {
    const styles = {
      line: { strokeWidth: 1.6 },
      points: { strokeWidth: 1.6, drawPoints: true, pointSize: 2.5 },
      dashed: { strokeWidth: 1.2, strokePattern: [6, 4] },
      thin: { strokeWidth: 0.6 },
      bold: { strokeWidth: 3 },
    };
    const base = { ...(styles[series.style] || styles.line) };
    if (i >= COLOURS && !base.strokePattern) base.strokePattern = [[6, 3], [2, 2], [8, 3, 2, 3]][Math.floor(i / COLOURS - 1) % 3];
    return base;
  };

  const shadeMarks = (figure) => (pen, area, graph) => {
    if (!figure.x.includes("(s)")) return;
    pen.fillStyle = colour("--shade");
    for (const mark of snapshot.marks || []) {
      const left = graph.toDomXCoord(mark.from_s);
      const right = Math.max(left + 1.5, graph.toDomXCoord(mark.to_s));
      pen.fillRect(left, area.y, right - left, area.h);
    }
  };

  const showKeys = (box, figure, graph, row) => {
    const labels = graph.getLabels().slice(1);
    const shown = labels.length > 24 ? labels.slice(0, 24) : labels;
    const colours = graph.getColors();
    box.replaceChildren();
    if (row) box.append(`${figure.x}: ${figureText(row.x)} `);
    shown.forEach((name, i) => {
      const point = row && row.points.find((p) => p.name === name);
      const key = make("span", `${i ? "  " : ""}— ${name}` + (point ? ` ${figureText(point.yval)}` : ""));
      key.style.color = colours[i];
      box.append(key, " ");
    });
    if (labels.length > shown.length) box.append(`and ${labels.length - shown.length} more`);
  };

  const describe = (figure) => figure.series.slice(0, 8).map((series) => {
    const known = series.points.filter((p) => p[1] !== null);
    if (!known.length) return `${series.name}: nothing yet`;
    return `${series.name}: from ${figureText(known[0][1])} to ${figureText(known[known.length - 1][1])}`;
  }).join("; ");

  // A loss falls fast, then slowly; a logarithmic axis shows both phases.
  const canBeLog = (figure) => figure.y === "loss" &&
    figure.series.every((series) => series.points.every((p) => p[1] === null || p[1] > 0));

  const button = (text, onClick) => {
    const made = make("button", text);
    made.type = "button";
    made.addEventListener("click", onClick);
    return made;
  };

  const makeTools = (chart) => {
    chart.tools = make("div", undefined, "tools");
    chart.log = button("log scale", () => {
      chart.isLog = !chart.isLog;
      chart.dirty = true;
      showSoon();
    });
    chart.whole = button("all of it", () => chart.graph.resetZoom());
    chart.tools.append(chart.log, chart.whole, make("span", "drag over a part to enlarge it"));
    return chart.tools;
  };

  const showTools = (chart) => {
    const isZoomed = chart.graph.isZoomed();
    chart.log.hidden = !canBeLog(chart.figure);
    chart.log.setAttribute("aria-pressed", String(Boolean(chart.isLog)));
    chart.whole.hidden = !isZoomed;
    chart.tools.lastChild.hidden = isZoomed;
  };

  const makeChart = (chart) => {
    const { figure } = chart;
    const whole = make("figure");
    whole.id = "figure-" + figure.name;
    chart.box = make("div", undefined, "chart");
    chart.keys = make("div", undefined, "keys");
    chart.box.setAttribute("role", "img");
    whole.append(make("h2", figure.title), makeTools(chart), chart.keys, chart.box,
      make("figcaption", figure.about));
    at("figures").append(whole);
  };

  const optionsOf = (chart) => {
    const { figure } = chart;
    const colours = figure.series.map((_, i) => colour(`--c${i % COLOURS}`));
    const isLog = Boolean(chart.isLog) && canBeLog(figure);
    const series = {};
    figure.series.forEach((each, i) => { series[each.name] = strokeOf(each, i); });
    return {
      file: rowsOf(figure, isBanded(figure)), labels: [figure.x, ...figure.series.map((s) => s.name)],
      customBars: isBanded(figure), colors: colours, series, xlabel: figure.x, ylabel: figure.y,
      connectSeparatedPoints: true, includeZero: figure.from_zero && !isLog, logscale: isLog, axisLineColor: colour("--line"),
      gridLineColor: colour("--line"), fillAlpha: 0.15, labelsShowZeroValues: true, legend: "never",
      axes: { x: { logscale: figure.is_log_x, axisLabelFormatter: figureText },
        y: { axisLabelFormatter: figureText, axisLabelWidth: 56 } },
      underlayCallback: shadeMarks(figure), highlightCircleSize: 3, animatedZooms: false,
      highlightCallback: (_, x, points) => showKeys(chart.keys, figure, chart.graph, { x, points }),
      unhighlightCallback: () => showKeys(chart.keys, figure, chart.graph, null),
      zoomCallback: () => showTools(chart),
    };
  };

  const drawChart = (chart) => {
    if (!chart.dirty) return;
    chart.dirty = false;
    if (!chart.box) makeChart(chart);
    const options = optionsOf(chart);
    if (chart.graph) chart.graph.updateOptions(options);
    else {
      const { file, ...rest } = options;
      chart.graph = new Dygraph(chart.box, file, rest);
    }
    showKeys(chart.keys, chart.figure, chart.graph, null);
    showTools(chart);
    chart.box.setAttribute("aria-label", `${chart.figure.title}. ${describe(chart.figure)}`);
  };

  // Draws at most once per frame of the screen, and not while the page is hidden.
  let asked = false;
  const show = () => {
    asked = false;
    showHead();
    showVerdicts();
    showFacts();
    showSpent();
    showHappened();
    showTables();
    showRepeat();
    drawSwarm();
    charts.forEach(drawChart);
  };
  const showSoon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(show);
  };
  const redraw = () => {
    colours = new Map();
    charts.forEach((chart) => { chart.dirty = true; });
    showSoon();
  };

  const token = new URLSearchParams(location.search).get("token");
  const path = (name) => name + (token ? `?token=${encodeURIComponent(token)}` : "");
  let heard = 0;

  const silent = () => {
    snapshot.badge = { is_good: false, text: "the node does not answer;" };
    showSoon();
  };

  // Discards the old snapshot: a restarted node has a new one.
  const forget = () => {
    charts.clear();
    Object.assign(snapshot, { figures: [], marks: [], happened: [], tables: [] });
    at("figures").replaceChildren();
    at("tables").replaceChildren();
  };

  // Follows /events before it loads the snapshot, so that no update is missed in between. The merge skips
  // points that the snapshot already has.
  const listen = () => {
    const events = new EventSource(path("events"));
    const watch = setInterval(() => { if (Date.now() - heard > SILENT_MS) silent(); }, 1000);
    let early = [], isOver = false;
    heard = Date.now();
    const end = () => {
      if (isOver) return;
      isOver = true;
      events.close();
      clearInterval(watch);
      silent();
      setTimeout(listen, AGAIN_MS);
    };
    events.onerror = end;
    events.onopen = async () => {
      try {
        const answer = await fetch(path("snapshot.json"));
        if (!answer.ok) throw new Error(await answer.text());
        const told = await answer.json();
        if (isOver) return;
        forget();
        [told, ...early].forEach(merge);
        early = null;
        heard = Date.now();
        showSoon();
      } catch (error) {
        end();
      }
    };
    events.onmessage = (event) => {
      heard = Date.now();
      if (early) early.push(JSON.parse(event.data));
      else {
        merge(JSON.parse(event.data));
        showSoon();
      }
    };
  };

  at("drawing").addEventListener("pointermove", onMove);
  at("drawing").addEventListener("pointerleave", () => point(-1));
  at("drawing").addEventListener("keydown", onKey);
  window.addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // For the console and for tests: shows an update as if the node had sent it.
  window.hearsayPage = { show: (news) => { merge(news); show(); } };

  const told = at("snapshot").textContent;
  if (told) {
    merge(JSON.parse(told));
    show();
  } else listen();
})();
