/* What stands beside the answer: the sources, or the evidence for one sentence or citation.

   Beside it where there is room, else a sheet at the lower edge of the window that the sentence stays above. */
import { findingOf } from './answer-view.js';
import { cut, make, percent, shape, WORDS } from './make.js';

const MEANS = {
	supported: 'The sources say this.', contradicted: 'The sources say otherwise.',
	unsupported: 'No source says this.', no_claim: 'Nothing here to check.',
	unverified: 'This was not checked.', pending: 'Being checked …',
};
const RELATION = { supported: 'Says so', contradicted: 'Says otherwise', unsupported: 'Nearest text' };
/** Evidence this much weaker than the best is not shown beside it. */
const MARGIN = 0.15;
/** Share of the sentence's words that it must hold to count as speaking of the same. */
const SHARE = 0.5;
const AROUND = 160;

const words = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{4,}|\d+/gu) || []).map((word) => word.slice(0, 5)));

/**
 * The evidence that decided: of the verdict's own label, the best and at most one nearly as good that speaks
 * of the same; for a sentence nothing supports, the nearest text alone.
 */
export function deciding({ label, evidence = [], findings = [] }, text) {
	if (label !== 'supported' && label !== 'contradicted') return evidence.slice(0, 1);
	const same = evidence.filter((one) => one.label === label);
	const [best] = same.length ? same : evidence;
	if (!best) return [];
	const said = words(text);
	const shared = (one) => [...words(one.text)].filter((word) => said.has(word)).length / said.size;
	const second = same.slice(1).find((one) => one.passage !== best.passage && one.score >= best.score - MARGIN && shared(one) >= SHARE);
	const chosen = second ? [best, second] : [best];
	if (findings.some((one) => one.kind === 'source_conflict')) {
		const other = evidence.find((one) => one.label !== label && one.label !== 'unsupported');
		if (other && !chosen.includes(other)) chosen.push(other);
	}
	return chosen;
}

export class EvidencePanel {
	/** Called when the reader closes it. */
	onClose = () => {};
	#passages = new Map();

	constructor() {
		this.sources = make('div', 'sources');
		this.body = make('section', 'panel', { tabIndex: -1, hidden: true });
		this.element = make('aside', '', { ariaLabel: 'Sources and evidence' }, this.body, this.sources);
		this.body.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.stopPropagation(); this.onClose(); } });
	}

	get isOpen() { return !this.body.hidden; }

	/** [{id, title, text}], in the order the answer numbers them. */
	add(list) {
		for (const passage of list) this.#passages.set(passage.id, passage);
		const items = [...this.#passages.values()].map(({ id, title, text }) => {
			const card = make('details', 'source', {}, make('summary', '', {}, make('span', 'name', {}, title || id), make('span', 'excerpt', {}, text.slice(0, 220))), make('p', 'whole', {}, text));
			return make('li', '', {}, card);
		});
		this.sources.replaceChildren(...(items.length ? [make('h3', '', {}, 'Sources'), make('ol', '', {}, ...items)] : []));
	}

	clear() {
		this.#passages.clear();
		this.sources.replaceChildren();
		this.hide();
	}

	hide() { this.body.hidden = true; }

	/** Show what decided about a sentence, or about one of its citations. */
	show({ index, verdict, state, revised }, text, cite) {
		const title = cite ? `${cite.marker} ${findingOf(cite)}` : `Sentence ${index + 1}: ${WORDS[state]}`;
		const close = make('button', 'close', { type: 'button', ariaLabel: 'Close', onclick: () => this.onClose() }, '✕');
		const sign = cite ? cite.finding : state;
		const nodes = [make('header', '', {}, make('h3', sign, {}, ...(cite ? [] : [shape(state)]), title), close)];
		if (!cite) nodes.push(make('p', 'quiet', {}, MEANS[state], verdict?.score == null ? '' : ` ${percent(verdict.score)} likely supported.`, verdict?.provisional ? ' Being checked again …' : revised ? ' Revised after a closer look.' : ''));
		const details = cite ? [] : [verdict?.reason_text || verdict?.reason, ...(verdict?.findings || []).map((one) => one.detail)];
		for (const line of new Set(details)) if (line) nodes.push(make('p', 'detail', {}, line));
		nodes.push(...(cite ? this.#cited(cite, verdict) : deciding(verdict || {}, text).map((one) => this.#card(one.passage, state === 'unsupported' ? RELATION.unsupported : RELATION[one.label], one))));
		this.body.replaceChildren(...nodes);
		this.body.ariaLabel = title;
		this.body.hidden = false;
	}

	#cited({ passages, better, finding }, verdict) {
		const cards = passages.map((id) => {
			const found = (verdict?.evidence || []).find((one) => one.passage === id);
			const decides = found && found.label !== 'unsupported';
			return this.#card(id, decides ? RELATION[found.label] : finding === 'unverified' ? 'Cited' : 'Cited; does not say this', decides ? found : null);
		});
		const found = better && (verdict?.evidence || []).find((one) => one.passage === better && one.label === 'supported');
		if (better) cards.push(this.#card(better, 'Says so', found || null));
		return cards;
	}

	#card(id, relation, found) {
		const { title, text = '' } = this.#passages.get(id) || {}, number = [...this.#passages.keys()].indexOf(id) + 1;
		const head = make('h4', '', {}, make('span', 'relation', {}, relation), `${number ? `${number}. ` : ''}${title || id}`);
		const body = make('blockquote');
		const whole = () => body.replaceChildren(...(found && text ? [text.slice(0, from), make('mark', '', {}, text.slice(from, to)), text.slice(to)] : [text]));
		const from = found && text ? cut(text, found.start) : 0, to = found && text ? cut(text, found.end) : 0;
		if (found && !text) body.append(make('mark', '', {}, found.text));
		else if (text.length <= (to - from) + 2 * AROUND) whole();
		else {
			const before = from <= AROUND ? text.slice(0, from) : `… ${text.slice(text.indexOf(' ', from - AROUND) + 1, from)}`;
			const stop = Math.max(to, text.lastIndexOf(' ', to + AROUND)), after = stop >= text.length ? text.slice(to) : `${text.slice(to, stop)} …`;
			body.append(before, ...(found ? [make('mark', '', {}, text.slice(from, to))] : []), after);
			const more = make('button', 'more', { type: 'button', onclick: () => { whole(); more.remove(); } }, 'Show the whole source');
			return make('article', '', {}, head, body, more);
		}
		return make('article', '', {}, head, body);
	}
}
