/* <grounded-stream src="…">: an answer with its verdicts, while it streams. Everything is set as text, never as
   markup. Offsets on the wire count code points, JavaScript counts UTF-16 units: hence `cut`. */

const WORDS = {
	pending: 'checking', supported: 'supported', contradicted: 'contradicted',
	unsupported: 'not in sources', unverified: 'not checked', no_claim: '',
};
const SHAPES = {
	pending: 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13',
	supported: 'M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14M4.7 8.3l2.3 2.3l4.3-4.8',
	contradicted: 'M5 1h6l4 4v6l-4 4H5l-4-4V5zM5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2',
	unsupported: 'M8 1.2L15.4 14.6H.6zM8 6v4M8 12v.6',
	unverified: 'M2 2h12v12H2zM5 8h6',
};
const RELATIONS = { supported: 'supports it', contradicted: 'contradicts it', unsupported: 'nearest text' };
const FINDINGS = {
	correct: 'it supports this', partial: 'it supports part of this',
	wrong_passage: 'it does not say this', fabricated: 'there is no such source',
	unsupported: 'no source says this', unverified: 'not checked',
};
const CHANGED = { redact: 'Removed, not in the sources', repair: 'Rewritten from the sources' };
const CSS = `
:host{display:block;color-scheme:light dark;overflow-wrap:anywhere;color:light-dark(#15181d,#e9ecf1);--good:light-dark(#0a6b3d,#6fd49f);--bad:light-dark(#b3182b,#ff98a0);--doubt:light-dark(#8a4b00,#f3b96a);--quiet:light-dark(#595f69,#a7afbb);--line:light-dark(#d5d9e0,#3d444f)}
.answer,blockquote{white-space:pre-wrap}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}
button:focus-visible{outline:2px solid;outline-offset:2px}
.badge,footer span{display:inline-flex;align-items:center;gap:.3em}
.badge{margin:0 .1em 0 .4em;padding:0 .5em;font-size:.72em;line-height:1.75;border:1px solid;border-radius:1em;white-space:nowrap;vertical-align:.08em}
.badge[hidden]{display:none}
svg{width:1.05em;fill:none;stroke:currentColor;stroke-width:1.7}
.supported{color:var(--good)} .contradicted,.fabricated,.wrong_passage{color:var(--bad)} .unsupported{color:var(--doubt)}
.pending,.unverified,.quiet{color:var(--quiet)} .pending{border-style:dashed}
.risk{text-decoration:underline wavy var(--doubt) 1px;text-underline-offset:.22em}
.redact{font-style:italic;color:var(--quiet);border:1px dashed;border-radius:.3em;padding:0 .3em}
.repair{border-bottom:2px dotted} .cite{text-decoration:underline dotted;text-underline-offset:.2em} .fabricated,.wrong_passage{text-decoration:line-through}
[popover]{position:fixed;inset:auto;margin:0;width:min(34rem,94vw);box-sizing:border-box;overflow:auto;padding:.9rem 1.1rem;background:light-dark(#fff,#1b1f26);color:inherit;border:1px solid var(--line);border-radius:.6rem;box-shadow:0 8px 30px #0004;font-size:.92em;line-height:1.5}
h4{margin:0 2rem .3rem 0} h5{margin:.8rem 0 .2rem} p{margin:.2rem 0}
.close{float:right;padding:0 .35em}
blockquote{margin:0;padding:.4rem .7rem;border-left:3px solid var(--line);max-height:9em;overflow:auto}
mark{background:light-dark(#ffe58a,#6b5300);color:inherit}
footer{margin-top:.9rem;padding-top:.6rem;border-top:1px solid var(--line);font-size:.87em;color:var(--quiet);display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
footer:empty{display:none}
.note{width:100%;color:var(--bad)}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}`;

