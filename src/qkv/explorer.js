// Upgrades the table of attention weights that qkv.explorer wrote.
// A classic script, so that it runs from a file:// page and inside the output
// of a notebook as well. It lives in a shadow tree: no style leaks in or out.
(() => {
  const NAME = "qkv-attention";
  if (customElements.get(NAME)) return;

  // Every word that is shown. A page in another language adds its own entry.
  const TEXT = {
    en: {
      head: "head",
      temperature: "temperature",
      divide: d => `divide by √d_k = √${d}`,
      causal: "causal mask",
      gives: (q, k, w) => `“${q}” gives ${w} of its attention to “${k}”.`,
      score: "Score",
      never: (q, k) => `“${q}” may not look at “${k}”: weight 0.`,
      nobody: q => `“${q}” may look at no key: all its weights are 0.`,
    },
  };
  const TEMPERATURES = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];

  const STYLE = `
    :host { display: block; margin: 1rem 0; }
    .box { overflow-x: auto; padding: 3px 3px 3px 0;
      scroll-padding-left: 7em; }
    table { min-width: min(100%, 26em); border-spacing: 2px; font-size: .85em;
      line-height: 1.3; }
    caption { text-align: left; padding-bottom: .4em; }
    th { font-weight: 400; padding: .2em .5em; white-space: nowrap; }
    thead th:first-child { font-size: .85em; vertical-align: bottom; }
    tbody th, thead th:first-child { position: sticky; left: 0;
      z-index: 1; text-align: right;
      background: var(--pst-color-background, var(--jp-layout-color0)); }
    .on { text-decoration: underline 2px; text-underline-offset: 3px; }
    td { min-width: 2.6em; height: 2.2em; padding: 0; text-align: center;
      border-radius: 3px; cursor: pointer;
      font-variant-numeric: tabular-nums; }
    thead:not(.upright) + tbody td { min-width: 4em; }
    td.never { background-image: repeating-linear-gradient(135deg,
      transparent 0 5px, rgba(128,128,128,.3) 5px 6px); }
    td.on { text-decoration: none; outline: 1.5px solid;
      outline-offset: -1px; }
    :focus-visible, td:focus-visible { outline: 3px solid; outline-offset: 0; }
    p { margin: .4em 3px; line-height: 1.5; min-height: 1.5em; }
    form { display: flex; flex-wrap: wrap; gap: .3em 1.4em; margin: .2em 3px;
      font-size: .9em; }
    form > span { display: inline-flex; align-items: center; gap: .4em;
      min-height: 2em; }
    label { cursor: pointer; }
    input { accent-color: #2f7fc1; margin: 0; }
    input[type=range] { width: 8em; }
    input[type=checkbox] { width: 1.1em; height: 1.1em; }
    output { min-width: 2em; font-variant-numeric: tabular-nums; }
    select { font: inherit; color: inherit; background: transparent;
      border: 1px solid; border-radius: 3px; padding: .15em .3em; }
    option { color: CanvasText; background: Canvas; }
    thead.upright th + th { writing-mode: vertical-rl;
      transform: rotate(180deg); padding: .5em .2em; }
    @media (max-width: 600px) { p { min-height: 3em; } }
    @media print {
      form, p { display: none; }
      .box { overflow: visible; }
      th, td, caption { color: #000; background-color: #fff; }
    }`;

  // Two decimals, halves up as in Python, a true minus, no minus zero.
  const two = x => (Math.floor(x * 100 + 0.5) / 100 + 0).toFixed(2)
    .replace("-", "−");

  // As qkv.reference.softmax: null is never; nothing allowed gives zeros.
  function softmax(scores) {
    const largest = Math.max(...scores.filter(s => s !== null));
    const e = scores.map(s => (s === null ? 0 : Math.exp(s - largest)));
    const total = e.reduce((a, b) => a + b, 0);
    return e.map(x => x / (total || 1));
  }

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  class Attention extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return; // moved, not new
      const table = this.querySelector("table");
      // While a page is read, the tag comes before what is in it.
      if (!table) return void setTimeout(() => this.connectedCallback());
      const lang = this.closest("[lang]")?.lang.split("-")[0];
      this.text = TEXT[lang] ?? TEXT.en;
      this.data = JSON.parse(this.dataset.attention);
      this.set = { head: 0, temperature: 1,
        divide: this.data.d_k !== 1, causal: this.data.causal === true };
      this.prepare(table);
      this.sentence = make("p");
      this.sentence.setAttribute("aria-live", "polite");
      this.attachShadow({ mode: "open" }).append(
        make("style", { textContent: STYLE }),
        make("div", { className: "box" }, table),
        this.sentence,
        this.controls(),
      );
      this.compute();
      const last = this.weights.at(-1); // where reading ends, begin
      this.select(this.rows.length - 1, last.indexOf(Math.max(...last)));
    }

    // The table becomes a grid: one tab stop, arrow keys inside.
    prepare(table) {
      this.columns = [...table.querySelectorAll("thead th")].slice(1);
      this.rows = [...table.querySelectorAll("tbody th")];
      this.cells = [...table.tBodies[0].rows].map(row =>
        [...row.querySelectorAll("td")]);
      table.setAttribute("role", "grid");
      // Many labels stand upright: on a phone, more than five are many.
      table.tHead.classList.toggle("upright",
        this.columns.length > (innerWidth > 600 ? 10 : 5));
      this.cells.forEach((row, i) => row.forEach((cell, j) => {
        cell.tabIndex = -1;
        cell.onfocus = () => this.select(i, j);
        cell.onmouseenter = () => this.show(i, j);
      }));
      table.onmouseleave = () => this.show(...this.at);
      table.onkeydown = event => this.key(event);
    }

    controls() {
      const { text, data, set } = this;
      const form = make("form", { onsubmit: e => e.preventDefault() });
      const add = (id, label, input, ...more) => {
        input.id = id;
        form.append(make("span", {},
          make("label", { htmlFor: id, textContent: label }), input, ...more));
      };
      const changed = () => { this.compute(); this.show(...this.at); };
      const check = (id, label) => add(id, label, make("input", {
        type: "checkbox", checked: set[id],
        onchange: e => { set[id] = e.target.checked; changed(); },
      }));
      if (data.heads.length > 1) {
        add("head", text.head, make("select", {
          onchange: e => { set.head = e.target.selectedIndex; changed(); },
        }, ...data.heads.map(name => make("option", {}, name))));
      }
      const shown = make("output", { textContent: "1" });
      const slider = make("input", { type: "range",
        max: TEMPERATURES.length - 1, value: TEMPERATURES.indexOf(1) });
      slider.setAttribute("aria-valuetext", "1");
      slider.oninput = () => {
        set.temperature = TEMPERATURES[slider.value];
        shown.textContent = set.temperature;
        slider.setAttribute("aria-valuetext", set.temperature);
        changed();
      };
      add("temperature", text.temperature, slider, shown);
      if (data.d_k !== 1) check("divide", text.divide(data.d_k));
      if (data.causal !== null) check("causal", text.causal);
      return form;
    }

    // Weights of all cells, from the raw scores and what is set.
    compute() {
      const { head, temperature, divide, causal } = this.set;
      const divisor = (divide ? Math.sqrt(this.data.d_k) : 1) * temperature;
      this.scores = this.data.scores[head].map((row, i) =>
        row.map((s, j) => (causal && j > i ? null : s)));
      this.weights = this.scores.map(row =>
        softmax(row.map(s => (s === null ? null : s / divisor))));
      this.cells.forEach((row, i) => row.forEach((cell, j) => {
        const never = this.scores[i][j] === null;
        const w = this.weights[i][j];
        cell.textContent = never ? "0" : two(w);
        cell.className = never ? "never" : "";
        cell.style = `background-color:rgba(47,127,193,${0.6 * w})`;
      }));
    }

    // What a cell means, in a sentence.
    say(i, j) {
      const [q, k] = [this.rows[i], this.columns[j]].map(th =>
        th.textContent.trim());
      const score = this.scores[i][j], { text, set, data } = this;
      if (this.scores[i].every(s => s === null)) return text.nobody(q);
      if (score === null) return text.never(q, k);
      const d = set.divide ? ` ÷ √${data.d_k}` : "";
      const t = set.temperature === 1 ? "" : ` ÷ ${set.temperature}`;
      const value = score / (set.divide ? Math.sqrt(data.d_k) : 1)
        / set.temperature;
      const result = d || t ? ` = ${two(value)}` : "";
      return `${text.gives(q, k, this.weights[i][j].toFixed(3))} ${text.score}`
        + ` ${two(score)}${d}${t}${result}.`;
    }

    show(i, j) {
      this.shadowRoot.querySelectorAll(".on").forEach(e =>
        e.classList.remove("on"));
      for (const e of [this.rows[i], this.columns[j], this.cells[i][j]]) {
        e.classList.add("on");
      }
      this.sentence.textContent = this.say(i, j);
    }

    select(i, j) {
      if (this.at) this.cells[this.at[0]][this.at[1]].tabIndex = -1;
      this.at = [i, j];
      this.cells[i][j].tabIndex = 0;
      this.show(i, j);
    }

    key(event) {
      const [i, j] = this.at, end = this.columns.length - 1;
      const all = event.ctrlKey || event.metaKey;
      const to = {
        ArrowUp: [i - 1, j], ArrowDown: [i + 1, j],
        ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
        Home: [all ? 0 : i, 0], End: [all ? this.rows.length - 1 : i, end],
      }[event.key];
      if (!to) return;
      event.preventDefault(); // the page does not scroll
      this.cells[to[0]]?.[to[1]]?.focus();
    }
  }

  customElements.define(NAME, Attention);
})();
