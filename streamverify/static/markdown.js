/* Markdown as a tree whose leaves know where they stand in the source, so that sentences, citations and
   doubtful words, which are ranges of the source, can be shown in the rendered text.

   Before: the answer as released. After: answer-view.js, which makes elements of the tree; nothing here knows
   HTML, and a tag in the answer is text. CommonMark with tables and ~~strike~~, less what does not suit an
   answer that is still being written: no reference links (so that `[1]` stays a citation), no indented code.
   Text that is appended changes the last two blocks only. Every step is linear in the text; nesting is bounded.

   block   {kind: paragraph | heading | list | item | quote | code | table | row | cell | rule, from, to, nodes}
   inline  {kind: strong | em | del | code | link, nodes}
   leaf    {kind: text, from, to, text} | {kind: break, from, to} */

const DEPTH = 12, RUN = 6, OPENERS = 64, ADDRESS = 2000;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(=|-)\1{2,}[ \t]*$/;
const FENCE = /^[ \t]*(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
/** An item that may follow a paragraph without a blank line: not an empty one, and no number but 1. */
const INTERRUPTING = /^[ \t]*(?:[-*+]|1[.)])[ \t]+\S/;
const QUOTE = /^ {0,3}>/;
const HALF_WRITTEN = /^[ \t]*(?:[-*+_]{1,3}|\d{1,3}[.)]?|#{1,6}|>|`{1,2}|~{1,2})[ \t]*$/;
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const SAFE = /^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f]*$/i;

/**
 * The blocks of `source` from offset `from` on, which is the start of a line.
 *
 * @param {boolean} open more text will follow: marks that are still to be closed count as closed at the end.
 */
export function parse(source, from = 0, open = false) {
	const lines = [];
	for (let at = from; at < source.length;) {
		const newline = source.indexOf('\n', at), end = newline < 0 ? source.length : newline;
		lines.push({ from: at, to: end > at && source[end - 1] === '\r' ? end - 1 : end });
		at = end + 1;
	}
	return blocks(source, lines, 0, open);
}

/**
 * The blocks of a source that has grown since `known` were read. A last line that is not whole may turn out
 * otherwise than it began, and then belong to the block before; nothing earlier changes.
 */
export function extend(known, source, open) {
	const from = known.at(-2)?.from ?? known.at(-1)?.from ?? 0;
	return [...known.slice(0, -2), ...parse(source, from, open)];
}

/** Whether an address may be followed: the web's or a mail's, never a script's. */
export const isSafe = (address) => SAFE.test(address);

const said = (source, line) => source.slice(line.from, line.to);