/** UTF-16 index of code point `count`, at most the text's length. */
const cut = (text, count) => {
	let at = 0;
	for (; count > 0 && at < text.length; count--) at += text.codePointAt(at) > 0xffff ? 2 : 1;
	return at;
};
const percent = (share) => `${Math.round(share * 100)} %`;
const make = (tag, className = '', fields = {}, ...nodes) => {
	const node = Object.assign(document.createElement(tag), { className }, fields);
	node.append(...nodes);
	return node;
};
const quote = (...nodes) => make('blockquote', '', {}, ...nodes);
const mark = (text) => make('mark', '', {}, text);
const shape = (state) => {
	const space = 'http://www.w3.org/2000/svg';
	const svg = document.createElementNS(space, 'svg'), path = document.createElementNS(space, 'path');
	svg.setAttribute('viewBox', '0 0 16 16');
	svg.ariaHidden = 'true';
	path.setAttribute('d', SHAPES[state] || '');
	svg.append(path);
	return svg;
};

export class GroundedStream extends HTMLElement {
	static observedAttributes = ['src'];
	#root = this.attachShadow({ mode: 'open' });
	#answer; #tail; #panel; #footer; #status; #opener;
	#list; #text; #from; #seq; #lastId; #ended;
	#passages = new Map(); #abort;

	constructor() {
		super();
		const style = new CSSStyleSheet();
		style.replaceSync(CSS);
		this.#root.adoptedStyleSheets = [style];
		this.#clear();
	}

