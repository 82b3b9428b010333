/* The answer as a reader sees it: Markdown as elements, cut where sentences, citations and doubtful words begin.

   Before: grounded-stream.js, which takes the events. After: the page.

   What was released is one text, the *shown source*, in which a replacement (a placeholder, a rewritten
   sentence) is a single character that is never parsed. Offsets of the answer as generated (code points) are
   brought to offsets in it (UTF-16 units). A block is drawn again only when it, or a verdict in it, changed. */
import { cut, make, shape, WORDS, percent } from './make.js';
import { extend, isSafe } from './markdown.js';

const HELD = '\ufffc';
const CHANGED = { redact: 'Removed, not in the sources', repair: 'Rewritten from the sources' };
const FINDINGS = {
	correct: 'the source supports this', partial: 'the source supports part of this',
	wrong_passage: 'the source does not say this', fabricated: 'there is no such source',
	unsupported: 'no source says this', unverified: 'not checked',
};
const INLINE = { strong: 'strong', em: 'em', del: 'del', code: 'code' };

export const findingOf = (citation) => FINDINGS[citation.finding] || citation.finding;

/** Index of the first of the rising `list` whose key is above `value`. */
const firstAbove = (list, value, key) => {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (key(list[middle]) <= value) low = middle + 1; else high = middle;
	}
	return low;
};

export class AnswerView {
	/** Called with the opener, its sentence and, for a citation, that. */
	onOpen = () => {};
	#source = ''; #pieces = []; #held = new Map(); #sentences = []; #drawn = [];
	#blocks = []; #open = true; #caret = make('span', 'caret', { ariaHidden: 'true' });

