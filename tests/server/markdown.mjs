// Answers one JSON line with one: the tree of a text, read at once or as it would arrive.
import { createInterface } from 'node:readline';

const { extend, isSafe, parse } = await import(process.argv[2]);

const arriving = (pieces) => {
	let source = '', blocks = [];
	for (const piece of pieces) {
		source += piece;
		blocks = extend(blocks, source, true);
	}
	return extend(blocks, source, false);
};

for await (const line of createInterface({ input: process.stdin })) {
	const { text, pieces, open = false, address, brief = false } = JSON.parse(line);
	const found = address !== undefined ? isSafe(address) : pieces ? arriving(pieces) : parse(text, 0, open);
	console.log(JSON.stringify(brief ? found.length : found));
}