	connectedCallback() { if (this.hasAttribute('src') && !this.#abort) this.start(); }
	disconnectedCallback() { this.stop(); }
	attributeChangedCallback(_, __, now) { if (now && this.isConnected) this.start(); }

	/** [{id, title, text}], where the server does not send them. */
	set passages(list) { for (const passage of list) this.#passages.set(passage.id, passage); }

	/** Begin an answer; `options` go to fetch. */
	start(url = this.getAttribute('src'), options = {}) {
		this.stop();
		this.#clear();
		this.#abort = new AbortController();
		this.#read(url, options, this.#abort.signal);
	}

	stop() { this.#abort = this.#abort?.abort(); }

	#clear() {
		this.#tail = make('span');
		this.#answer = make('div', 'answer', {}, this.#tail);
		this.#panel = make('div', '', { popover: 'auto', role: 'dialog', tabIndex: -1 });
		this.#panel.addEventListener('toggle', ({ newState }) => { if (newState === 'closed') this.#closed(); });
		this.#footer = make('footer');
		this.#status = make('div', 'sr', { role: 'status' });
		this.#root.replaceChildren(this.#answer, this.#footer, this.#panel, this.#status);
		this.#list = [];
		this.#text = this.#lastId = '';
		this.#from = 0;
		this.#seq = -1;
		this.#ended = false;
	}

	async #read(url, options, signal) {
		this.#answer.ariaBusy = 'true';
		for (let tries = 0; !this.#ended; tries++) {
			try {
				const headers = { Accept: 'text/event-stream', ...options.headers };
				if (this.#lastId) headers['Last-Event-ID'] = this.#lastId;
				const response = await fetch(url, { ...options, headers, signal });
				if (!response.ok) {
					const said = await response.json().catch(() => ({}));
					return this.#fail(said.error?.message || `HTTP ${response.status}`);
				}
				let data = '', id = '', rest = '';
				const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
				for (let part; !(part = await reader.read()).done; tries = 0) {
					const lines = (rest + part.value).split(/\r\n|\n|\r(?!$)/);
					rest = lines.pop();
					for (const line of lines) {
						if (line.startsWith('data:')) data += line.slice(5);
						else if (line.startsWith('id:')) id = line.slice(3).trim();
						else if (!line && data) {
							this.feed(JSON.parse(data));
							this.#lastId = id || this.#lastId;
							data = id = '';
						}
					}
				}
			} catch (error) {
				if (error instanceof SyntaxError) return this.#fail('unreadable event');
				if (!(error instanceof TypeError || signal.aborted)) throw error;
			}
			if (this.#ended || signal.aborted) return;
			if (tries > 5 || (!this.#lastId && options.body)) return this.#fail('connection lost');
			await new Promise((resolve) => { setTimeout(resolve, 250 * 2 ** tries); });
			if (signal.aborted) return;
		}
	}

	/** Take one event. */
	feed(event) {
		if (event.kind === 'passages') this.passages = event.passages;
		else if (event.seq <= this.#seq) return;
		else this.#seq = event.seq;
		if (event.kind === 'text_released') this.#release(event);
		else if (event.kind === 'sentence_closed') this.#close(event.sentence);
		else if (event.kind === 'sentence_judged') this.#judge(event);
		else if (event.report) this.#end(event);
		this.dispatchEvent(new CustomEvent('streamverify', { detail: event, bubbles: true }));
	}

	#release({ text, span: [start], action }) {
		const held = this.#list.findLast((one) => one.start <= start);
		if (held && start < held.end) {
			held.pieces.push({ text, start, action });
			this.#draw(held);
			return;
		}
		if (!this.#text) this.#from = start;
		this.#text += text;
		this.#tail.textContent = this.#text;
	}

	#close({ index, start, end }) {
		const badge = make('button', '', { ariaExpanded: 'false', ariaHasPopup: 'dialog' });
		const sentence = { index, start, end, badge, pieces: [], body: make('span'), after: make('span') };
		badge.onclick = () => this.#open(badge, sentence);
		const known = cut(this.#text, end - this.#from);
		if (known) {
			sentence.pieces.push({ text: this.#text.slice(0, known), start: this.#from });
			this.#tail.textContent = this.#text = this.#text.slice(known);
			this.#from = end;
		}
		this.#list.push(sentence);
		this.#tail.before(make('span', 'sentence', {}, sentence.body, badge, sentence.after));
		this.#draw(sentence);
		this.#mark(sentence, 'pending');
	}

	#judge(verdict) {
		const sentence = this.#list[verdict.index];
		sentence.verdict = verdict;
		this.#draw(sentence);
		this.#mark(sentence, verdict.label);
		if (verdict.label === 'contradicted') this.#status.textContent = sentence.badge.ariaLabel;
	}

	#mark({ badge, index, verdict }, state) {
		const score = verdict?.score == null ? '' : `, ${percent(verdict.score)} likely supported`;
		Object.assign(badge, { className: `badge ${state}`, hidden: state === 'no_claim' });
		badge.ariaLabel = `Sentence ${index + 1}: ${WORDS[state]}${score}`;
		badge.replaceChildren(shape(state), WORDS[state]);
	}

	/** The text: citations as buttons, doubtful words underlined, placeholders as such. */
	#draw(sentence) {
		const { pieces, verdict, body, after } = sentence;
		const cites = (verdict?.citations || []).filter((cite) => cite.finding !== 'missing');
		const risks = verdict?.unsupported_spans || [];
		const nodes = [];
		for (const { text, start, action } of pieces) {
			if (CHANGED[action]) {
				if (text) nodes.push(make('span', action, { title: CHANGED[action], role: 'note', ariaLabel: `${CHANGED[action]}: ${text}` }, text));
				continue;
			}
			const stop = start + [...text].length;
			const borders = [start, stop, ...risks.flat(), ...cites.flatMap((cite) => [cite.start, cite.end])];
			const sorted = borders.filter((at) => at >= start && at <= stop).sort((a, b) => a - b);
			sorted.forEach((from, i) => {
				const to = sorted[i + 1], part = text.slice(cut(text, from - start), cut(text, to - start));
				if (!(from < to)) return;
				const cite = cites.find((one) => one.start <= from && to <= one.end);
				const risk = risks.some((one) => one[0] <= from && to <= one[1]);
				nodes.push(cite ? this.#cite(sentence, cite, part) : risk ? make('span', 'risk', {}, part) : part);
			});
		}
		// Closing blanks go behind the badge, which must not slip to the next line.
		const last = nodes.at(-1), blank = last?.match?.(/\s*$/)[0] || '';
		if (blank) nodes.splice(-1, 1, last.slice(0, -blank.length));
		body.replaceChildren(...nodes);
		after.textContent = blank;
	}

	#cite(sentence, cite, part) {
		const label = `Citation ${part}: ${FINDINGS[cite.finding]}`;
		const button = make('button', `cite ${cite.finding}`, { ariaLabel: label }, part);
		button.onclick = () => this.#open(button, sentence, cite);
		return button;
	}

	#open(opener, { index, verdict }, cite) {
		const panel = this.#panel, state = verdict?.label || 'pending';
		const title = cite ? `${cite.marker} ${FINDINGS[cite.finding]}` : `Sentence ${index + 1}: ${WORDS[state]}`;
		const close = make('button', 'close', { ariaLabel: 'Close', onclick: () => panel.hidePopover() }, '✕');
		const nodes = [close, make('h4', cite ? cite.finding : state, {}, title)];
		if (!cite) {
			if (verdict?.score != null) nodes.push(make('p', 'quiet', {}, `${percent(verdict.score)} likely supported`));
			for (const line of [verdict?.reason, ...(verdict?.findings || []).map((one) => one.detail)]) if (line) nodes.push(make('p', '', {}, line));
		}
		const wanted = cite && [...cite.passages, cite.better];
		const found = (verdict?.evidence || []).filter((one) => !wanted || wanted.includes(one.passage));
		for (const one of found) nodes.push(...this.#evidence(one.passage, `${RELATIONS[one.label]}, ${percent(one.score)}`, one));
		for (const id of cite?.passages || []) if (!found.some((one) => one.passage === id)) nodes.push(...this.#evidence(id, 'cited'));
		panel.replaceChildren(...nodes);
		panel.ariaLabel = title;
		panel.showPopover();
		this.#opener = opener;
		opener.ariaExpanded = 'true';
		const { top, bottom, left } = opener.getBoundingClientRect(), below = innerHeight - bottom > top;
		Object.assign(panel.style, {
			top: below ? `${bottom + 6}px` : '', bottom: below ? '' : `${innerHeight - top + 6}px`,
			maxHeight: `${Math.max(top, innerHeight - bottom) - 14}px`,
			left: `max(8px, min(${left - 24}px, 100% - ${panel.offsetWidth + 8}px))`,
		});
		for (const { parentNode, offsetTop } of panel.querySelectorAll('mark')) parentNode.scrollTop = offsetTop - parentNode.offsetTop - 24;
		panel.focus();
	}

	#closed() {
		this.#opener.ariaExpanded = 'false';
		const { activeElement } = this.#root;
		if (!activeElement || activeElement === this.#panel) this.#opener.focus();
	}

	#evidence(id, relation, found) {
		const { title, text = '' } = this.#passages.get(id) || {};
		const head = make('h5', '', {}, `${title || id} – ${relation}`);
		if (!found) return [head, quote(text)];
		if (!text) return [head, quote(mark(found.text))];
		const from = cut(text, found.start), to = cut(text, found.end);
		return [head, quote(text.slice(0, from), mark(text.slice(from, to)), text.slice(to))];
	}

	#end({ report, error }) {
		const counts = Object.keys(SHAPES).filter((label) => report.counts[label]).map((label) => [label, `${report.counts[label]} ${WORDS[label]}`]);
		const shares = [['grounding', report.grounding_score], ['citations correct', report.citation_accuracy]];
		this.#footer.replaceChildren(
			...counts.map(([label, text]) => make('span', label, {}, shape(label), text)),
			...shares.filter((one) => one[1] != null).map(([text, share]) => make('span', '', {}, `${text} ${percent(share)}`)),
			make('span', '', {}, `${(report.timings.total_ms / 1e3).toFixed(1)} s`),
		);
		this.#finish(`Complete: ${counts.map(([, text]) => text).join(', ')}`);
		if (report.outcome !== 'finished') this.#note(error ? `Failed: ${error}` : `Stopped: ${report.error}`);
	}

	#fail(message) {
		this.#finish(message);
		this.#note(`The answer is not complete: ${message}`);
		this.dispatchEvent(new CustomEvent('streamverify-error', { detail: message, bubbles: true }));
	}

	#finish(status) {
		this.#ended = true;
		this.#answer.ariaBusy = 'false';
		this.#status.textContent = status;
		for (const one of this.#list) if (!one.verdict) this.#mark(one, 'unverified');
	}

	#note(text) { this.#footer.append(make('div', 'note', {}, text)); }
}

if (!customElements.get('grounded-stream')) customElements.define('grounded-stream', GroundedStream);