function blocks(source, lines, depth, open) {
	const text = lines.map((line) => said(source, line)), found = [];
	if (open && text.length && HALF_WRITTEN.test(text.at(-1))) text.pop();
	const begins = (n) => FENCE.test(text[n]) || HEADING.test(text[n]) || QUOTE.test(text[n]) || RULE.test(text[n]) || ITEM.test(text[n]);
	const interrupts = (n) => begins(n) && !(ITEM.test(text[n]) && !RULE.test(text[n]) && !INTERRUPTING.test(text[n]));
	const add = (kind, n, end, nodes, fields) => found.push({ kind, from: lines[n].from, to: lines[end - 1].to, nodes, ...fields });
	for (let n = 0, end; n < text.length; n = end) {
		end = n + 1;
		const last = () => open && end === text.length;
		let match;
		if (!text[n].trim()) continue;
		if ((match = FENCE.exec(text[n]))) {
			const mark = match[1] ?? match[3], info = match[2] ?? match[4], inner = [];
			const closes = (line) => line.trim().length >= mark.length && line.trim() === mark[0].repeat(line.trim().length);
			while (end < text.length && !closes(text[end])) inner.push(lines[end++]);
			if (end < text.length) end++;
			add('code', n, end, inner.map((line) => leaf(source, line.from, line.to)), { info: info.trim() });
		} else if (RULE.test(text[n])) add('rule', n, end, []);
		else if ((match = HEADING.exec(text[n]))) {
			const level = match[1].length, line = trimmed(source, { from: lines[n].from + match[0].length, to: lines[n].to });
			while (line.to > line.from && source[line.to - 1] === '#') line.to--;
			add('heading', n, end, inline(source, [trimmed(source, line)], last()), { level });
		} else if (depth < DEPTH && QUOTE.test(text[n])) {
			while (end < text.length && text[end].trim() && (QUOTE.test(text[end]) || !interrupts(end))) end++;
			const inner = lines.slice(n, end).map((line, k) => {
				const mark = QUOTE.exec(text[n + k]);
				const after = line.from + (mark ? mark[0].length : 0);
				return { from: mark && source[after] === ' ' && after < line.to ? after + 1 : after, to: line.to };
			});
			add('quote', n, end, blocks(source, inner, depth + 1, last()));
		} else if (depth < DEPTH && ITEM.test(text[n])) {
			end = list(source, lines, text, n, depth, open, begins, found);
		} else if (isTable(text, n, open)) {
			while (end < text.length && text[end].includes('|') && !begins(end)) end++;
			const align = cells(source, lines[n + 1]).map((cell) => alignment(said(source, cell)));
			const rows = lines.slice(n, end).map((line, k) => ({
				kind: 'row', header: k === 0, from: line.from, to: line.to,
				nodes: cells(source, line).map((cell) => ({ kind: 'cell', header: k === 0, ...cell, nodes: inline(source, [cell], last() && n + k === end - 1) })),
			})).filter((_, k) => k !== 1);
			add('table', n, end, rows, { align });
		} else {
			while (end < text.length && text[end].trim() && !UNDERLINE.test(text[end]) && !interrupts(end) && !isTable(text, end, open)) end++;
			const inner = lines.slice(n, end).map((line, k, all) => trimmed(source, line, k < all.length - 1));
			const underline = end < text.length && UNDERLINE.exec(text[end]);
			const nodes = inline(source, inner, !underline && last());
			if (underline) add('heading', n, ++end, nodes, { level: underline[1] === '=' ? 1 : 2 });
			else add('paragraph', n, end, nodes);
		}
	}
	return found;
}

/** Lines of one list, its items' own lists within; the number of the line after it. */
function list(source, lines, text, first, depth, open, begins, found) {
	const kind = (mark) => (/\d/.test(mark) ? mark.at(-1) : mark);
	const mark = ITEM.exec(text[first])[2];
	const items = [];
	let n = first, loose = false;
	while (n < text.length) {
		const match = ITEM.exec(text[n]);
		if (!match || RULE.test(text[n]) || kind(match[2]) !== kind(mark)) break;
		const after = lines[n].from + match[0].length;
		const inner = [{ from: skip(source, after, lines[n].to, 4), to: lines[n].to }];
		const inside = match[0].length + 1;
		let end = n + 1;
		for (let blank = false; end < text.length; end++) {
			if (!text[end].trim()) { blank = true; continue; }
			const deep = width(/^[ \t]*/.exec(text[end])[0]);
			if (deep < width(match[1]) + 2 && (blank || begins(end) || !source.slice(inner.at(-1).from, inner.at(-1).to).trim())) break;
			loose ||= blank;
			blank = false;
			while (inner.length < end - n) inner.push({ from: lines[n + inner.length].from, to: lines[n + inner.length].from });
			inner.push({ from: skip(source, lines[end].from, lines[end].to, inside), to: lines[end].to });
		}
		const next = end;
		const closing = n + inner.length;
		items.push({ kind: 'item', from: lines[n].from, to: lines[closing - 1].to, nodes: blocks(source, inner, depth + 1, open && next === text.length) });
		n = next;
		if (n < text.length && n > closing && ITEM.test(text[n])) loose = true;
	}
	const to = items.at(-1).to, ordered = /\d/.test(mark);
	found.push({ kind: 'list', from: lines[first].from, to, nodes: items, ordered, start: ordered ? parseInt(mark, 10) : 1, loose });
	return n;
}

