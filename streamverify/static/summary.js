/* The line above the answer: how many sentences of each label, and once the answer is complete its figures. */
import { LABELS, make, percent, shape, WORDS } from './make.js';

const PROBLEMS = ['supported', 'contradicted', 'unsupported', 'unverified', 'pending'];

export class Summary {
	constructor() {
		this.counts = make('div', 'counts');
		this.figures = make('div', 'figures');
		this.strip = make('div', 'strip', { ariaHidden: 'true' });
		this.element = make('div', 'summary', {}, make('div', 'line', {}, this.counts, this.figures), this.strip);
	}

	/** Count what is known so far. */
	update(sentences) {
		const count = Object.fromEntries(LABELS.map((label) => [label, 0]));
		for (const { state } of sentences) count[state]++;
		const told = PROBLEMS.filter((label) => count[label]);
		this.counts.replaceChildren(...told.map((label) => make('span', label, {}, shape(label), `${count[label]} ${WORDS[label]}`)));
		this.strip.replaceChildren(...sentences.map(({ state, start, end }) => {
			const part = make('span', state);
			part.style.flexGrow = end - start;
			return part;
		}));
		return told.map((label) => `${count[label]} ${WORDS[label]}`).join(', ');
	}

	/** The figures of a report. */
	end({ grounding_score: grounding, citation_accuracy: accuracy, timings }) {
		const lag = timings.verdict_lag_ms?.p50, ratio = timings.overhead_ratio;
		const figures = [
			['grounding', grounding == null ? null : percent(grounding), 'Mean probability that the sources support a sentence'],
			['citations right', accuracy == null ? null : percent(accuracy), 'Citations whose source says so'],
			['per verdict', lag == null ? null : `${Math.round(lag)} ms`, 'From the end of a sentence to its verdict, median'],
			['overhead', ratio == null ? null : `${((ratio - 1) * 100).toFixed(1)} %`, 'Time added to the bare stream'],
			['total', `${(timings.total_ms / 1e3).toFixed(1)} s`, 'From the question to the last verdict'],
		];
		this.figures.replaceChildren(...figures.filter((one) => one[1]).map(([name, value, title]) => make('span', `figure ${name === 'per verdict' || name === 'total' ? 'minor' : ''}`.trim(), { title }, make('b', '', {}, value), ` ${name}`)));
		this.element.dataset.ended = '';
	}
}
