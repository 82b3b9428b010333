
/* Filter and order the cases; without this file the page shows all of them, failing first. */
(() => {
	const form = document.querySelector('.tools'), list = document.querySelector('.list');
	const output = form.querySelector('output'), empty = document.querySelector('.empty');
	const cases = [...list.children];
	const texts = new Map();
	const rank = new Map(cases.map((one, n) => [one, n]));
	const worst = new Map();

	const textOf = (one) => {
		if (!texts.has(one)) texts.set(one, one.textContent.toLowerCase());
		return texts.get(one);
	};
	const keysOf = (one) => {
		if (!worst.has(one)) worst.set(one, one.dataset.keys.split(' ').map((key) => (key === '-' ? -Infinity : Number(key))));
		return worst.get(one);
	};
	const value = (name) => form.elements[name]?.value ?? '';
	const fits = (one, find) => {
		const states = one.dataset.state.split(' '), state = value('state');
		return (!state || (state === 'bad' ? states[0] !== 'passed' : states.includes(state)))
			&& (!value('label') || one.dataset.labels.split(' ').includes(value('label')))
			&& (!value('category') || one.dataset.category === value('category'))
			&& (!find || textOf(one).includes(find));
	};
	const filter = () => {
		const find = value('find').trim().toLowerCase();
		let shown = 0;
		for (const one of cases) {
			one.hidden = !fits(one, find);
			if (!one.hidden) shown++;
		}
		const all = cases.length.toLocaleString('en'), some = shown.toLocaleString('en');
		output.textContent = shown === cases.length ? `${all} cases` : `${some} of ${all} cases`;
		empty.hidden = shown > 0;
	};
	const order = () => {
		const by = value('order');
		const compare = by === 'failing' ? (a, b) => rank.get(a) - rank.get(b)
			: by === 'number' ? (a, b) => a.dataset.n - b.dataset.n
				: (a, b) => (keysOf(a)[by] === keysOf(b)[by] ? rank.get(a) - rank.get(b) : keysOf(b)[by] - keysOf(a)[by]);
		list.append(...[...cases].sort(compare));
	};
	let waiting;
	form.addEventListener('input', ({ target }) => {
		if (target.name === 'order') order();
		else if (target.name === 'find') { clearTimeout(waiting); waiting = setTimeout(filter, 120); }
		else filter();
	});
	form.addEventListener('submit', (event) => event.preventDefault());

	/* j and k go from case to case, / to the search. */
	document.addEventListener('keydown', (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select')) return;
		if (event.key === '/') { event.preventDefault(); form.elements.find.focus(); }
		if (event.key !== 'j' && event.key !== 'k') return;
		const shown = [...list.children].filter((one) => !one.hidden);
		const at = shown.indexOf(document.activeElement?.closest('.case'));
		const next = shown[event.key === 'j' ? at + 1 : Math.max(at - 1, 0)];
		next?.firstElementChild.focus();
		next?.scrollIntoView({ block: 'nearest' });
	});
	/* A link to a case opens it, also one that a filter hides; without this file the browser opens what holds the target. */
	const follow = () => {
		const one = /^#(case|in)-/.test(location.hash) && document.getElementById(location.hash.slice(1))?.closest('.case');
		if (one) { one.hidden = false; one.open = true; one.scrollIntoView(); }
	};
	addEventListener('hashchange', follow);
	document.addEventListener('click', (event) => {
		const link = event.target.closest('a[href^="#"]');
		if (!link) return;
		if (link.dataset.order) { form.elements.order.value = link.dataset.order; order(); }
		if (link.hash === location.hash) follow();
	});
	form.hidden = false;
	filter();
	follow();
})();
