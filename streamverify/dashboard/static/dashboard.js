/* The dashboard's only script: fetches what the server has rendered, keeps it fresh, and takes keys on the review page. */

const by = (id) => document.getElementById(id);
const main = by('main');
const KEY = 'streamverify-token', NAME = 'streamverify-name', EVERY = 2500, LIVELY = 700;
let pulse, shown = '', name = null, chain = Promise.resolve();

if (location.hash.length > 16) {
	localStorage.setItem(KEY, location.hash.slice(1));
	history.replaceState(null, '', location.pathname + location.search);
}

class Refused extends Error {
	constructor(status, message) { super(message); this.status = status; }
}
const ask = async (path, body) => {
	const headers = { 'X-Streamverify-Token': localStorage.getItem(KEY) ?? '', ...(body && { 'Content-Type': 'application/json' }) };
	const response = await fetch(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
	if (response.ok) return response;
	const told = await response.json().catch(() => ({}));
	throw new Refused(response.status, told.error?.message ?? response.statusText);
};

/* Times are written in the reader's own zone; the server only knows UTC. */
const AGO = [[60, 'second', 1], [3600, 'minute', 60], [86400, 'hour', 3600], [Infinity, 'day', 86400]];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const times = (within) => {
	const now = Date.now();
	for (const node of within.querySelectorAll('time')) {
		const at = new Date(node.dateTime), seconds = Math.max(0, (now - at) / 1000);
		const [, unit, size] = AGO.find(([below]) => seconds < below);
		const text = node.dataset.form === 'whole' || seconds > 86400 * 6 ? at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) : relative.format(-Math.floor(seconds / size), unit);
		if (node.textContent !== text) node.textContent = text;
		if (!node.title) node.title = at.toLocaleString();
	}
	const columns = within.querySelectorAll('svg [data-time]');
	const days = columns.length > 1 && new Date(columns[1].dataset.time) - new Date(columns[0].dataset.time) > 72e6;
	for (const node of columns) {
		const at = new Date(node.dataset.time);
		node.textContent = days ? at.toLocaleDateString([], { day: 'numeric', month: 'short' }) : at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
	}
};

const problem = (error) => {
	by('problem').hidden = !error;
	by('problem').textContent = error ? `Not done: ${error.message}` : '';
};
const state = (word) => {
	by('live').dataset.state = word;
	by('live').textContent = { live: 'live', waiting: 'connecting', lost: 'no answer, trying again', paused: 'paused' }[word];
};
const refused = (error) => {
	if (error.status === 401) {
		by('enter').hidden = false;
		by('leave').hidden = true;
		main.replaceChildren();
		shown = '';
		state('paused');
		by('token').focus();
	} else problem(error);
};

/* Only parts that changed are replaced, so that a reader's place, focus and open details stay. */
const kept = new Map();
const show = (html, fresh) => {
	const page = new DOMParser().parseFromString(html, 'text/html').querySelector('.page');
	const parts = [...page.querySelectorAll('[data-part]')], ids = parts.map((part) => part.dataset.part);
	const old = [...main.querySelectorAll('[data-part]')].map((part) => part.dataset.part);
	const raw = new Map(parts.map((part) => [part.dataset.part, part.outerHTML]));
	if (fresh || ids.join() !== old.join()) {
		main.replaceChildren(document.adoptNode(page));
		times(main);
	} else {
		for (const part of parts) {
			const id = part.dataset.part;
			if (kept.get(id) === raw.get(id)) continue;
			const before = main.querySelector(`[data-part="${id}"]`);
			const open = [...before.querySelectorAll('details[open][id]')].map((one) => one.id);
			const rows = new Set([...before.querySelectorAll('[data-key]')].map((one) => one.dataset.key));
			const focus = before.contains(document.activeElement) ? document.activeElement.id || document.activeElement.getAttribute('href') : null;
			document.adoptNode(part);
			before.replaceWith(part);
			for (const one of open) by(one)?.setAttribute('open', '');
			if (rows.size) for (const one of part.querySelectorAll('[data-key]')) if (!rows.has(one.dataset.key)) one.classList.add('new');
			if (focus) (by(focus) ?? part.querySelector(`[href="${CSS.escape(focus)}"]`))?.focus({ preventScroll: true });
			times(part);
		}
	}
	kept.clear();
	for (const [id, text] of raw) kept.set(id, text);
	document.title = `${main.querySelector('.page').dataset.title} · streamverify`;
	const path = location.pathname;
	for (const link of document.querySelectorAll('.top nav a')) {
		const own = link.getAttribute('href');
		if (own === '/' ? path === '/' : path.startsWith(own)) {
			if (!link.hasAttribute('aria-current')) link.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a phone the row of pages is longer than the screen
			link.setAttribute('aria-current', 'page');
		}
		else link.removeAttribute('aria-current');
	}
};