	constructor() {
		this.element = make('div', 'answer');
		this.element.addEventListener('click', (event) => this.#press(event));
		this.element.addEventListener('keydown', (event) => {
			if (event.target.closest?.('.cite') && (event.key === 'Enter' || event.key === ' ')) this.#press(event);
		});
	}

	get sentences() { return this.#sentences; }

	release({ text, span: [start, end], action }) {
		const changed = action in CHANGED;
		const piece = { text, start, end, action, at: this.#source.length, held: changed, wide: /[\ud800-\udfff]/.test(text) };
		this.#source += changed ? HELD : text;
		this.#pieces.push(piece);
		if (changed) this.#held.set(piece.at, piece);
	}

	close({ index, start, end }) {
		const badge = make('button', 'badge', { type: 'button', ariaExpanded: 'false' });
		const sentence = { index, start, end, badge, tag: make('span', 'tag', {}, badge), version: 0, verdict: null, state: 'pending' };
		badge.dataset.of = index;
		this.#sentences[index] = sentence;
		this.#mark(sentence, 'pending');
	}

	/** The verdict on a sentence, the first or a later one that takes its place. */
	judge(verdict, revised = false) {
		const sentence = this.#sentences[verdict.index];
		const changed = revised && sentence.verdict && sentence.verdict.label !== verdict.label;
		Object.assign(sentence, { verdict, revised: sentence.revised || changed, version: sentence.version + 1 });
		this.#mark(sentence, verdict.label);
		return changed;
	}

	/** Nothing more comes; sentences without a verdict are told as not checked. */
	finish() {
		this.#open = false;
		for (const one of this.#sentences) if (!one.verdict) this.#mark(one, 'unverified');
		this.draw();
	}

	/** What the sentence reads now, as far as it was released and not replaced. */
	textOf(sentence) {
		const [from, to] = this.#range(sentence);
		return this.#source.slice(from, to).replaceAll(HELD, '');
	}

	/** Mark the sentence whose evidence is open; none with undefined. */
	choose(sentence) {
		for (const node of this.element.querySelectorAll('.chosen')) node.classList.remove('chosen');
		this.chosen = sentence;
		if (sentence) for (const node of this.partsOf(sentence)) node.classList.add('chosen');
	}

	partsOf({ index }) { return [...this.element.querySelectorAll(`.s[data-of="${index}"]`)]; }

	#mark(sentence, state) {
		const { badge, index, verdict, revised } = sentence;
		const score = verdict?.score == null ? '' : `, ${percent(verdict.score)} likely supported`;
		sentence.state = state;
		const asked = verdict?.provisional, more = asked ? 'being checked again' : revised ? 'revised' : '';
		badge.className = `badge ${state}${asked ? ' provisional' : ''}`;
		badge.hidden = state === 'no_claim' && !asked;
		badge.title = WORDS[state] + (more && `, ${more}`);
		badge.ariaLabel = `Sentence ${index + 1}: ${WORDS[state]}${more && ` (${more})`}${score}`;
		badge.replaceChildren(...(badge.hidden ? [] : [shape(state), make('span', 'word', {}, WORDS[state])]));
	}

	#press(event) {
		const opener = event.target.closest?.('.badge, .cite');
		if (!opener) return;
		event.preventDefault();
		const sentence = this.#sentences[opener.dataset.of];
		const cite = opener.dataset.cite && sentence.verdict.citations[opener.dataset.cite];
		this.onOpen(opener, sentence, cite || null);
	}

	/** Offset in the shown source of a code point of the answer as generated. */
	#offset(point) {
		const piece = this.#pieces[firstAbove(this.#pieces, point, (one) => one.start) - 1];
		if (!piece) return 0;
		if (piece.held) return piece.at + (point > piece.start ? 1 : 0);
		const count = point - piece.start;
		return piece.at + (piece.wide ? cut(piece.text, count) : Math.min(count, piece.text.length));
	}

	#range(sentence) {
		if (sentence.range) return sentence.range;
		const range = [this.#offset(sentence.start), this.#offset(sentence.end)];
		if ((this.#pieces.at(-1)?.end ?? 0) >= sentence.end) {
			sentence.range = range;
			const text = this.#source.slice(...range);
			sentence.last = text.trim() ? range[0] + text.trimEnd().length - 1 : -1;
		}
		return range;
	}

	/** Bring the elements up to what is known. */
	draw() {
		this.#blocks = extend(this.#blocks, this.#source, this.#open);
		const focused = this.element.getRootNode().activeElement;
		let next = 0;
		this.#blocks.forEach((block, n) => {
			const before = n === 0 ? 0 : block.from, stop = this.#blocks[n + 1]?.from ?? this.#source.length;
			while (next && this.#range(this.#sentences[next - 1])[1] > before) next--;
			const inside = [];
			for (; next < this.#sentences.length && this.#range(this.#sentences[next])[0] < stop; next++) {
				if (this.#range(this.#sentences[next])[1] > before) inside.push(this.#sentences[next]);
			}
			const key = [block.from, stop, block.to, this.#open && n === this.#blocks.length - 1, ...inside.map((one) => `${one.index}.${one.version}.${one.range?.[1] ?? ''}`)].join(' ');
			if (this.#drawn[n]?.key === key) return;
			const node = this.#element(block, this.#cuts(inside));
			this.#place(node, inside, before, stop);
			if (this.#drawn[n]) this.#drawn[n].node.replaceWith(node); else this.element.append(node);
			this.#drawn[n] = { key, node };
		});
		for (const { node } of this.#drawn.splice(this.#blocks.length)) node.remove();
		if (this.#open) this.#blink(); else this.#caret.remove();
		if (this.chosen) this.choose(this.chosen);
		if (focused && focused !== this.element.getRootNode().activeElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
	}

	/** The caret behind the last text, within its block. */
	#blink() {
		const node = this.#drawn.at(-1)?.node;
		// Text of a sentence that is still open is `rest`; an item without text is where the next word goes.
		const last = node && [...node.querySelectorAll('li, .s, .rest, .tag')].at(-1);
		if (last && !last.matches('li')) last.after(this.#caret);
		else (last ?? (node?.matches(':not(hr)') ? node : this.element)).append(this.#caret);
		const told = this.#pieces.at(-1)?.end ?? 0, held = this.#sentences.filter((one) => one.end > told).length;
		this.#caret.textContent = held ? `checking ${held} more` : '';
		this.#caret.classList.toggle('holding', held > 0);
	}

	/** What the source is cut by where these sentences stand. */
	#cuts(inside) {
		const points = new Set(), ranged = (start, end, fields) => {
			const [from, to] = [this.#offset(start), this.#offset(end)];
			points.add(from).add(to);
			return { from, to, ...fields };
		};
		const sentences = inside.map((sentence) => {
			const { verdict, start, end } = sentence, claims = verdict && verdict.label !== 'no_claim';
			const cites = (verdict?.citations || []).map((cite, n) => (cite.finding === 'missing' ? null : ranged(cite.start, cite.end, { cite, n, sentence }))).filter(Boolean);
			const risks = claims ? (verdict.unsupported_spans || []).map((span) => ranged(...span)) : [];
			return ranged(start, end, { sentence, cites, risks });
		});
		return { sentences, points: [...points].sort((a, b) => a - b) };
	}

	#element(block, cuts) {
		const within = (node, parts = block.nodes) => { node.append(...parts.map((one) => this.#element(one, cuts))); return node; };
		switch (block.kind) {
			case 'text': return this.#text(block, cuts);
			case 'break': return make('br');
			case 'rule': return make('hr');
			case 'paragraph': return within(make('p'));
			case 'heading': return within(make(`h${Math.min(6, block.level + 2)}`));
			case 'quote': return within(make('blockquote'));
			case 'item': return within(make('li'));
			case 'list': {
				const list = within(make(block.ordered ? 'ol' : 'ul', block.loose ? '' : 'tight'));
				if (block.ordered && block.start !== 1) list.start = block.start;
				return list;
			}
			case 'code': {
				if (!('info' in block)) return within(make('code'));
				const code = make('code');
				for (const line of block.nodes) code.append(this.#text(line, cuts), '\n');
				const pre = make('pre', '', { tabIndex: 0, ariaLabel: block.info ? `Code, ${block.info}` : 'Code' }, code);
				return make('div', 'code', {}, pre);
			}
			case 'table': {
				const rows = block.nodes.map((row) => within(make('tr'), row.nodes));
				rows.forEach((row, n) => [...row.children].forEach((cell, column) => {
					if (block.nodes[n].header) cell.scope = 'col';
					if (block.align[column]) cell.style.textAlign = block.align[column];
				}));
				const head = block.nodes[0].header ? rows.splice(0, 1) : [];
				return make('div', 'table', { tabIndex: 0, role: 'group', ariaLabel: 'Table' }, make('table', '', {}, make('thead', '', {}, ...head), make('tbody', '', {}, ...rows)));
			}
			case 'row': return within(make('tr'));
			case 'cell': return within(make(block.header ? 'th' : 'td'));
			case 'link': {
				const cited = cuts.sentences.some(({ cites }) => cites.some((one) => block.nodes.some((node) => node.kind === 'text' && one.from < node.to && node.from < one.to)));
				if (cited || !isSafe(block.href)) return within(make('span', 'nolink'));
				return within(make('a', '', { href: block.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: block.href }));
			}
			default: return within(make(INLINE[block.kind] || 'span'));
		}
	}

	/** A leaf, cut into its sentences and, within them, citations, doubtful words and replacements. */
	#text({ from, to, text }, cuts) {
		const plain = text.length === to - from, points = [from];
		if (plain) {
			for (let n = firstAbove(cuts.points, from, (one) => one); cuts.points[n] < to; n++) points.push(cuts.points[n]);
			for (let at = text.indexOf(HELD); at >= 0; at = text.indexOf(HELD, at + 1)) if (this.#held.has(from + at)) points.push(from + at, from + at + 1);
			points.sort((a, b) => a - b);
		}
		points.push(to);
		const nodes = make('span', 'leaf');
		let part, owner;
		for (let n = 0; n + 1 < points.length; n++) {
			const [start, end] = [points[n], points[n + 1]];
			if (start >= end) continue;
			const holds = (one) => one.from <= start && start < one.to;
			const inside = [cuts.sentences[firstAbove(cuts.sentences, start, (one) => one.from) - 1]].find((one) => one && holds(one));
			const found = inside?.sentence;
			if (!part || found !== owner) {
				part = make('span', found ? 's' : 'rest');
				if (found) part.dataset.of = found.index;
				nodes.append(part);
				owner = found;
			}
			const shown = plain ? text.slice(start - from, end - from) : text;
			const held = plain && this.#held.get(start);
			const cite = inside?.cites.find(holds);
			if (held) part.append(held.text ? make('span', held.action, { title: CHANGED[held.action], role: 'note', ariaLabel: `${CHANGED[held.action]}: ${held.text}` }, held.text) : '');
			else if (cite) part.append(this.#cite(cite, shown));
			else if (inside?.risks.some(holds) && shown.trim()) part.append(make('span', 'risk', {}, shown));
			else part.append(shown);
		}
		return nodes;
	}

	#cite({ cite, n, sentence }, shown) {
		const button = make('span', `cite ${cite.finding}`, { role: 'button', tabIndex: 0, ariaExpanded: 'false', ariaLabel: `Citation ${shown}: ${findingOf(cite)}`, title: findingOf(cite) }, shown);
		button.dataset.of = sentence.index;
		button.dataset.cite = n;
		return button;
	}

	/** Let no line break come between the last word and its badge; browsers allow one at any box. */
	#keep(last, tag) {
		const text = last?.nodeType === Node.TEXT_NODE ? last : last?.matches?.('.risk, .redact, .repair') ? last.lastChild : null;
		const word = text && /\S{1,24}$/.exec(text.data.slice(-24))?.[0];
		if (!word || (word.length === 24 && text.data.length > 24)) return;
		const keep = make('span', 'keep');
		text.splitText(text.data.length - word.length).replaceWith(keep);
		keep.append(word, tag);
	}

	/** Put the badges of the sentences that end in this block behind their last words. */
	#place(node, inside, before, stop) {
		for (const sentence of inside) {
			if (sentence.last === undefined || sentence.last < before || sentence.last >= stop) continue;
			const parts = [...node.querySelectorAll(`.s[data-of="${sentence.index}"]`)];
			const part = parts.findLast((one) => one.textContent.trim()) || parts.at(-1);
			if (!part) { node.append(sentence.tag); continue; }
			let last = part.lastChild;
			const blank = last?.nodeType === Node.TEXT_NODE ? last.data.slice(last.data.trimEnd().length) : '';
			if (blank) last.data = last.data.slice(0, -blank.length);
			if (last?.data === '') last = last.previousSibling;
			let behind = part;
			for (let up = part.parentNode; up !== node; up = up.parentNode) if (up.matches('a, code, pre, .nolink')) behind = up;
			behind.after(sentence.tag, blank);
			if (behind === part) this.#keep(last, sentence.tag);
		}
	}
}
