/* Elements, built and filled as text: nothing in these modules ever parses markup. */

export const WORDS = {
	pending: 'checking', supported: 'supported', contradicted: 'contradicted',
	unsupported: 'not in sources', unverified: 'not checked', no_claim: 'no claim',
};

const SHAPES = {
	pending: 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13',
	supported: 'M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14M4.7 8.3l2.3 2.3l4.3-4.8',
	contradicted: 'M5 1h6l4 4v6l-4 4H5l-4-4V5zM5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2',
	unsupported: 'M8 1.2L15.4 14.6H.6zM8 6v4M8 12v.6',
	unverified: 'M2 2h12v12H2zM5 8h6',
	no_claim: '',
};

export const LABELS = Object.keys(SHAPES);

/** An element with properties (`ariaLabel`, `tabIndex`, …) and children. */
export const make = (tag, className = '', fields = {}, ...nodes) => {
	const node = document.createElement(tag);
	if (className) node.className = className;
	Object.assign(node, fields).append(...nodes);
	return node;
};

/** The sign of a label; each has a shape of its own. */
export const shape = (label) => {
	const space = 'http://www.w3.org/2000/svg';
	const svg = document.createElementNS(space, 'svg'), path = document.createElementNS(space, 'path');
	svg.setAttribute('viewBox', '0 0 16 16');
	svg.ariaHidden = 'true';
	path.setAttribute('d', SHAPES[label] || '');
	svg.append(path);
	return svg;
};

export const percent = (share) => `${Math.round(share * 100)} %`;

/** UTF-16 index of code point `count`, at most the text's length: offsets on the wire count code points. */
export const cut = (text, count) => {
	let at = 0;
	for (; count > 0 && at < text.length; count--) at += text.codePointAt(at) > 0xffff ? 2 : 1;
	return at;
};