const width = (blanks) => blanks.replaceAll('\t', '    ').length;

function skip(source, from, to, columns) {
	for (; columns > 0 && from < to && (source[from] === ' ' || source[from] === '\t'); from++) columns -= source[from] === ' ' ? 1 : 4;
	return from;
}

function trimmed(source, { from, to }, keepEnd = false) {
	while (from < to && /\s/.test(source[from])) from++;
	while (!keepEnd && to > from && /\s/.test(source[to - 1])) to--;
	return { from, to };
}

function isTable(text, n, open) {
	if (!text[n].includes('|')) return false;
	const row = text[n].trim();
	// A row that is still to get the line beneath it is shown as what it will most likely be.
	if (n + 1 === text.length) return open && row.startsWith('|') && row.length > 1;
	const under = text[n + 1].trim();
	if (open && n + 2 === text.length && row.startsWith('|') && /^[|:\- \t]+$/.test(under)) return true;
	if (!under.includes('|') || !/^[|:\- \t]+$/.test(under)) return false;
	const marks = under.replace(/^\|/, '').replace(/\|$/, '').split('|');
	return marks.every((one) => /^:?-+:?$/.test(one.trim())) && marks.length === borders(row).length - 1;
}

/** Offsets of the bars that part a row, the outer ones added where they are left out. */
function borders(row) {
	const bars = [];
	for (let at = 0; at < row.length; at++) {
		if (row[at] === '\\') at++;
		else if (row[at] === '|') bars.push(at);
	}
	if (bars[0] !== 0) bars.unshift(-1);
	if (bars.length < 2 || bars.at(-1) !== row.length - 1) bars.push(row.length);
	return bars;
}

function cells(source, line) {
	if (!line) return [];
	const row = trimmed(source, line), bars = borders(said(source, row));
	return bars.slice(1).map((bar, n) => trimmed(source, { from: row.from + bars[n] + 1, to: row.from + bar }));
}

const alignment = (mark) => (!mark.endsWith(':') ? '' : mark.startsWith(':') ? 'center' : 'end');
const leaf = (source, from, to) => ({ kind: 'text', from, to, text: source.slice(from, to) });

