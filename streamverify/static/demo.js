/* The demo page: choose an example or paste your own, a policy and a speed; the element does the rest. */
import './grounded-stream.js';

const at = (id) => document.getElementById(id);
const answer = at('answer');
// After '#', so that a server's log never holds it.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const headers = token ? { 'x-streamverify-token': token } : {};
const FIELDS = ['question', 'passages', 'answer'];
const SAMPLE = {
	question: 'When was the Aldgrove lighthouse built, and can I visit it?',
	passages: 'The Aldgrove lighthouse was built between 1871 and 1874. Its tower is 34 metres high and was painted white until 1920.\n\nThe lighthouse is open to visitors from April to October, daily except Mondays. Admission is 6 euros; children under twelve pay nothing.',
	answer: 'The lighthouse was built from **1871** to **1874**; its tower is *34 metres* high [1].\n\n| | Price |\n|---|---|\n| Adults | Adults pay 9 euros to go in [2]. |\n| Children | Children under twelve pay nothing to go in [2]. |\n\nThe keeper sells postcards on Sundays.',
};
let cases = [];

const own = () => document.querySelector('[name=from]:checked').value === 'own';

const playCase = () => {
	const chosen = cases.find((one) => one.id === at('case').value);
	if (!chosen) return;
	at('question').textContent = chosen.question;
	const asked = new URLSearchParams({ case: chosen.id, policy: at('policy').value, speed: at('speed').value });
	answer.start(`/demo/stream?${asked}`, { headers });
};

/** Show an error at the field it is about, and go there. */
const blame = (field, message) => {
	const input = at(`own-${field}`);
	if (!input) return at('own-error').append(message);
	at(`own-${field}-error`).textContent = message;
	input.setAttribute('aria-invalid', 'true');
	input.focus();
};

const absolve = () => {
	for (const error of document.querySelectorAll('.error')) error.textContent = '';
	for (const field of FIELDS) at(`own-${field}`).removeAttribute('aria-invalid');
};

const checkOwn = () => {
	absolve();
	const body = { policy: at('policy').value, speed: Number(at('speed').value) };
	for (const field of FIELDS) body[field] = at(`own-${field}`).value;
	if (!body.passages.trim()) return blame('passages', 'Paste at least one source.');
	if (!body.answer.trim()) return blame('answer', 'Paste the answer to be checked.');
	if (!body.question.trim()) delete body.question;
	at('card').hidden = false;
	at('question').textContent = body.question || 'Your answer';
	answer.start('/demo/check', { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) });
};

const play = () => (own() ? checkOwn() : playCase());

const turn = () => {
	at('own').hidden = !own();
	at('case-field').hidden = at('play').hidden = own();
	at('card').hidden = own();
	answer.stop();
	if (!own()) playCase();
};

answer.addEventListener('streamverify', ({ detail }) => {
	if (detail.kind !== 'stream_opened') return;
	const { model, precision } = detail.fingerprint;
	at('model').textContent = [model, precision, 'on this machine'].filter(Boolean).join(' · ');
	if (own()) at('card').scrollIntoView({ block: 'start' });
});
answer.addEventListener('streamverify-error', ({ detail, error, status }) => {
	if (!own() || !(status >= 400 && status < 500)) return;
	at('card').hidden = true;
	blame(error?.param, detail);
});

const rate = () => { at('rate').value = `${at('speed').value} tokens/s`; };
at('speed').addEventListener('input', rate);
for (const form of ['controls', 'own']) at(form).addEventListener('submit', (event) => { event.preventDefault(); play(); });
at('case').addEventListener('change', play);
at('policy').addEventListener('change', () => { if (!own()) play(); });
for (const one of document.querySelectorAll('[name=from]')) one.addEventListener('change', turn);
at('sample').addEventListener('click', () => {
	absolve();
	for (const field of FIELDS) at(`own-${field}`).value = SAMPLE[field];
});

const response = await fetch('/demo/cases', { headers });
if (response.ok) {
	cases = await response.json();
	at('case').replaceChildren(...cases.map((one) => new Option(one.title, one.id)));
	const wanted = new URLSearchParams(location.search);
	for (const id of ['case', 'policy', 'speed']) if (wanted.has(id)) at(id).value = wanted.get(id);
	rate();
	if (wanted.get('from') === 'own') document.querySelector('[value=own]').checked = true;
	turn();
} else {
	at('question').textContent = response.status === 401 ? 'Add #token=… to the address' : 'The server does not answer';
}
