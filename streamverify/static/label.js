/* The labelling page: one sentence at a time, by keys; each decision is on disk before the next. */
import { make, shape } from './make.js';

const LABELS = [['1', 'supported', 'supported'], ['2', 'contradicted', 'contradicted'], ['3', 'unsupported', 'not in sources'], ['4', 'no_claim', 'no claim']];
const WORD = Object.fromEntries(LABELS.map(([, label, word]) => [label, word]));
const by = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const history = [];
let work, place = 0, shown, at = 0, chain = Promise.resolve();

const ask = async (path, body) => {
	const headers = { 'X-Streamverify-Token': token, ...(body && { 'Content-Type': 'application/json' }) };
	const response = await fetch(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
	const told = await response.json();
	if (!response.ok) throw new Error(told.error?.message || response.statusText);
	return told;
};
const problem = (error) => {
	by('problem').hidden = !error;
	by('problem').textContent = error ? `Not saved: ${error.message}` : '';
};

const sum = (list) => list.reduce((a, b) => a + b, 0);
const progress = () => {
	const all = sum(work.sentences), done = sum(work.done);
	Object.assign(by('bar'), { max: all, value: done });
	by('count').textContent = `${done} of ${all} sentences${done === all ? ', all done' : ''}`;
};

const current = () => shown.sentences[at];
/* A run of a sentence in the elements of its styles; which they are is the server's word, its text is not. */
const said = ({ text, styles }) => styles.reduceRight((inner, tag) => make(tag, '', {}, inner), text);

const labelOf = (sentence) => shown.labels[sentence.index];

const drawSentences = () => {
	by('sentences').replaceChildren(...shown.sentences.map((sentence, n) => {
		const held = labelOf(sentence);
		const badge = make('span', `badge ${held?.label ?? 'open'}`, {}, ...(held && held.label !== 'no_claim' ? [shape(held.label)] : []), held ? WORD[held.label] : 'open');
		const button = make('button', '', { type: 'button', onclick: () => choose(n) }, make('span', 'text', {}, ...sentence.runs.map(said)), badge);
		if (held?.note) button.append(make('span', 'remark', {}, held.note));
		if (n === at) button.setAttribute('aria-current', 'true');
		return make('li', '', {}, button);
	}));
	by('sentences').children[at]?.scrollIntoView({ block: 'nearest' });
};

/* The passage's text, what is searched for marked. */
const marked = (text, find) => {
	if (!find) return [text];
	const nodes = [], low = text.toLowerCase();
	let from = 0;
	// Lower case may be longer or shorter than the text; then nothing is marked.
	if (low.length !== text.length) return [text];
	for (let k = low.indexOf(find); k >= 0; k = low.indexOf(find, from)) {
		nodes.push(text.slice(from, k), make('mark', '', {}, text.slice(k, k + find.length)));
		from = k + find.length;
	}
	return [...nodes, text.slice(from)];
};

const drawPassages = () => {
	const find = by('find').value.trim().toLowerCase(), evidence = new Set(draft().evidence);
	const cards = shown.passages.map(({ id, title, text }, n) => {
		const box = make('input', '', { type: 'checkbox', checked: evidence.has(id), onchange: () => toggle(id) });
		const card = make('article', evidence.has(id) ? 'evidence' : '', {}, make('label', '', {}, box, ` ${n + 1}. ${title || id}`), make('p', '', { dir: 'auto' }, ...marked(text, find)));
		card.hidden = Boolean(find) && !`${title || ''} ${id} ${text}`.toLowerCase().includes(find);
		return card;
	});
	const none = !cards.length ? 'This answer has no passages.' : cards.every((card) => card.hidden) ? 'No passage holds that.' : '';
	by('passages').replaceChildren(...cards, ...(none ? [make('p', 'quiet', {}, none)] : []));
};

/* What is noted about the chosen sentence before it has a label. */
const drafts = new Map();
const draft = () => {
	const held = labelOf(current());
	if (held) return held;
	const key = `${place} ${current().index}`;
	if (!drafts.has(key)) drafts.set(key, { label: null, evidence: [], note: '' });
	return drafts.get(key);
};

const draw = () => {
	by('place').textContent = `Answer ${place + 1} of ${work.sentences.length}: ${shown.id}`;
	by('question').textContent = shown.question || '';
	by('note').value = draft().note;
	drawSentences();
	drawPassages();
	progress();
	by('said').textContent = `Sentence ${at + 1}: ${WORD[labelOf(current())?.label] || 'open'}. ${current().text}`;
};

/* One after the other: a decision is saved before the next key is heard. */
const then = (step) => {
	chain = chain.then(step).catch(problem);
	return chain;
};

const open = async (n, sentence) => {
	shown = await ask(`api/case/${n}`);
	place = n;
	const free = shown.sentences.findIndex((one) => !labelOf(one));
	at = sentence ?? Math.max(free, 0);
	if (at < 0) at = shown.sentences.length - 1;
	by('find').value = '';
	draw();
};

const save = async (n, sentence, { label, evidence, note }, remember = true) => {
	const old = shown.labels[sentence.index] || { label: null, evidence: [], note: '' };
	const told = await ask('api/label', { case: n, sentence: sentence.index, label, evidence, note });
	problem(null);
	if (remember) history.push([n, sentence.index, old]);
	work.done[n] = told.done;
	if (label) shown.labels[sentence.index] = { label, evidence, note };
	else delete shown.labels[sentence.index];
};

const move = async (step) => {
	const next = at + step;
	if (next >= 0 && next < shown.sentences.length) { at = next; draw(); }
	else if (work.sentences[place + step] !== undefined) await open(place + step, step > 0 ? undefined : work.sentences[place + step] - 1);
};

const mark = (label) => then(async () => {
	await save(place, current(), { ...draft(), label });
	await onward();
	draw();
});
/* To the next sentence without a label: in this answer, then in those after it. */
const onward = async () => {
	const free = shown.sentences.findIndex((one, n) => n > at && !labelOf(one));
	if (free >= 0) { at = free; return; }
	const next = work.sentences.findIndex((count, n) => n > place && work.done[n] < count);
	if (next >= 0) await open(next);
};
const undo = () => then(async () => {
	const [n, index, old] = history.at(-1) || [];
	if (!old) return;
	if (n !== place) await open(n);
	at = shown.sentences.findIndex((one) => one.index === index);
	await save(n, current(), old, false);
	history.pop();
	draw();
});
const toggle = (id) => then(async () => {
	const held = draft();
	const evidence = held.evidence.includes(id) ? held.evidence.filter((one) => one !== id) : [...held.evidence, id];
	if (held.label) await save(place, current(), { ...held, evidence });
	else held.evidence = evidence;
	draw();
});
const keep = () => then(async () => {
	const held = draft(), note = by('note').value;
	if (note === held.note) return;
	if (held.label) await save(place, current(), { ...held, note });
	else held.note = note;
	drawSentences();
});
const choose = (n) => then(() => { at = n; draw(); });

const KEYS = {
	...Object.fromEntries(LABELS.map(([key, label]) => [key, () => mark(label)])),
	ArrowDown: () => then(() => move(1)), ArrowRight: () => then(() => move(1)),
	ArrowUp: () => then(() => move(-1)), ArrowLeft: () => then(() => move(-1)),
	u: undo, e: () => by('note').focus(), '/': () => by('find').focus(),
};
document.addEventListener('keydown', (event) => {
	if (!work || event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.target.closest('textarea, input:not([type=checkbox])')) {
		if (event.key === 'Escape' || (event.key === 'Enter' && event.target.id === 'note' && !event.shiftKey)) { event.preventDefault(); event.target.blur(); }
		return;
	}
	const act = KEYS[event.key];
	if (act) { event.preventDefault(); act(); }
});
by('note').addEventListener('change', keep);
by('find').addEventListener('input', drawPassages);
by('keys').append(
	...LABELS.map(([key, label, word]) => make('button', label, { type: 'button', onclick: () => mark(label) }, make('kbd', '', {}, key), ...(label === 'no_claim' ? [] : [shape(label)]), ` ${word}`)),
	make('button', 'quiet', { type: 'button', onclick: undo }, make('kbd', '', {}, 'u'), ' undo'),
	make('button', 'quiet', { type: 'button', onclick: () => by('note').focus() }, make('kbd', '', {}, 'e'), ' note'),
	make('span', 'hint', {}, '↑ ↓ other sentences · / search'),
);

then(async () => {
	work = await ask('api/work');
	by('who').textContent = work.annotator;
	const first = work.sentences.findIndex((count, n) => work.done[n] < count);
	await open(Math.max(first, 0));
	document.querySelector('main').hidden = document.querySelector('footer').hidden = false;
	drawSentences();
}).then(() => { if (!work) by('problem').textContent = 'Open the address that the command printed, with all that stands behind #.'; });