/** Inline nodes of a run of lines. */
function inline(source, lines, open) {
	let text = lines.map((line) => said(source, line)).join('\n');
	const at = [];
	for (const { from, to } of lines) for (let k = from; k <= to; k++) at.push(k);
	if (open) text = text.replace(/(?<![*_~`])[*_~`]{1,3}$/, '');
	const { ranges, hidden } = scan(text, open);
	return tree(text, at, ranges, hidden);
}

/** The ranges that are strong, code, a link …, properly nested, and the marks within that are not shown. */
function scan(text, open) {
	const ranges = [], hidden = [], runs = [], brackets = [], ticks = backticks(text);
	for (let i = 0; i < text.length;) {
		const char = text[i];
		let match;
		if (char === '\\' && /[!-/:-@[-`{-~]/.test(text[i + 1] || '')) {
			hidden.push({ from: i, to: i + 1 });
			i += 2;
		} else if (char === '`') {
			let end = i;
			while (text[end] === '`') end++;
			const close = ticks.after(end - i, end);
			if (close !== undefined || open) {
				const to = close ?? text.length;
				ranges.push({ kind: 'code', from: i, to: close === undefined ? to : to + end - i, inner: [end, to] });
				i = ranges.at(-1).to;
			} else i = end;
		} else if (char === '*' || char === '_' || char === '~') {
			let end = i;
			while (text[end] === char) end++;
			if (end - i <= RUN && (char !== '~' || end - i === 2)) runs.push(run(text, char, i, end));
			i = end;
		} else if (char === '[') {
			if (brackets.length < OPENERS) brackets.push({ at: i, image: text[i - 1] === '!', runs: runs.length });
			i++;
		} else if (char === ']' && brackets.length) {
			const opener = brackets.pop(), address = target(text, i + 1, open);
			if (address) {
				pair(runs.splice(opener.runs), ranges, text, false);
				ranges.push({ kind: 'link', from: opener.image ? opener.at - 1 : opener.at, to: address.end, inner: [opener.at + 1, i], href: address.href });
				brackets.length = 0;
				i = address.end;
			} else i++;
		} else if ((char === 'h' || char === '<') && (match = plainAddress(text, i))) {
			ranges.push(match);
			i = match.to;
		} else if (char === '&' && (match = entity(text, i))) {
			hidden.push(match);
			i = match.to;
		} else i++;
	}
	pair(runs, ranges, text, open);
	ranges.sort((a, b) => a.from - b.from || b.to - a.to);
	return { ranges, hidden };
}

/** Where runs of so many backticks stand, asked for from left to right. */
function backticks(text) {
	const places = new Map();
	for (const { 0: run, index } of text.matchAll(/`+/g)) {
		if (!places.has(run.length)) places.set(run.length, { list: [], next: 0 });
		places.get(run.length).list.push(index);
	}
	return { after(length, from) {
		const place = places.get(length);
		if (!place) return undefined;
		while (place.next < place.list.length && place.list[place.next] < from) place.next++;
		return place.list[place.next];
	} };
}

/** A run of `*`, `_` or `~`, and whether it may open or close. */
function run(text, char, from, to) {
	const before = from ? String.fromCodePoint(text.codePointAt(from - 1 - (/[\udc00-\udfff]/.test(text[from - 1]) ? 1 : 0))) : ' ';
	const after = to < text.length ? String.fromCodePoint(text.codePointAt(to)) : ' ';
	const mark = /[\p{P}\p{S}]/u, blank = /\s/;
	const left = !blank.test(after) && (!mark.test(after) || blank.test(before) || mark.test(before));
	const right = !blank.test(before) && (!mark.test(before) || blank.test(after) || mark.test(after));
	const inWord = char === '_';
	return {
		char, from, to, length: to - from,
		opens: left && (!inWord || !right || mark.test(before)), closes: right && (!inWord || !left || mark.test(after)),
		fresh: blank.test(before) || mark.test(before),
	};
}

/** Match closing runs with the nearest opening ones, as CommonMark does. */
function pair(runs, ranges, text, open) {
	const openers = [], floors = new Map();
	const push = (opener, from, to, inner, use) => ranges.push({ kind: opener.char === '~' ? 'del' : use === 2 ? 'strong' : 'em', from, to, inner });
	for (const one of runs) {
		const key = `${one.char}${one.opens}${one.length % 3}`;
		while (one.closes && one.from < one.to) {
			let k = openers.length - 1;
			const floor = floors.get(key) ?? 0;
			const fits = ({ char, closes, length }) => char === one.char && (!(closes || one.opens) || (length + one.length) % 3 !== 0 || (length % 3 === 0 && one.length % 3 === 0));
			while (k >= floor && !fits(openers[k])) k--;
			if (k < floor) { floors.set(key, openers.length); break; }
			const opener = openers[k], use = opener.to - opener.from >= 2 && one.to - one.from >= 2 ? 2 : 1;
			push(opener, opener.to - use, one.from + use, [opener.to, one.from], use);
			opener.to -= use;
			one.from += use;
			openers.length = opener.from < opener.to ? k + 1 : k;
			for (const [name, low] of floors) if (low > openers.length) floors.set(name, openers.length);
		}
		if (one.opens && one.from < one.to && openers.length < OPENERS) openers.push(one);
	}
	if (!open) return;
	for (const one of openers) {
		const use = Math.min(2, one.to - one.from);
		if (one.fresh && one.to < text.length) push(one, one.to - use, text.length, [one.to, text.length], use);
	}
}

/** The address in `(…)` behind a link's text, or null; without `href` while it is still being written. */
function target(text, from, open) {
	if (text[from] !== '(') return null;
	const rest = text.slice(from + 1, from + 1 + ADDRESS);
	const match = /^\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(rest);
	if (match) return { href: match[1] ?? match[2], end: from + 1 + match[0].length };
	return open && rest.length < ADDRESS && /^[^\s)]*$/.test(rest) ? { href: '', end: text.length } : null;
}

function plainAddress(text, from) {
	const part = text.slice(from, from + ADDRESS);
	const framed = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(part);
	if (framed) return { kind: 'link', from, to: from + framed[0].length, inner: [from + 1, from + framed[0].length - 1], href: framed[1] };
	if (!/^https?:\/\//.test(part) || /[\p{L}\p{N}_]/u.test(text[from - 1] || '')) return null;
	let bare = /^[^\s<>"`*\[\]]+/.exec(part)[0];
	while (/[.,;:!?'_~]$/.test(bare) || (bare.endsWith(')') && !bare.includes('('))) bare = bare.slice(0, -1);
	return bare.length < 9 ? null : { kind: 'link', from, to: from + bare.length, inner: [from, from + bare.length], href: bare };
}

function entity(text, from) {
	const match = /^&(?:([a-z]{2,4})|#(\d{1,7})|#x([\da-f]{1,6}));/i.exec(text.slice(from, from + 12));
	if (!match) return null;
	const code = match[2] ? Number(match[2]) : match[3] ? parseInt(match[3], 16) : 0;
	const shown = match[1] ? ENTITIES[match[1]] : code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : null;
	return shown ? { from, to: from + match[0].length, shown } : null;
}

function tree(text, at, ranges, hidden) {
	let next = 0, mark = 0;
	const place = (from, to, shown) => ({ kind: 'text', from: at[from], to: at[to - 1] + 1, text: shown });
	const leaves = (from, to, raw, nodes) => {
		while (mark < hidden.length && hidden[mark].from < from) mark++;
		while (from < to) {
			const stop = !raw && mark < hidden.length && hidden[mark].from < to ? hidden[mark].from : to;
			const newline = text.indexOf('\n', from), end = newline < 0 ? stop : Math.min(newline, stop);
			if (end > from) {
				let close = end;
				while (!raw && end === newline && text[close - 1] === ' ' && close > from) close--;
				const broken = end === newline && !raw && (end - close >= 2 || text[end - 1] === '\\');
				if (broken && text[end - 1] === '\\') close = end - 1;
				if (close > from) nodes.push(place(from, close, text.slice(from, close)));
				if (broken) { nodes.push({ kind: 'break', from: at[end], to: at[end] + 1 }); from = end + 1; continue; }
			}
			if (end === newline && end < stop) {
				nodes.push(place(end, end + 1, ' '));
				from = end + 1;
			} else if (end === stop && stop < to) {
				if (hidden[mark].shown) nodes.push(place(hidden[mark].from, hidden[mark].to, hidden[mark].shown));
				from = hidden[mark++].to;
			} else from = end;
		}
	};
	const build = (from, to) => {
		const nodes = [];
		while (next < ranges.length && ranges[next].from < to) {
			const range = ranges[next++], [start, end] = range.inner;
			leaves(from, range.from, false, nodes);
			const node = { kind: range.kind, nodes: [] };
			if (range.kind === 'code') leaves(start, end, true, node.nodes);
			else node.nodes = build(start, end);
			if (range.kind === 'link') node.href = range.href;
			nodes.push(node);
			from = range.to;
		}
		leaves(from, to, false, nodes);
		return nodes;
	};
	return build(0, text.length);
}
