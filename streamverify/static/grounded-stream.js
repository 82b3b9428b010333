/* <grounded-stream src="…">: an answer with its verdicts, while it streams.

   Reads the native server-sent events of streamverify. Everything it shows is set as text, never as
   markup, so answers and passages may be hostile. Offsets on the wire count code points; JavaScript
   strings count UTF-16 units, so every offset goes through `cut`. */

const WORDS = {
  pending: 'checking', supported: 'supported', contradicted: 'contradicted',
  unsupported: 'not in sources', unverified: 'not checked', no_claim: 'no claim',
};
const SHAPES = {
  pending: ['M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13', ''],
  supported: ['M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14', 'M4.7 8.3l2.3 2.3l4.3-4.8'],
  contradicted: ['M5 1h6l4 4v6l-4 4H5l-4-4V5z', 'M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2'],
  unsupported: ['M8 1.2L15.4 14.6H.6z', 'M8 6v4M8 12v.6'],
  unverified: ['M2 2h12v12H2z', 'M5 8h6'],
};
const RELATIONS = { supported: 'supports it', contradicted: 'contradicts it' };
const FINDINGS = {
  correct: 'the cited source supports this', partial: 'the cited source supports part of this',
  wrong_passage: 'the cited source does not say this', fabricated: 'there is no such source',
  missing: 'a citation is missing', unsupported: 'no source says this', unverified: 'not checked',
};
const CSS = `
:host { display: block; color-scheme: light dark; line-height: 1.65; overflow-wrap: anywhere;
  --ok: light-dark(#0a6b3d, #6fd49f); --bad: light-dark(#b3182b, #ff98a0); --doubt: light-dark(#8a4b00, #f3b96a);
  --quiet: light-dark(#595f69, #a7afbb); --line: light-dark(#d5d9e0, #3d444f); --panel: light-dark(#fff, #1b1f26);
  --ink: light-dark(#15181d, #e9ecf1); --hit: light-dark(#ffe58a, #6b5300); color: var(--ink); }
.answer { white-space: pre-wrap; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
button:focus-visible { outline: 2px solid; outline-offset: 2px; }
.badge { display: inline-flex; align-items: center; gap: .3em; margin: 0 .1em 0 .4em; padding: 0 .55em 0 .4em; font-size: .72em;
  line-height: 1.75; border: 1px solid; border-radius: 1em; white-space: nowrap; vertical-align: .08em; user-select: none; }
.badge:hover { background: color-mix(in srgb, currentColor 12%, transparent); }
svg { width: 1.05em; height: 1.05em; fill: none; stroke: currentColor; stroke-width: 1.7; flex: none; }
.supported { color: var(--ok); } .contradicted { color: var(--bad); } .unsupported { color: var(--doubt); }
.pending, .unverified, .no_claim { color: var(--quiet); }
.pending { border-style: dashed; } .pending svg { stroke-dasharray: 3 2.4; } .badge[hidden] { display: none; }
.risk { text-decoration: underline wavy var(--doubt) 1px; text-underline-offset: .22em; }
.redact { font-style: italic; color: var(--quiet); border: 1px dashed; border-radius: .3em; padding: 0 .3em; }
.repair { border-bottom: 2px dotted var(--quiet); }
.cite { text-decoration: underline dotted; text-underline-offset: .2em; }
.cite.fabricated, .cite.wrong_passage, .cite.unsupported { color: var(--bad); text-decoration: line-through; }
[popover] { position: fixed; inset: auto; margin: 0; width: min(34rem, 94vw); box-sizing: border-box; max-height: 60vh; overflow: auto;
  padding: .9rem 1.1rem; background: var(--panel); color: var(--ink); border: 1px solid var(--line); border-radius: .6rem;
  box-shadow: 0 8px 30px #0004; font-size: .92em; line-height: 1.5; }
h4 { margin: 0 2.5rem .3rem 0; font-size: 1em; } h5 { margin: .8rem 0 .2rem; font-size: .92em; }
.close { position: absolute; top: .7rem; right: .9rem; padding: 0 .35em; font-size: 1.1em; }
blockquote { margin: 0; padding: .4rem .7rem; border-left: 3px solid var(--line); white-space: pre-wrap; max-height: 14em; overflow: auto; }
mark { background: var(--hit); color: inherit; border-radius: .15em; } p { margin: .2rem 0; } .quiet { color: var(--quiet); }
footer { margin-top: .9rem; padding-top: .6rem; border-top: 1px solid var(--line); font-size: .87em; color: var(--quiet);
  display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; align-items: center; }
footer span { display: inline-flex; align-items: center; gap: .35em; } footer:empty { display: none; }
.note { width: 100%; color: var(--bad); }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;

/** UTF-16 index of code point `count` in `text`; its length when the text is shorter. */
const cut = (text, count) => {
  let at = 0;
  for (; count > 0 && at < text.length; count--) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
};
const slice = (text, from, to) => text.slice(cut(text, from), cut(text, to));
const percent = (share) => `${Math.round(share * 100)} %`;

const make = (tag, className = '', ...children) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
};
const shape = (state) => {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  for (const d of SHAPES[state] || []) {
    const path = document.createElementNS(svg.namespaceURI, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
};

class GroundedStream extends HTMLElement {
  static observedAttributes = ['src'];
  #root = this.attachShadow({ mode: 'open' });
  #answer; #tail; #panel; #footer; #status;
  #sentences = []; #tailText = ''; #tailStart = 0; #seq = -1; #lastId = ''; #ended = false;
  #passages = new Map(); #abort = null; #retry = null;

  constructor() {
    super();
    const style = new CSSStyleSheet();
    style.replaceSync(CSS);
    this.#root.adoptedStyleSheets = [style];
    this.#clear();
  }

  connectedCallback() { if (this.hasAttribute('src') && !this.#abort) this.start(); }
  disconnectedCallback() { this.stop(); }
  attributeChangedCallback(name, before, now) { if (before !== now && now && this.isConnected) this.start(); }

  /** Texts for the evidence, where the server does not send them: [{id, title, text}]. */
  set passages(list) { for (const passage of list) this.#passages.set(passage.id, passage); }

  /** Begin an answer. `options` go to fetch: method, body, headers, credentials. */
  start(url = this.getAttribute('src'), options = {}) {
    this.stop();
    this.#clear();
    this.#abort = new AbortController();
    this.#read(url, options, this.#abort.signal);
  }

  /** End the connection; what is shown stays. */
  stop() {
    this.#abort?.abort();
    this.#abort = null;
    clearTimeout(this.#retry);
  }

  #clear() {
    this.#answer = make('div', 'answer');
    this.#tail = make('span', 'tail');
    this.#answer.append(this.#tail);
    this.#panel = make('div');
    this.#panel.setAttribute('popover', 'auto');
    this.#panel.setAttribute('role', 'dialog');
    this.#panel.tabIndex = -1;
    this.#panel.addEventListener('toggle', (event) => {
      if (event.newState === 'closed') this.#root.querySelector('[aria-expanded="true"]')?.setAttribute('aria-expanded', 'false');
    });
    this.#footer = make('footer');
    this.#status = make('div', 'sr');
    this.#status.setAttribute('role', 'status');
    this.#root.replaceChildren(this.#answer, this.#footer, this.#panel, this.#status);
    this.#sentences = [];
    this.#tailText = this.#lastId = '';
    this.#tailStart = 0;
    this.#seq = -1;
    this.#ended = false;
  }

  async #read(url, options, signal) {
    this.#answer.setAttribute('aria-busy', 'true');
    for (let tries = 0; !this.#ended; tries++) {
      try {
        const headers = { Accept: 'text/event-stream', ...options.headers };
        if (this.#lastId) headers['Last-Event-ID'] = this.#lastId;
        const response = await fetch(url, { ...options, headers, signal });
        if (!response.ok) {
          const said = await response.json().catch(() => ({}));
          this.#fail(said.error?.message || `the server answered ${response.status}`);
          break;
        }
        this.toggleAttribute('reconnecting', false);
        let data = '', id = '', rest = '';
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          tries = 0;
          const lines = (rest + part.value).split(/\r\n|\n|\r(?!$)/);
          rest = lines.pop();
          for (const line of lines) {
            if (line.startsWith('data:')) data += line.slice(5).trimStart();
            else if (line.startsWith('id:')) id = line.slice(3).trim();
            else if (line === '' && data) {
              this.feed(JSON.parse(data));
              this.#lastId = id || this.#lastId;
              data = id = '';
            }
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof SyntaxError) { this.#fail('the server sent something that is no event'); break; }
      }
      if (this.#ended || signal.aborted) break;
      if (tries >= 6 || (!this.#lastId && options.method && options.method !== 'GET')) { this.#fail('the connection was lost'); break; }
      this.toggleAttribute('reconnecting', true);
      await new Promise((resolve) => { this.#retry = setTimeout(resolve, 250 * 2 ** tries); });
    }
    this.#answer.removeAttribute('aria-busy');
  }

  /** Take one event; for transports of your own. */
  feed(event) {
    if (event.kind === 'passages') {
      this.passages = event.passages;
      this.#say(event);
      return;
    }
    if (event.seq <= this.#seq) return;
    this.#seq = event.seq;
    if (event.kind === 'text_released') this.#text(event);
    else if (event.kind === 'sentence_closed') this.#close(event.sentence);
    else if (event.kind === 'sentence_judged') this.#judge(event);
    else if (event.report) this.#end(event);
    this.#say(event);
  }

  #text({ text, span: [start, end], action }) {
    const held = this.#sentences.findLast((sentence) => sentence.start <= start);
    if (held && start < held.end) {
      held.pieces.push({ text, start, action });
      this.#draw(held);
    } else {
      if (!this.#tailText) this.#tailStart = start;
      this.#tailText += text;
      this.#tail.textContent = this.#tailText;
    }
  }

  #close({ index, start, end }) {
    const badge = make('button', 'badge');
    badge.type = 'button';
    badge.setAttribute('aria-expanded', 'false');
    badge.setAttribute('aria-haspopup', 'dialog');
    const sentence = { index, start, end, badge, pieces: [], verdict: null, body: make('span'), after: make('span') };
    badge.onclick = () => this.#open(badge, sentence);
    const known = cut(this.#tailText, end - this.#tailStart);
    if (known) {
      sentence.pieces.push({ text: this.#tailText.slice(0, known), start: this.#tailStart, action: 'release' });
      this.#tailText = this.#tailText.slice(known);
      this.#tailStart = end;
      this.#tail.textContent = this.#tailText;
    }
    this.#sentences.push(sentence);
    this.#tail.before(make('span', 'sentence', sentence.body, badge, sentence.after));
    this.#draw(sentence);
    this.#mark(sentence, 'pending');
  }

  #judge(verdict) {
    const sentence = this.#sentences[verdict.index];
    sentence.verdict = verdict;
    this.#draw(sentence);
    this.#mark(sentence, verdict.label);
    if (verdict.label === 'contradicted') this.#status.textContent = `Sentence ${verdict.index + 1} is contradicted by the sources.`;
  }

  #mark({ badge, index, verdict }, state) {
    badge.className = `badge ${state}`;
    badge.hidden = state === 'no_claim';
    badge.replaceChildren(shape(state), WORDS[state]);
    const score = verdict?.score == null ? '' : `, ${percent(verdict.score)} likely supported`;
    badge.setAttribute('aria-label', `Sentence ${index + 1}: ${WORDS[state]}${score}`);
  }

  /** The text of a sentence: citations as buttons, doubtful words underlined, placeholders as such. */
  #draw(sentence) {
    const { pieces, verdict, body, after, index } = sentence;
    const cites = (verdict?.citations || []).filter((cite) => cite.end > cite.start && cite.finding !== 'missing');
    const risks = verdict?.unsupported_spans || [];
    const nodes = [];
    let text = '';
    for (const piece of pieces) {
      text = piece.text;
      if (piece.action === 'redact' || piece.action === 'repair') {
        const node = make('span', piece.action, text);
        node.title = piece.action === 'redact' ? 'Removed: the sources do not support it' : 'Rewritten from the sources';
        node.setAttribute('role', 'note');
        node.setAttribute('aria-label', `${node.title}. ${text}`);
        if (text) nodes.push(node);
        continue;
      }
      const stop = piece.start + [...text].length;
      const borders = new Set([piece.start, stop]);
      for (const [from, to] of [...risks, ...cites.map((cite) => [cite.start, cite.end])]) borders.add(from).add(to);
      const sorted = [...borders].filter((at) => at >= piece.start && at <= stop).sort((a, b) => a - b);
      for (let i = 0; i + 1 < sorted.length; i++) {
        const part = slice(text, sorted[i] - piece.start, sorted[i + 1] - piece.start);
        const inside = ([from, to]) => from <= sorted[i] && sorted[i + 1] <= to;
        const cite = cites.find((one) => inside([one.start, one.end]));
        if (cite) {
          const button = make('button', `cite ${cite.finding}`, part);
          button.type = 'button';
          button.setAttribute('aria-label', `Citation ${part} of sentence ${index + 1}: ${FINDINGS[cite.finding]}`);
          button.onclick = () => this.#open(button, sentence, cite);
          nodes.push(button);
        } else nodes.push(risks.some(inside) ? make('span', 'risk', part) : part);
      }
    }
    // Closing blanks go behind the badge, so that it stands at the end of its line and not on the next.
    const blank = typeof nodes.at(-1) === 'string' ? nodes.at(-1).match(/\s*$/)[0] : '';
    if (blank) nodes.push(nodes.pop().slice(0, -blank.length));
    body.replaceChildren(...nodes);
    after.textContent = blank;
  }

  #open(opener, { index, verdict }, cite) {
    const close = make('button', 'close', '×');
    close.type = 'button';
    close.setAttribute('aria-label', 'Close');
    close.onclick = () => this.#panel.hidePopover();
    const state = verdict ? verdict.label : 'pending';
    const title = `Sentence ${index + 1}: ${WORDS[state]}`;
    const nodes = [close, make('h4', state, cite ? `${cite.marker} ${FINDINGS[cite.finding]}` : title)];
    if (verdict && !cite) {
      if (verdict.score != null) nodes.push(make('p', 'quiet', `Probability that the sources support it: ${percent(verdict.score)}`));
      if (verdict.reason) nodes.push(make('p', '', verdict.reason));
      for (const finding of verdict.findings) if (finding.detail) nodes.push(make('p', '', finding.detail));
    }
    const shown = (verdict?.evidence || []).filter((one) => !cite || cite.passages.includes(one.passage) || one.passage === cite.better);
    for (const one of shown) nodes.push(...this.#evidence(one.passage, RELATIONS[one.label] || 'nearest text', one));
    for (const id of cite?.passages || []) if (!shown.some((one) => one.passage === id)) nodes.push(...this.#evidence(id, 'cited'));
    if (!shown.length && !cite) nodes.push(make('p', 'quiet', 'No passage to show.'));
    this.#panel.replaceChildren(...nodes);
    this.#panel.setAttribute('aria-label', title);
    opener.setAttribute('aria-expanded', 'true');
    this.#panel.showPopover();
    const at = opener.getBoundingClientRect(), size = this.#panel.getBoundingClientRect();
    const below = at.bottom + 6 + size.height < innerHeight || at.top < size.height + 6;
    this.#panel.style.top = `${Math.max(8, below ? Math.min(at.bottom + 6, innerHeight - size.height - 8) : at.top - size.height - 6)}px`;
    this.#panel.style.left = `${Math.max(8, Math.min(at.left - 24, innerWidth - size.width - 8))}px`;
    for (const mark of this.#panel.querySelectorAll('mark')) mark.parentNode.scrollTop = mark.offsetTop - mark.parentNode.offsetTop - 24;
    this.#panel.focus();
  }

  #evidence(id, relation, found) {
    const passage = this.#passages.get(id);
    const head = make('h5', '', `${passage?.title || id} – ${relation}${found ? `, ${percent(found.score)}` : ''}`);
    if (!passage?.text) return found ? [head, make('blockquote', '', make('mark', '', found.text))] : [head];
    if (!found) return [head, make('blockquote', '', passage.text)];
    const from = cut(passage.text, found.start), to = cut(passage.text, found.end);
    const words = make('mark', '', passage.text.slice(from, to));
    return [head, make('blockquote', '', passage.text.slice(0, from), words, passage.text.slice(to))];
  }

  #end({ kind, report, error }) {
    this.#ended = true;
    for (const sentence of this.#sentences) if (!sentence.verdict) this.#mark(sentence, 'unverified');
    const counts = ['supported', 'contradicted', 'unsupported', 'unverified'].filter((label) => report.counts[label]);
    const parts = counts.map((label) => make('span', label, shape(label), `${report.counts[label]} ${WORDS[label]}`));
    if (report.grounding_score != null) parts.push(make('span', '', `grounding ${percent(report.grounding_score)}`));
    if (report.citation_accuracy != null) parts.push(make('span', '', `citations correct ${percent(report.citation_accuracy)}`));
    parts.push(make('span', '', `${(report.timings.total_ms / 1000).toFixed(1)} s`));
    this.#footer.replaceChildren(...parts);
    if (kind === 'stream_halted') this.#note(`Stopped: ${report.error}`);
    if (kind === 'stream_failed') this.#note(`The stream failed: ${error}`);
    this.#status.textContent = `Answer complete. ${counts.map((label) => `${report.counts[label]} ${WORDS[label]}`).join(', ')}.`;
  }

  #fail(message) {
    this.#ended = true;
    for (const sentence of this.#sentences) if (!sentence.verdict) this.#mark(sentence, 'unverified');
    this.#note(`The answer could not be read to its end: ${message}`);
    this.#status.textContent = message;
    this.#say(message, 'streamverify-error');
  }

  #say(detail, name = 'streamverify') { this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true })); }

  #note(text) { this.#footer.append(make('div', 'note', text)); }
}

if (!customElements.get('grounded-stream')) customElements.define('grounded-stream', GroundedStream);
export { GroundedStream };