const load = async (fresh = true) => {
	const url = location.pathname + location.search;
	const response = await ask(`/view${url}`);
	const html = await response.text();
	if (url !== location.pathname + location.search) return; // the reader has gone on meanwhile
	by('enter').hidden = true;
	by('leave').hidden = false;
	show(html, fresh || shown !== url);
	if (shown !== url) { if (shown) { scrollTo(0, 0); by('said').textContent = document.title; } shown = url; review.begin(); }
};
/* One after the other: a judgment is stored before the next key is heard. */
const then = (step) => (chain = chain.then(async () => { await step(); problem(null); }).catch(refused));
const go = (href) => then(async () => { history.pushState(null, '', href); main.setAttribute('aria-busy', 'true'); try { await load(); } finally { main.removeAttribute('aria-busy'); } });

/* Sentences that wait for people, by keys. */
const review = {
	get items() { return [...main.querySelectorAll('.queue > li')]; },
	get at() { return this.items.findIndex((one) => one.hasAttribute('aria-current')); },
	begin() { if (this.items.length && this.at < 0) this.choose(0); by('by') && (by('by').value = name ?? localStorage.getItem(NAME) ?? ''); },
	choose(place) {
		const { items } = this, chosen = items[Math.min(Math.max(place, 0), items.length - 1)];
		if (!chosen) return;
		for (const one of items) one.removeAttribute('aria-current');
		chosen.setAttribute('aria-current', 'true');
		chosen.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
		by('said').textContent = `${this.at + 1} of ${items.length}: ${chosen.querySelector('.claim').textContent}`;
	},
	say(opinion, item = this.items[this.at]) {
		if (!item) return;
		const who = name ?? (by('by') ?? { value: localStorage.getItem(NAME) ?? '' }).value.trim();
		if (!who) { by('by')?.focus(); problem(new Error(`say who you are first${by('by') ? '' : ', on the review page'}`)); return; }
		localStorage.setItem(NAME, who);
		const note = item.querySelector('textarea')?.value ?? '';
		const place = this.items.indexOf(item);
		if (place >= 0) this.choose(place + 1);
		then(async () => {
			await ask('/api/judgment', { stream: item.dataset.stream, sentence: Number(item.dataset.sentence), opinion, by: who, note });
			item.dataset.opinion = opinion;
			item.querySelector('.said').textContent = opinion === 'correct' ? 'correct' : 'not correct';
			if (place < 0) { await load(false); return; }
			const done = this.items.filter((one) => one.dataset.opinion).length;
			by('done').textContent = `${done} of ${this.items.length} judged`;
			by('progress').value = done;
		});
	},
};
const KEYS = {
	j: () => review.choose(review.at + 1), k: () => review.choose(review.at - 1),
	ArrowDown: () => review.choose(review.at + 1), ArrowUp: () => review.choose(review.at - 1),
	c: () => review.say('correct'), n: () => review.say('incorrect'),
	e: () => review.items[review.at]?.querySelector('textarea').focus(),
	o: () => go(review.items[review.at]?.querySelector('a').getAttribute('href')),
	r: () => then(() => load()),
};

document.addEventListener('click', (event) => {
	const button = event.target.closest('button[data-opinion]');
	if (button) { review.say(button.dataset.opinion, button.closest('[data-stream]')); return; }
	const item = event.target.closest('.queue > li');
	if (item && !event.target.closest('a, button, textarea')) { review.choose(review.items.indexOf(item)); return; }
	const link = event.target.closest('a[href^="/"]');
	if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
	event.preventDefault();
	go(link.getAttribute('href'));
});
document.addEventListener('change', (event) => {
	const select = event.target.closest('select[data-go]');
	if (select) go(select.value);
});
document.addEventListener('keydown', (event) => {
	if (!review.items.length || event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.target.closest('textarea, input, select')) {
		if (event.key === 'Escape' || (event.key === 'Enter' && !event.shiftKey)) { event.preventDefault(); event.target.blur(); }
		return;
	}
	const act = KEYS[event.key];
	if (act) { event.preventDefault(); act(); }
});
by('leave').addEventListener('click', () => { localStorage.removeItem(KEY); localStorage.removeItem(NAME); location.assign('/'); });
by('enter').addEventListener('submit', (event) => {
	event.preventDefault();
	localStorage.setItem(KEY, by('token').value.trim());
	by('token').value = '';
	then(load);
});
addEventListener('popstate', () => then(() => load()));

/* A word that changes when something was recorded or judged; the page is fetched again only then, and asked for more often while answers run. */
const beat = async () => {
	let every = EVERY;
	if (!document.hidden && shown) {
		try {
			const told = await (await ask('/api/pulse')).json();
			name = told.name;
			if (told.lively && main.querySelector('.page[data-live]')) every = LIVELY;
			if (name && by('by')) { by('by').value = name; by('by').readOnly = true; }
			if (pulse !== undefined && told.pulse !== pulse && main.querySelector('.page[data-live]')) await load(false);
			pulse = told.pulse;
			state('live');
		} catch (error) {
			if (error instanceof Refused) refused(error); else state('lost');
		}
		times(main);
	}
	setTimeout(beat, every);
};
then(load).then(beat);
