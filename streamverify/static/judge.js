/* The judging page: recorded answers, a sentence at a time, by keys; each judgment is stored before the next. */
import { make, shape } from './make.js';

const OPINIONS = [['1', 'correct', null, 'correct', 'supported'], ['2', 'incorrect', 'minor', 'minor', 'unsupported'], ['3', 'incorrect', 'major', 'major', 'contradicted'], ['4', 'incorrect', 'critical', 'critical', 'contradicted']];
const SHAPES = new Set(['supported', 'contradicted', 'unsupported']);
const LOOK = { correct: 'supported', incorrect: 'contradicted' };
const by = (id) => document.getElementById(id);
const token = location.hash.slice(1);
let streams = [], whole = false, place = 0, shown, at = 0, chain = Promise.resolve();

const ask = async (path, body) => {
	const headers = { 'X-Streamverify-Token': token, ...(body && { 'Content-Type': 'application/json' }) };
	const response = await fetch(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
	const told = await response.json();
	if (!response.ok) throw new Error(told.error?.message || response.statusText);
	return told;
};
const problem = (error) => {
	by('problem').hidden = !error;
	by('problem').textContent = error ? `Not done: ${error.message}` : '';
};
/* One after the other: a judgment is stored before the next key is heard. */
const then = (step) => {
	chain = chain.then(async () => { await step(); problem(null); }).catch(problem);
	return chain;
};

const badge = (label, ...more) => {
	const look = LOOK[label] || label;
	return make('span', `badge ${SHAPES.has(look) ? look : 'open'}`, {}, ...(SHAPES.has(look) ? [shape(look)] : []), [label, ...more.filter(Boolean)].join(' · '));
};
const current = () => shown.sentences[at];
const counting = (sentence) => sentence.judgments.find((one) => one.current) || sentence;

const draw = () => {
	by('place').textContent = `${shown.opened_at.slice(0, 16).replace('T', ' ')} · ${shown.requester ?? 'nobody known'} · ${shown.id}`;
	by('question').textContent = shown.question ?? 'The question was not kept.';
	by('count').textContent = `answer ${place + 1} of ${streams.length}${whole ? '' : ' or more'}`;
	by('sentences').replaceChildren(...shown.sentences.map((sentence, n) => {
		const told = counting(sentence);
		const button = make('button', '', { type: 'button', onclick: () => choose(n) }, make('span', 'text', {}, sentence.text ?? 'The text was not kept.'), badge(told.label, told.severity, told.by));
		if (n === at) button.setAttribute('aria-current', 'true');
		return make('li', '', {}, button);
	}));
	by('sentences').children[at]?.scrollIntoView({ block: 'nearest' });
	const sentence = current();
	by('judgments').replaceChildren(...(sentence?.judgments ?? []).map((one) => make('li', '', {}, badge(one.label, one.severity), ` ${one.by ?? one.source}, ${one.at.slice(0, 10)}${one.current ? ', counts' : ''}`, ...(one.detail ? [make('span', 'remark', {}, one.detail)] : []))));
	const behind = new Set(sentence?.behind);
	by('passages').replaceChildren(...shown.documents.map(({ passage, uri, title, text }) => make('article', behind.has(passage) ? 'evidence' : '', {}, make('strong', '', {}, `${title || passage} (${uri})`), make('p', '', { dir: 'auto' }, text ?? 'The text was not kept.'))));
	by('said').textContent = sentence ? `Sentence ${at + 1}: ${counting(sentence).label}. ${sentence.text ?? ''}` : 'No sentence.';
};

const open = async (n, last = false) => {
	if (n >= streams.length && !whole) {
		const told = await ask(`api/streams?before=${encodeURIComponent(streams.at(-1).opened_at)}`);
		streams.push(...told.streams);
		whole = told.whole;
	}
	if (!streams[n]) return;
	shown = await ask(`api/stream/${streams[n].id}`);
	place = n;
	at = last ? Math.max(shown.sentences.length - 1, 0) : 0;
	by('note').value = '';
	draw();
};
const move = async (step) => {
	if (current() && shown.sentences[at + step]) { at += step; by('note').value = ''; draw(); }
	else if (place + step >= 0) await open(place + step, step < 0);
};
const choose = (n) => then(() => { at = n; by('note').value = ''; draw(); });
const say = (opinion, severity) => then(async () => {
	if (!current()) return;
	const name = by('by').value.trim();
	if (!name) { by('by').focus(); throw new Error('say who you are first'); }
	shown = await ask('api/judgment', { stream: shown.id, sentence: current().number, opinion, severity, note: by('note').value, by: name });
	by('note').value = '';
	if (shown.sentences[at + 1]) at += 1;
	draw();
});

const KEYS = {
	...Object.fromEntries(OPINIONS.map(([key, opinion, severity]) => [key, () => say(opinion, severity)])),
	ArrowDown: () => then(() => move(1)), ArrowRight: () => then(() => open(place + 1)),
	ArrowUp: () => then(() => move(-1)), ArrowLeft: () => then(() => place && open(place - 1)),
	e: () => by('note').focus(),
};
document.addEventListener('keydown', (event) => {
	if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.target.closest('textarea, input')) {
		if (event.key === 'Escape' || (event.key === 'Enter' && !event.shiftKey)) { event.preventDefault(); event.target.blur(); }
		return;
	}
	const act = KEYS[event.key];
	if (act) { event.preventDefault(); act(); }
});
by('keys').append(
	...OPINIONS.map(([key, opinion, severity, word, look]) => make('button', look, { type: 'button', onclick: () => say(opinion, severity) }, make('kbd', '', {}, key), shape(look), ` ${severity ? `incorrect, ${word}` : word}`)),
	make('button', 'quiet', { type: 'button', onclick: () => by('note').focus() }, make('kbd', '', {}, 'e'), ' why'),
	make('span', 'hint', {}, '↑ ↓ sentences · ← → answers'),
);

then(async () => {
	({ streams, whole } = await ask('api/streams'));
	document.querySelector('main').hidden = document.querySelector('footer').hidden = false;
	if (streams.length) await open(0);
	else by('count').textContent = 'nothing was recorded yet';
}).then(() => { if (!shown && !by('count').textContent) { by('problem').hidden = false; by('problem').textContent = 'Open the address that the server printed, with all that stands behind #.'; } });
