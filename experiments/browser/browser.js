// Filters over all verdicts, the list of items, keys and links. The index lies in typed arrays; the words come when wanted.
"use strict";
(() => {
  const {node, put, plain} = Reading;
  const $ = id => document.getElementById(id);
  const PAGE = 200;
  const CALLED = {dataset: "data", right: "right or wrong", flipped: "flipped by order", unstable: "repeats differ", order: "order shown"};
  const SAID = {right: {none: "no verdict, or no right one known"}};
  const UNTOLD = new Set(["outcome", "verdict", "right", "flipped", "unstable", "repeat", "constrained"]);
  const IN_LINK = {dataset: "data"};
  const KINDS = {1: Uint8Array, 2: Uint16Array, 4: Uint32Array};
  const expected = new Map(), loaded = new Map();
  let index, columns = new Map(), matched, hits, shown = [], listed = 0, current = -1, all = false;
  const chosen = new Map();
  let search = "";

  // Every file calls this with its name and what it holds.
  window.voirdire = (name, content) => { const take = expected.get(name); expected.delete(name); if (take) take(content); };

  function load(name) {
    if (!loaded.has(name)) {
      loaded.set(name, new Promise((resolve, reject) => {
        expected.set(name, resolve);
        const script = document.createElement("script");
        script.src = `verdicts/${name}.js`;
        script.onerror = () => reject(new Error(`verdicts/${name}.js is not there: the folder verdicts belongs beside this page`));
        script.onload = () => { if (expected.has(name)) reject(new Error(`verdicts/${name}.js is not whole: make the report again`)); };
        document.head.append(script);
      }));
    }
    return loaded.get(name);
  }

  function notice(text) { $("notice").textContent = plain(text); $("notice").hidden = !text; }

  function bytes(packed) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(packed);
    const text = atob(packed), made = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) made[i] = text.charCodeAt(i);
    return made;
  }

  async function begin() {
    index = await load("index");
    const parts = await Promise.all(Array.from({length: index.parts}, (_, i) => load(`rows-${i}`)));
    for (const {name, values, width} of index.columns) {
      const codes = new KINDS[width](index.verdicts);
      let at = 0;
      for (const part of parts) {
        const raw = bytes(part[name]), some = new KINDS[width](raw.buffer, raw.byteOffset, raw.byteLength / width);
        codes.set(some, at);
        at += some.length;
      }
      columns.set(name, {codes, values, counts: new Uint32Array(values.length)});
    }
    index.lower = index.items.map(id => id.toLowerCase());
    matched = new Uint8Array(index.verdicts);
    hits = new Uint32Array(index.items.length);
    $("title").textContent = index.study + ": verdicts";
    document.title = index.study + ": verdicts";
    const same = Object.entries(index.constant).filter(([name]) => !UNTOLD.has(name) && !(name === "order" && view.graded));
    $("constant").textContent = same.map(([name, value]) => `${IN_LINK[name] || name} ${value}`).join(" · ");
    $("constant").textContent = plain($("constant").textContent);
    fields();
    restore();
  }

  function fields() {
    for (const [name, {values}] of columns) {
      const label = node("label", "", CALLED[name] || name.replace("_", " "));
      const select = document.createElement("select");
      select.id = label.htmlFor = "filter-" + name;
      select.append(new Option("all", ""), ...values.map((value, code) => new Option(plain(value), String(code))));
      select.addEventListener("change", () => { choose(name, select.value === "" ? null : Number(select.value)); changed(); });
      columns.get(name).select = select;
      $("fields").append(label, select);
    }
  }

  function choose(name, code) {
    if (code === null) chosen.delete(name); else chosen.set(name, code);
  }

  // Counts beside a value say how many verdicts there would be with it, all other filters as they are.
  function apply() {
    const active = [...chosen].map(([name, value]) => ({column: columns.get(name), value}));
    const every = [...columns.values()];
    for (const {counts} of every) counts.fill(0);
    matched.fill(0);
    hits.fill(0);
    const wanted = search.toLowerCase();
    let total = 0;
    shown = [];
    for (let item = 0; item < hits.length; item++) {
      if (wanted && !index.lower[item].includes(wanted)) continue;
      for (let row = index.starts[item], end = index.starts[item + 1]; row < end; row++) {
        let missed = 0, last = null;
        for (const {column, value} of active) if (column.codes[row] !== value) { missed++; last = column; if (missed > 1) break; }
        if (missed > 1) continue;
        if (missed === 1) { last.counts[last.codes[row]]++; continue; }
        matched[row] = 1;
        hits[item]++;
        for (const {codes, counts} of every) counts[codes[row]]++;
      }
      total += hits[item];
      if (hits[item]) shown.push(item);
    }
    return total;
  }

  function options() {
    for (const [name, {select, values, counts}] of columns) {
      const code = chosen.get(name);
      select.value = code === undefined ? "" : String(code);
      select.classList.toggle("set", code !== undefined);
      values.forEach((value, at) => {
        const option = select.options[at + 1];
        const said = `${(SAID[name] || {})[value] || plain(value) || "none"} (${counts[at].toLocaleString("en")})`;
        if (option.text !== said) option.text = said;
      });
    }
  }

  function changed() {
    const total = apply();
    options();
    listed = 0;
    $("list").replaceChildren();
    more();
    const of = total === index.verdicts ? "" : ` of ${index.verdicts.toLocaleString("en")}`;
    $("count").textContent = `${total.toLocaleString("en")}${of} verdicts on ${shown.length.toLocaleString("en")} item${shown.length === 1 ? "" : "s"}`;
    link();
    if (current >= 0) open(current);
  }

  function more() {
    const part = shown.slice(listed, listed + PAGE).map(entry);
    $("list").append(...part);
    listed += part.length;
    $("more").hidden = listed >= shown.length;
  }

  function entry(item) {
    const button = node("button", "", put(node("bdi", ""), index.items[item]));
    button.type = "button";
    button.dataset.item = item;
    button.setAttribute("aria-current", String(item === current));
    const size = index.starts[item + 1] - index.starts[item];
    const said = [hits[item] === size ? `${size} verdicts` : `${hits[item]} of ${size} verdicts`];
    for (const [name, value] of [["right", "wrong"], ["flipped", "yes"], ["unstable", "yes"]]) {
      const column = columns.get(name), code = column ? column.values.indexOf(value) : -1;
      if (code < 0) continue;
      let n = 0;
      for (let row = index.starts[item]; row < index.starts[item + 1]; row++) n += matched[row] && column.codes[row] === code;
      if (n) said.push(name === "right" ? `${n} wrong` : CALLED[name]);
    }
    if (index.datasets.length > 1) said.unshift(index.datasets[index.of[item]]);
    button.append(put(node("small", ""), said.join(" · ")));
    button.addEventListener("click", () => { open(item, true); });
    return node("li", "", button);
  }

  const view = {
    get columns() { return [...columns.keys()]; },
    // Grades of single answers, not the better of two.
    get graded() {
      const said = columns.has("verdict") ? columns.get("verdict").values : [index.constant.verdict];
      const how = columns.has("method") ? columns.get("method").values : [index.constant.method];
      return !said.some(value => /^([AB]|tie)$/.test(value)) && how.every(value => /^(pointwise|grounded)$/.test(value));
    },
    get all() { return all; },
    get judge() { return index.constant.judge || ""; },
    text: (name, row) => columns.has(name) ? columns.get(name).values[columns.get(name).codes[row]] : index.constant[name] || "",
    varies: name => columns.has(name),
    matches: row => matched[row] === 1,
    start: item => index.starts[item],
    id: item => index.items[item],
    dataset: item => index.datasets[index.of[item]],
    why: run => index.runs[run].reason || "the data, the templates or the program are no longer those of the run.",
    back: () => close(),
    toggle: () => { all = !all; open(current); },
  };

  async function open(item, pushed) {
    if (item !== current) all = false;
    current = item;
    document.body.classList.add("reading");
    for (const button of $("list").querySelectorAll("button")) button.setAttribute("aria-current", String(Number(button.dataset.item) === item));
    link(pushed);
    try {
      const name = `item-${index.homes[item]}`, chunk = await load(name);
      if (current === item) Reading.show($("reading"), view, item, chunk.items[item], chunk);
    } catch (problem) { notice(problem.message); }
  }

  function close() {
    const from = $("list").querySelector("[aria-current=true]");
    current = -1;
    document.body.classList.remove("reading");
    link();
    if (from) from.focus();
  }

  // Links: #judge=...&data=...&right=wrong&q=...&in=DATASET&item=ID
  function link(pushed) {
    const said = new URLSearchParams();
    for (const [name, code] of chosen) said.set(IN_LINK[name] || name, columns.get(name).values[code]);
    if (search) said.set("q", search);
    if (current >= 0) {
      if (index.datasets.length > 1) said.set("in", view.dataset(current));
      said.set("item", index.items[current]);
    }
    const hash = "#" + said;
    if (hash === (location.hash || "#")) return;
    history[pushed ? "pushState" : "replaceState"](null, "", hash);
  }

  function restore() {
    const said = new URLSearchParams(location.hash.slice(1)), faults = [];
    chosen.clear();
    search = said.get("q") || "";
    $("search").value = search;
    for (const [key, value] of said) {
      if (["q", "item", "in"].includes(key)) continue;
      const name = key === "data" ? "dataset" : key;
      const column = columns.get(name), code = column ? column.values.indexOf(value) : -1;
      if (code >= 0) choose(name, code);
      else if (column || index.constant[name] !== value) faults.push(`no verdict here has ${key}=${value}; that filter is left out`);
    }
    const id = said.get("item"), of = said.get("in");
    let item = -1;
    if (id !== null) {
      item = index.items.findIndex((one, at) => one === id && (of === null || index.datasets[index.of[at]] === of));
      if (item < 0) faults.push(`there is no item ${id} here`);
    }
    notice(faults.join("; "));
    current = item;
    if (item < 0) document.body.classList.remove("reading");
    changed();
  }

  function step(by) {
    if (!shown.length) return;
    const at = shown.indexOf(current), next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1);
    while (listed <= next) more();
    open(shown[next]);
    $("list").children[next].scrollIntoView({block: "nearest"});
  }

  function stepVerdict(by) {
    const cards = [...$("reading").querySelectorAll(".verdict")], at = cards.indexOf(document.activeElement);
    const next = cards[Math.min(Math.max(at + by, 0), cards.length - 1)];
    if (next) { next.focus({preventScroll: true}); next.scrollIntoView({block: "start"}); }
  }

  function fold() {
    const all = [...$("reading").querySelectorAll("details")], open = !all.some(one => one.open);
    for (const one of all) one.open = open;
  }

  function clear() { chosen.clear(); search = $("search").value = ""; notice(""); changed(); }

  const KEYS = {
    j: () => step(1), k: () => step(-1), n: () => stepVerdict(1), p: () => stepVerdict(-1), r: fold, x: clear,
    a: () => { if (current >= 0) view.toggle(); }, "/": () => { $("filters").open = true; document.body.classList.remove("reading"); $("search").focus(); },
    "?": () => $("keys").showModal(), Enter: () => { if (current < 0) step(1); $("reading").focus(); }, Escape: () => close(),
  };
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !index || $("keys").open) return;
    const typing = event.target.matches("input, select");
    if (typing && event.key !== "Escape") return;
    if (event.key === "Enter" && event.target.matches("button, summary, a")) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    if (typing) event.target.blur(); else act();
  });
  let pause;
  $("search").addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => { search = $("search").value; changed(); }, 120); });
  $("clear").addEventListener("click", clear);
  $("more").addEventListener("click", more);
  $("help").addEventListener("click", KEYS["?"]);
  addEventListener("popstate", () => { if (index) restore(); });
  if (matchMedia("(max-width: 900px)").matches) $("filters").open = false;
  begin().catch(problem => { $("count").textContent = ""; notice(problem.message); });
})();
