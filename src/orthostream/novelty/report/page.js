"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE_OF_ENTRIES = 50, PAGE_OF_TOPICS = 30, NEAR = 16, STRIP = 480;
  const data = JSON.parse(byId("data").textContent);
  const scores = data.scores, topics = data.topics;

  function byId(id) { return document.getElementById(id); }

  function svg(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function html(parent, name, text) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const count = (value) => value.toLocaleString("en-US");
  const short = (value) => value === 0 || (Math.abs(value) >= 0.001 && Math.abs(value) < 10000)
    ? value.toFixed(3) : value.toPrecision(3);

  /* Numbers 1, 2 or 5 times a power of ten apart. */
  function ticks(low, high, most) {
    const rough = (high - low) / Math.max(most, 1) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(k * step);
    return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  /* The place of the bin with a document. */
  function binOf(bins, number) {
    let low = 0, high = bins.last.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bins.last[middle] < number) low = middle + 1; else high = middle;
    }
    return low;
  }

  /* Times as written; of ISO times, the part that differs. */
  function timeText(time, first, last) {
    const parts = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})/.exec(time);
    if (!parts) return time.length > 16 ? time.slice(0, 15) + "…" : time;
    return first.slice(0, 10) === last.slice(0, 10) ? parts[2] : parts[1];
  }

  function documentTicks(parent, bins, from, to, left, width, top) {
    const place = (number) => left + (to > from ? (number - from) / (to - from) : 0.5) * width;
    const marks = ticks(from, to, Math.max(1, Math.floor(width / 90))).values.filter((value) => Number.isInteger(value));
    const first = bins.time[binOf(bins, from)], last = bins.time[binOf(bins, to)];
    for (const number of new Set(marks.length > 1 ? marks : [from, to])) {
      if (number < from || number > to) continue;
      const x = place(number);
      const anchor = x < left + 34 ? "start" : x > left + width - 34 ? "end" : "middle";
      svg(parent, "line", { class: "grid", x1: x, x2: x, y1: top, y2: top + 5 });
      svg(parent, "text", { x, y: top + 17, "text-anchor": anchor }, count(number));
      svg(parent, "text", { x, y: top + 32, "text-anchor": anchor }, timeText(bins.time[binOf(bins, number)], first, last));
    }
  }

  /* ---- flagged documents ---- */

  const list = byId("entries"), filter = byId("filter"), order = byId("order"), more = byId("more");
  const entries = Array.from(list.children, (element) => {
    const [title, place] = element.children;
    const reasons = Array.from(
      element.querySelectorAll(".reasons li:not(.none), .reasons bdi"), (each) => each.firstChild.textContent,
    );
    return {
      element, number: Number(element.id.slice(1)), score: Number(element.dataset.score),
      threshold: Number(element.dataset.threshold ?? NaN), title: title.textContent, place: place.textContent,
      words: [title.textContent, place.textContent, ...reasons].join("\n").toLocaleLowerCase(),
    };
  });
  const excess = (entry) => Number.isNaN(entry.threshold) ? -Infinity : entry.score - entry.threshold;
  const ORDERS = {
    score: (a, b) => b.score - a.score || a.number - b.number,
    excess: (a, b) => (excess(b) - excess(a)) || a.number - b.number,
    earliest: (a, b) => a.number - b.number,
    latest: (a, b) => b.number - a.number,
  };
  let matching = entries, wanted = PAGE_OF_ENTRIES;

  function arrange() {
    const words = filter.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const matches = (entry) => words.every((word) => entry.words.includes(word));
    entries.sort(ORDERS[order.value]);
    matching = entries.filter(matches);
    list.append(...entries.map((entry) => entry.element));
    show();
    for (const dot of chart.dots) dot.element.classList.toggle("off", !matches(dot.entry));
  }

  function show() {
    const shown = new Set(matching.slice(0, wanted));
    for (const entry of entries) entry.element.hidden = !shown.has(entry);
    const left = matching.length - shown.size;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(left, PAGE_OF_ENTRIES)} more of ${count(left)}`;
    byId("matches").textContent = matching.length === entries.length
      ? `${count(entries.length)} documents` : `${count(matching.length)} of ${count(entries.length)} documents`;
  }

  function goTo(entry) {
    if (!matching.includes(entry)) { filter.value = ""; arrange(); }
    wanted = Math.max(wanted, matching.indexOf(entry) + 1);
    show();
    for (const each of entries) each.element.classList.toggle("chosen", each === entry);
    entry.element.scrollIntoView({ block: "start" });
    entry.element.querySelector("h3").focus({ preventScroll: true });
  }

  filter.addEventListener("input", () => { wanted = PAGE_OF_ENTRIES; arrange(); });
  order.addEventListener("change", () => { wanted = PAGE_OF_ENTRIES; arrange(); });
  more.addEventListener("click", () => {
    const first = matching[wanted];
    wanted += PAGE_OF_ENTRIES;
    show();
    first.element.querySelector("h3").focus();
  });

  /* ---- score over the stream ---- */

  const chart = {
    box: byId("score-chart"), readout: byId("score-readout"), dots: [], current: null, columns: [], closeUp: false,
    all: [scores.first[0] ?? 1, scores.last.at(-1) ?? 1],
  };
  [chart.from, chart.to] = chart.all;

  /* Neighbouring bins in view, joined until they are wide enough to be seen. */
  function columnsInView(width) {
    const begin = binOf(scores, chart.from), end = binOf(scores, chart.to);
    const step = Math.max(1, Math.ceil((end - begin + 1) / (width / 5)));
    const found = [];
    for (let start = begin; start <= end; start += step) {
      const stop = Math.min(start + step, end + 1);
      const medians = scores.median.slice(start, stop).sort((a, b) => a - b);
      found.push({
        first: scores.first[start], last: scores.last[stop - 1], time: scores.time[start],
        least: Math.min(...scores.least.slice(start, stop)), most: Math.max(...scores.most.slice(start, stop)),
        median: (medians[(medians.length - 1) >> 1] + medians[medians.length >> 1]) / 2,
        threshold: scores.threshold.slice(start, stop).findLast((value) => value !== null) ?? null,
      });
    }
    return found;
  }

  function drawScores() {
    const { box } = chart;
    const focused = box.contains(document.activeElement) ? chart.current : null;
    const width = box.clientWidth, height = box.clientHeight;
    if (!width || !scores.first.length) return;
    const left = 46, right = width - 8, top = 10, bottom = height - 42;
    const columns = chart.columns = columnsInView(right - left);
    const inView = entries.filter((entry) => entry.number >= chart.from && entry.number <= chart.to);
    const levels = columns.flatMap((each) => [each.least, each.most, ...(each.threshold === null ? [] : [each.threshold])])
      .concat(inView.map((entry) => entry.score));
    let low = Infinity, high = -Infinity;
    for (const level of levels) { low = Math.min(low, level); high = Math.max(high, level); }
    if (chart.closeUp) {
      const limit = Math.min(...columns.map((each) => each.threshold ?? Infinity), ...inView.map((entry) => entry.score));
      if (limit < high) low = Math.max(low, limit - 2 * (high - limit));
    }
    const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    low -= margin; high += margin;
    const span = Math.max(chart.to - chart.from, 1);
    const x = (number) => left + clamp((number - chart.from) / span, 0, 1) * (right - left);
    const y = (level) => bottom - (level - low) / (high - low) * (bottom - top);
    chart.toNumber = (pixel) => chart.from + clamp((pixel - left) / (right - left), 0, 1) * span;
    chart.edges = { left, right, top, bottom };

    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-labelledby", "score-title");
    picture.setAttribute("aria-describedby", "course");
    const vertical = ticks(low, high, 6);
    for (const level of vertical.values) {
      svg(picture, "line", { class: "grid", x1: left, x2: right, y1: y(level), y2: y(level) });
      svg(picture, "text", { x: left - 7, y: y(level) + 4, "text-anchor": "end", "aria-hidden": "true" },
        level.toFixed(vertical.digits));
    }
    const ready = columns.findIndex((each) => each.threshold !== null);
    const warm = ready < 0 ? right : x(columns[ready].first);
    if (ready !== 0) {
      svg(picture, "rect", { class: "warming", x: left, y: top, width: Math.max(0, warm - left), height: bottom - top });
    }
    const corners = (level) => columns.flatMap((each) => [[x(each.first), y(level(each))], [x(each.last), y(level(each))]]);
    const path = (points) => points.map((point) => point.map((each) => each.toFixed(1)).join(" ")).join("L");
    const clip = svg(picture, "clipPath", { id: "plot" });
    svg(clip, "rect", { x: left, y: top, width: right - left, height: bottom - top });
    const curves = svg(picture, "g", { "clip-path": "url(#plot)", "aria-hidden": "true" });
    const band = corners((each) => each.most).concat(corners((each) => each.least).reverse());
    svg(curves, "path", { class: "band", d: `M${path(band)}Z` });
    const middles = columns.map((each) => [x((each.first + each.last) / 2), y(each.median)]);
    svg(curves, "path", { class: "median", d: `M${path(middles)}` });
    const limits = columns.filter((each) => each.threshold !== null);
    if (limits.length) {
      const line = limits.flatMap((each) => [[x(each.first), y(each.threshold)], [x(each.last), y(each.threshold)]]);
      svg(curves, "path", { class: "threshold", d: `M${path(line)}` });
    }
    const marks = svg(picture, "g", { "aria-hidden": "true" });
    documentTicks(marks, scores, chart.from, chart.to, left, right - left, bottom);

    const radius = inView.length > 300 ? 3 : 4.5;
    chart.dots = inView.sort(ORDERS.earliest).map((entry) => {
      const element = svg(picture, "a", {
        href: `#d${entry.number}`, tabindex: -1, "aria-label": `${entry.title}, ${entry.place}, score ${short(entry.score)}`,
      });
      const dot = { entry, element, x: x(entry.number), y: y(entry.score) };
      svg(element, "circle", { cx: dot.x, cy: dot.y, r: radius });
      element.classList.toggle("off", !matching.includes(entry));
      element.addEventListener("click", (event) => { event.preventDefault(); if (event.detail === 0) goTo(entry); });
      element.addEventListener("focus", () => { setCurrent(dot); showTip(dot); });
      element.addEventListener("blur", hideTip);
      return dot;
    });
    setCurrent(chart.dots.find((dot) => dot.entry === chart.current?.entry) ?? chart.dots[0] ?? null);
    chart.selection = svg(picture, "rect", { class: "drag", y: top, height: bottom - top, width: 0 });
    box.replaceChildren(picture);
    if (focused && chart.current) chart.current.element.focus();
    byId("from").value = chart.from;
    byId("to").value = chart.to;
    chart.readout.textContent = `Documents ${count(chart.from)} to ${count(chart.to)}: ${count(inView.length)} of the list below.`;
  }

  function setCurrent(dot) {
    chart.current?.element.setAttribute("tabindex", -1);
    chart.current = dot;
    dot?.element.setAttribute("tabindex", 0);
  }

  function showTip(dot) {
    hideTip();
    const tip = chart.tip = html(chart.box, "div");
    tip.className = "tip";
    tip.setAttribute("aria-hidden", "true");
    html(tip, "bdi", dot.entry.title);
    const limit = Number.isNaN(dot.entry.threshold) ? "" : `, threshold ${short(dot.entry.threshold)}`;
    html(tip, "span", `score ${short(dot.entry.score)}${limit}`);
    html(tip, "br");
    html(tip, "span", dot.entry.place);
    const above = dot.y - tip.offsetHeight - 12;
    tip.style.left = `${clamp(dot.x - tip.offsetWidth / 2, 0, chart.box.clientWidth - tip.offsetWidth)}px`;
    tip.style.top = `${above >= -40 ? above : dot.y + 14}px`;
    dot.element.classList.add("near");
    chart.near = dot;
  }

  function hideTip() {
    chart.tip?.remove();
    chart.near?.element.classList.remove("near");
    chart.tip = chart.near = null;
  }

  function nearest(px, py) {
    let best = null, least = NEAR ** 2;
    for (const dot of chart.dots) {
      const distance = (dot.x - px) ** 2 + (dot.y - py) ** 2;
      if (distance < least) { least = distance; best = dot; }
    }
    return best;
  }

  function within(event) {
    const { left, top } = chart.box.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  function zoom(from, to) {
    [from, to] = [Math.min(from, to), Math.max(from, to)].map((each) => clamp(Math.round(each), ...chart.all));
    [chart.from, chart.to] = Number.isFinite(from + to) ? [from, to] : chart.all;
    hideTip();
    drawScores();
  }

  chart.box.addEventListener("pointermove", (event) => {
    if (!chart.columns.length) return;
    const [px, py] = within(event);
    if (chart.dragFrom !== undefined) {
      const [a, b] = [chart.dragFrom, px].map((each) => clamp(each, chart.edges.left, chart.edges.right));
      chart.selection.setAttribute("x", Math.min(a, b));
      chart.selection.setAttribute("width", Math.abs(a - b));
      return;
    }
    const dot = nearest(px, py);
    if (dot !== chart.near) { hideTip(); if (dot) showTip(dot); }
    const number = chart.toNumber(px);
    const column = chart.columns.find((each) => number <= each.last) ?? chart.columns.at(-1);
    const which = column.first === column.last
      ? `Document ${count(column.first)}` : `Documents ${count(column.first)} to ${count(column.last)}`;
    const range = column.least === column.most
      ? short(column.median) : `${short(column.least)} to ${short(column.most)}, median ${short(column.median)}`;
    const limit = column.threshold === null ? "warming up" : `threshold ${short(column.threshold)}`;
    chart.readout.textContent = `${which}${column.time ? ` (${column.time})` : ""}: score ${range}; ${limit}.`;
  });
  chart.box.addEventListener("pointerleave", () => { if (!chart.box.contains(document.activeElement)) hideTip(); });
  chart.box.addEventListener("pointerdown", (event) => {
    // With a finger, moving scrolls the page.
    if (event.pointerType === "touch" || event.button !== 0) return;
    chart.dragFrom = within(event)[0];
    chart.box.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  chart.box.addEventListener("pointerup", (event) => {
    const start = chart.dragFrom, [px, py] = within(event);
    delete chart.dragFrom;
    if (start !== undefined && Math.abs(px - start) > 6) { zoom(chart.toNumber(start), chart.toNumber(px)); return; }
    const dot = nearest(px, py);
    if (dot) goTo(dot.entry);
  });
  chart.box.addEventListener("pointercancel", () => {
    delete chart.dragFrom;
    chart.selection?.setAttribute("width", 0);
  });
  chart.box.addEventListener("dblclick", () => zoom(...chart.all));
  chart.box.addEventListener("keydown", (event) => {
    const place = chart.dots.indexOf(chart.current), last = chart.dots.length - 1;
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") hideTip();
    if (next === undefined || place < 0) return;
    event.preventDefault();
    chart.dots[clamp(next, 0, last)].element.focus();
  });
  const fields = [byId("from"), byId("to")];
  for (const field of fields) {
    [field.min, field.max] = chart.all;
    field.addEventListener("change", () => {
      const [from, to] = fields.map((each, end) => each.value === "" ? chart.all[end] : Number(each.value));
      zoom(from, to);
    });
  }
  byId("whole").addEventListener("click", () => zoom(...chart.all));
  byId("close-up").addEventListener("click", (event) => {
    chart.closeUp = !chart.closeUp;
    event.currentTarget.setAttribute("aria-pressed", chart.closeUp);
    drawScores();
  });

  /* ---- topics over the stream ---- */

  const strips = [], axis = byId("topic-axis"), topicReadout = byId("topic-readout"), others = byId("all-topics");
  const bounds = [topics.first[0] ?? 1, topics.last.at(-1) ?? 1];
  const binOfPixel = new Uint16Array(STRIP);
  for (let pixel = 0; pixel < STRIP && topics.first.length; pixel++) {
    binOfPixel[pixel] = binOf(topics, bounds[0] + Math.floor((pixel + 0.5) / STRIP * (bounds[1] - bounds[0] + 1)));
  }
  const sorted = topics.shares.slice(0, PAGE_OF_TOPICS).flat().sort((a, b) => a - b);
  /* So that one burst does not make everything else pale. */
  const top = Math.max(sorted[Math.floor(sorted.length * 0.998)] ?? 0, 1);
  const percent = (share) => `${(100 * share / topics.parts).toFixed(share >= topics.parts / 10 ? 0 : 1)} %`;

  function heatColours() {
    const style = getComputedStyle(document.documentElement);
    const stops = [0, 1, 2, 3, 4].map((k) => style.getPropertyValue(`--heat-${k}`).trim())
      .map((text) => [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16)));
    return Array.from({ length: 256 }, (_, level) => {
      const place = level / 255 * 4, low = Math.min(Math.floor(place), 3);
      return stops[low].map((value, k) => Math.round(value + (place - low) * (stops[low + 1][k] - value)));
    });
  }

  function paint(canvas, levels, colours) {
    const context = canvas.getContext("2d"), image = context.createImageData(levels.length, 1);
    levels.forEach((level, k) => image.data.set([...colours[level], 255], 4 * k));
    context.putImageData(image, 0, 0);
  }

  function paintTopics() {
    const colours = heatColours();
    for (const { canvas, shares, element } of strips) {
      if (element.hidden) continue;
      // A square root, since small shares are most of what there is.
      const levels = shares.map((share) => Math.round(255 * Math.sqrt(Math.min(share / top, 1))));
      paint(canvas, Array.from(binOfPixel, (bin) => levels[bin]), colours);
    }
    paint(byId("scale").querySelector("canvas"), Array.from({ length: 256 }, (_, level) => level), colours);
  }

  function drawTopicAxis() {
    const width = (strips[0]?.canvas.parentElement.clientWidth ?? 0);
    if (!width) return;
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("aria-hidden", "true");
    documentTicks(picture, topics, bounds[0], bounds[1], 0, width, 0);
    axis.replaceChildren(picture);
  }

  function describe(strip, bin) {
    const when = topics.time[bin] ? ` (${topics.time[bin]})` : "";
    return `Documents ${count(topics.first[bin])} to ${count(topics.last[bin])}${when}: ${percent(strip.shares[bin])}`;
  }

  function pick(strip, bin) {
    strip.bin = clamp(bin, 0, strip.shares.length - 1);
    strip.canvas.setAttribute("aria-valuenow", strip.bin);
    strip.canvas.setAttribute("aria-valuetext", describe(strip, strip.bin));
    for (const each of strips) each.mark.hidden = each !== strip;
    const [first, last] = [topics.first, topics.last].map((ends) => ends[strip.bin]);
    const middle = ((first + last + 1) / 2 - bounds[0]) / (bounds[1] - bounds[0] + 1);
    strip.mark.style.left = `${100 * middle}%`;
    topicReadout.replaceChildren();
    html(topicReadout, "bdi", strip.words);
    topicReadout.append(`. ${describe(strip, strip.bin)}.`);
  }

  function stepTopics(event, strip) {
    const visible = strips.filter((each) => !each.element.hidden), place = visible.indexOf(strip);
    const bin = { ArrowRight: strip.bin + 1, ArrowLeft: strip.bin - 1, Home: 0, End: strip.shares.length - 1 }[event.key];
    const row = { ArrowDown: place + 1, ArrowUp: place - 1 }[event.key];
    if (bin === undefined && row === undefined) return;
    event.preventDefault();
    if (bin !== undefined) { pick(strip, bin); return; }
    const next = visible[clamp(row, 0, visible.length - 1)];
    next.bin = strip.bin;
    next.canvas.focus();
  }

  Array.from(byId("topic-list").children).forEach((element, row) => {
    const words = element.querySelector(".words").textContent, shares = topics.shares[row];
    const box = html(element, "div"), canvas = html(box, "canvas"), mark = html(box, "i");
    box.className = "strip";
    mark.hidden = true;
    [canvas.width, canvas.height] = [STRIP, 1];
    const peak = shares.indexOf(Math.max(...shares));
    const strip = { element, canvas, mark, shares, words, bin: peak };
    const attributes = {
      role: "slider", "aria-label": `Share of the topic ${words}`, "aria-valuemin": 0, "aria-valuemax": shares.length - 1,
      "aria-valuenow": peak, "aria-valuetext": `most in: ${describe(strip, peak)}`, tabindex: row ? -1 : 0,
    };
    for (const [key, value] of Object.entries(attributes)) canvas.setAttribute(key, value);
    canvas.addEventListener("focus", () => {
      for (const each of strips) each.canvas.setAttribute("tabindex", each === strip ? 0 : -1);
      pick(strip, strip.bin);
    });
    canvas.addEventListener("keydown", (event) => stepTopics(event, strip));
    canvas.addEventListener("pointermove", (event) => {
      const { left, width } = canvas.getBoundingClientRect();
      pick(strip, binOfPixel[clamp(Math.floor((event.clientX - left) / width * STRIP), 0, STRIP - 1)]);
    });
    strips.push(strip);
  });

  function showTopics(all) {
    strips.forEach((strip, row) => { strip.element.hidden = !all && row >= PAGE_OF_TOPICS; });
    others.setAttribute("aria-expanded", all);
    others.textContent = all ? `Only the largest ${PAGE_OF_TOPICS}` : `Show the other ${strips.length - PAGE_OF_TOPICS} topics`;
    paintTopics();
  }

  others.addEventListener("click", () => showTopics(others.getAttribute("aria-expanded") !== "true"));

  /* ---- all together ---- */

  for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;
  others.hidden = strips.length <= PAGE_OF_TOPICS;
  const scale = byId("scale");
  scale.hidden = axis.hidden = topicReadout.hidden = !strips.length;
  html(scale, "span", "share: 0 %");
  Object.assign(html(scale, "canvas"), { width: 256, height: 1 });
  html(scale, "span", `${percent(top)} or more`);
  for (const each of [...document.querySelectorAll("#flagged .tools, #matches")]) each.hidden = !entries.length;
  for (const each of document.querySelectorAll("#score .tools, #score .legend, #score-chart")) each.hidden = !scores.first.length;
  document.querySelector(".legend .warming").hidden = scores.threshold[0] !== null;
  drawScores();
  arrange();
  showTopics(false);
  drawTopicAxis();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawScores();
    drawTopicAxis();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintTopics);
  function goToAddress() {
    const asked = entries.find((entry) => `#${entry.element.id}` === location.hash);
    if (asked) goTo(asked);
  }
  addEventListener("hashchange", goToAddress);
  // Later than the browser, which looks for the place itself and takes the focus away.
  addEventListener("load", () => setTimeout(goToAddress));
})();
