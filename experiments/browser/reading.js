// One item: its texts, and its verdicts side by side. Data become text nodes here, and nothing else.
"use strict";
const Reading = (() => {
  const APART = new Set(["order", "repeat", "outcome", "verdict", "right", "flipped", "unstable"]);
  // Signs that turn the direction of what follows, and other invisible ones: shown by their code.
  const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  const MOST = 200;  // Verdicts that are drawn at once.
  const MARKS = {right: "✓ right", wrong: "✗ wrong"};

  function node(tag, kind, ...children) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }

  function put(parent, text) {
    let from = 0;
    for (const match of text.matchAll(CONTROL)) {
      parent.append(text.slice(from, match.index));
      const sign = node("span", "control", match[0]);
      sign.dataset.code = "U+" + match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
      parent.append(sign);
      from = match.index + 1;
    }
    parent.append(text.slice(from));
    return parent;
  }

  // Where only bare text can stand, the signs are spelt out.
  function plain(text) {
    return text.replace(CONTROL, sign => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
  }

  function words(text, kind, span) {
    const box = node("div", kind ? "words " + kind : "words");
    box.dir = "auto";
    box.tabIndex = 0;
    if (!text) return node("p", "quiet", "(empty)");
    if (!span) return put(box, text);
    put(box, text.slice(0, span[0]));
    const mark = put(document.createElement("mark"), text.slice(span[0], span[1]));
    mark.title = "the verdict was read here";
    box.append(mark);
    return put(box, text.slice(span[1]));
  }

  function folded(title, kind, fill) {
    const details = node("details", kind, node("summary", "", title));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(...fill());
    });
    return details;
  }

  function named(texts, pool, gold) {
    const pairs = texts.map(([name, at]) => {
      const title = node("p", "label", name);
      if (gold && name === "answer " + gold) title.append(" ", node("strong", "", "✓ the better one, says the data set"));
      return node("div", /^(question|passages|context)/.test(name) ? "whole" : "", title, words(pool[at]));
    });
    return node("div", "pair", ...pairs);
  }

  function percent(share) { return (100 * share).toFixed(1) + " %"; }

  function bar(verdict, graded) {
    if (verdict.p_first === undefined) return [];
    const mass = verdict.label_mass === undefined ? 1 : verdict.label_mass;
    const tie = verdict.p_tie || 0, first = verdict.p_first, second = Math.max(0, 1 - first - tie);
    const shares = [["first", first * mass], ["tie", tie * mass], ["second", second * mass]];
    const strip = node("div", "bar", ...shares.map(([kind, share]) => {
      const part = node("span", kind);
      part.style.width = 100 * share + "%";
      return part;
    }));
    const [one, other] = graded ? ["CORRECT", "other grades"] : ["A", "B"];
    let said = `${one} ${percent(first)}` + (tie ? `, tie ${percent(tie)}` : "") + `, ${other} ${percent(second)}`;
    if (verdict.label_mass !== undefined) said += ` of the labels, which hold ${percent(mass)} of the probability`;
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", said);
    return [strip, node("p", "facts", said)];
  }

  function prompt(call, chunk, why) {
    return folded("what was asked", "prompt", () => {
      if (call.prompt === undefined) return [put(node("p", "quiet"), "Not here: " + why)];
      return chunk.prompts[call.prompt].flatMap(([role, parts]) =>
        [node("p", "label", role), words(parts.map(at => chunk.texts[at]).join(""), "code")]);
    });
  }

  function call(one, chunk, why, number) {
    const made = [];
    if (number) made.push(node("p", "label", `call ${number}`));
    if (one.reasoning !== undefined) {
      made.push(folded("reasoning", "reasoning", () => [words(chunk.texts[one.reasoning], "code")]));
    }
    if (one.score !== undefined) made.push(node("p", "", `score ${one.score}`));
    else made.push(words(chunk.texts[one.text], "code", one.span));
    if (one.note !== undefined) made.push(put(node("p", "facts"), chunk.texts[one.note]));
    const [asked, cached, written] = one.tokens;
    const facts = [one.outcome, `finish ${one.finish}`, `${asked} prompt tokens` + (cached ? ` (${cached} cached)` : ""),
      `${written} written`, `${one.seconds} s`, one.engine === undefined ? "" : chunk.texts[one.engine]];
    made.push(put(node("p", "facts"), facts.filter(Boolean).join(" · ")), prompt(one, chunk, why));
    return made;
  }

  function absent(verdict) {
    const there = (verdict.calls || []).length;
    if (!verdict.asked) return "Only the verdict is known: this row came without the judge's words (it was imported).";
    if (there < verdict.asked) return `${verdict.asked - there} of ${verdict.asked} calls are not in the store that this report was made from.`;
    return "";
  }

  function card(view, row, verdict, chunk, graded) {
    const says = node("p", "says");
    const value = view.text("verdict", row), outcome = view.text("outcome", row), right = view.text("right", row);
    says.append(put(node("b", ""), value || outcome || "no verdict"));
    if (right in MARKS) says.append(node("span", right, MARKS[right]));
    else if (verdict.gold === undefined) says.append(node("span", "quiet", "no right verdict known"));
    if (outcome && outcome !== "ok" && value) says.append(node("span", "quiet", outcome));
    for (const flag of ["flipped", "unstable"]) {
      if (view.text(flag, row) === "yes") says.append(node("span", "tag wrong", flag === "flipped" ? "flipped by order" : "repeats differ"));
    }
    const repeat = view.varies("repeat") ? `repeat ${view.text("repeat", row)}` : "";
    if (repeat) says.append(node("span", "quiet", repeat));
    const made = node("article", view.matches(row) ? "verdict" : "verdict other", says, ...bar(verdict, graded));
    made.tabIndex = -1;
    const lacking = absent(verdict);
    if (lacking) made.append(node("p", "quiet", lacking));
    const why = view.why(verdict.run);
    (verdict.calls || []).forEach((one, i, all) => made.append(...call(one, chunk, why, all.length > 1 ? i + 1 : 0)));
    const facts = node("p", "facts");
    for (const name of ["gold", "extracted", "explanation", "cited_passage", "confidence", "score_a", "score_b", "repaired", "human", "stored", "remark"]) {
      if (name === "gold" && !graded && /^[AB]$/.test(verdict.gold)) continue;
      if (verdict[name] !== undefined) facts.append(node("span", "", `${name === "gold" ? "right" : name.replace("_", " ")}: `, put(node("bdi", ""), String(verdict[name]))), "  ");
    }
    if (facts.childElementCount) made.append(facts);
    if (verdict.text_end !== undefined) made.append(node("p", "label", "the end of what the judge wrote"), words(verdict.text_end, "code"));
    return made;
  }

  // Verdicts that differ in nothing but the order shown and the repeat stand together.
  function cells(view, rows) {
    const found = new Map();
    const names = view.columns.filter(name => !APART.has(name));
    for (const [at, row] of rows) {
      const key = names.map(name => view.text(name, row)).join("\u0000");
      if (!found.has(key)) found.set(key, []);
      found.get(key).push([at, row]);
    }
    return [...found.values()];
  }

  function cell(view, members, item, chunk) {
    const first = item.verdicts[members[0][0]];
    const names = view.columns.filter(n => !APART.has(n) && n !== "dataset" && n !== "source");
    const bare = new Set(["judge", "method", "format"]);
    const title = names.map(n => [n, view.text(n, members[0][1])]).filter(([, value]) => value)
      .map(([n, value]) => bare.has(n) ? value : `${n.replace("_", " ")} ${value}`);
    const made = node("section", "cell", put(node("h3", ""), title.join(" · ") || view.judge || "verdicts"));
    if (first.own) made.append(named(first.own, chunk.texts));
    const orders = new Map();
    for (const [at, row] of members) {
      const order = view.text("order", row);
      if (!orders.has(order)) orders.set(order, []);
      orders.get(order).push([at, row]);
    }
    const grid = node("div", "orders");
    for (const [order, group] of [...orders].sort()) {
      const column = node("div", "");
      if (!view.graded && order === "BA") column.append(node("p", "label", "answer B shown first: what the judge calls A is answer B"));
      else if (!view.graded && order === "AB") column.append(node("p", "label", "answer A shown first"));
      for (const [at, row] of group) column.append(card(view, row, item.verdicts[at], chunk, view.graded));
      grid.append(column);
    }
    made.append(grid);
    return made;
  }

  function show(place, view, number, item, chunk) {
    const rows = item.verdicts.map((_, at) => [at, view.start(number) + at]);
    const through = rows.filter(([, row]) => view.matches(row));
    const shown = view.all || !through.length ? rows : through;
    const gold = item.verdicts[0] && item.verdicts[0].gold;
    const title = put(node("h2", ""), view.id(number));
    title.dir = "auto";
    const parts = [title, put(node("p", "quiet"), ["data " + view.dataset(number), view.text("source", rows[0][1])].filter(Boolean).join(" · "))];
    if (item.texts.length) parts.push(named(item.texts, chunk.texts, gold));
    else parts.push(put(node("p", "quiet"), "The texts of this item are not here: " + view.why(item.verdicts[0].run)));
    const back = node("button", "", "← items");
    back.id = "back";
    back.addEventListener("click", view.back);
    const toggle = node("button", "", view.all ? "only what the filters let through" : "all verdicts on this item", " ", node("kbd", "", "a"));
    toggle.addEventListener("click", view.toggle);
    const said = `${through.length} of ${rows.length} verdicts pass the filters`;
    const actions = node("div", "bar-actions", back, node("span", "", said), ...(through.length < rows.length && through.length ? [toggle] : []));
    const groups = cells(view, shown);
    let drawn = 0;
    function draw() {
      const made = [];
      for (let n = 0; drawn < groups.length && n < MOST; drawn++) {
        made.push(cell(view, groups[drawn], item, chunk));
        n += groups[drawn].length;
      }
      if (drawn < groups.length) {
        const rest = node("button", "", `show ${groups.slice(drawn).reduce((n, group) => n + group.length, 0)} more verdicts`);
        rest.addEventListener("click", () => rest.replaceWith(...draw()));
        made.push(rest);
      }
      return made;
    }
    place.replaceChildren(...parts, actions, ...draw());
    place.scrollTop = 0;
  }

  return {show, node, put, plain};
})();
