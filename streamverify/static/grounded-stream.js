/* <grounded-stream src="…">: an answer with its verdicts, while it streams, and the evidence beside it.

   follow.js        events over a connection that may break
   answer-view.js   the answer (markdown.js reads it), with badges, citations and replacements
   evidence-panel.js, summary.js, styles.js, make.js */
import { AnswerView } from './answer-view.js';
import { EvidencePanel } from './evidence-panel.js';
import { follow } from './follow.js';
import { make } from './make.js';
import styles from './styles.js';
import { Summary } from './summary.js';

/** Width of the element, in rem, from which the evidence stands beside the answer. */
const WIDE = 52;
/** A drawing that took this long, in milliseconds, is followed by a pause of four times that. */
const LONG = 4;

export class GroundedStream extends HTMLElement {
	static observedAttributes = ['src'];
	#root = this.attachShadow({ mode: 'open' });
	#frame = make('div', 'frame'); #notes = make('div', 'notes'); #status = make('div', 'sr', { role: 'status' });
	#view; #panel = new EvidencePanel(); #summary; #opener;
	#seq; #ended; #abort; #drawing = 0; #cost = 0;
	#size = new ResizeObserver(() => this.#fit());

	constructor() {
		super();
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(styles);
		this.#root.adoptedStyleSheets = [sheet];
		this.#panel.onClose = () => this.close();
		this.#root.addEventListener('keydown', (event) => { if (event.key === 'Escape' && this.#panel.isOpen) this.close(); });
		this.#clear();
	}

	connectedCallback() {
		this.#size.observe(this);
		this.#fit();
		if (this.hasAttribute('src') && !this.#abort) this.start();
	}

	disconnectedCallback() {
		this.#size.disconnect();
		this.stop();
	}

	attributeChangedCallback(_, __, now) { if (now && this.isConnected) this.start(); }

	/** [{id, title, text}], where the server does not send them. */
	set passages(list) { this.#panel.add(list); }

	/** Begin an answer; `options` go to fetch. */
	start(url = this.getAttribute('src'), options = {}) {
		this.stop();
		this.#clear();
		const { signal } = this.#abort = new AbortController();
		this.#view.element.ariaBusy = 'true';
		follow(url, options, signal, (event) => this.feed(event), () => this.#ended).then((failed) => {
			if (failed && !signal.aborted) this.#fail(failed);
		});
	}

	stop() { this.#abort = this.#abort?.abort(); }

	/** Take one event. Kinds it does not know are passed on and nothing else. */
	feed(event) {
		if (event.kind === 'passages') this.#panel.add(event.passages);
		else if (event.seq <= this.#seq) return;
		else this.#seq = event.seq;
		if (event.kind === 'text_released') this.#view.release(event);
		else if (event.kind === 'sentence_closed') this.#view.close(event.sentence);
		else if (event.kind === 'sentence_judged' || event.kind === 'sentence_revised') this.#judge(event);
		else if (event.report) this.#end(event);
		this.#drawSoon();
		this.dispatchEvent(new CustomEvent('streamverify', { detail: event, bubbles: true }));
	}

	/** Close the evidence and give the focus back. */
	close() {
		if (!this.#panel.isOpen) return;
		const inside = this.#root.activeElement;
		this.#panel.hide();
		this.#panel.element.style.paddingTop = this.#frame.style.paddingBottom = '';
		this.#view.choose();
		const opener = this.#again();
		if (opener) {
			opener.ariaExpanded = 'false';
			if (inside) opener.focus({ preventScroll: true });
		}
		this.#opener = null;
	}

	#clear() {
		clearTimeout(this.#drawing);
		this.#drawing = 0;
		this.#seq = -1;
		this.#ended = false;
		this.#opener = null;
		this.#view = new AnswerView();
		this.#summary = new Summary();
		this.#panel.clear();
		this.#view.onOpen = (...asked) => this.#open(...asked);
		this.#notes.replaceChildren();
		this.#status.textContent = '';
		this.#frame.style.paddingBottom = this.#panel.element.style.paddingTop = '';
		this.#frame.replaceChildren(make('div', 'column', {}, this.#view.element, this.#notes), this.#panel.element);
		this.#root.replaceChildren(this.#summary.element, this.#frame, this.#status);
		this.#fit();
	}

	#fit() {
		const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
		for (const part of [this.#frame, this.#summary.element]) part.classList.toggle('wide', this.clientWidth >= WIDE * rem);
		if (this.#panel.isOpen) this.#settle();
	}

	#drawSoon() {
		if (this.#drawing || this.#ended) return;
		this.#drawing = setTimeout(() => this.#draw(), this.#cost > LONG ? 4 * this.#cost : 0);
	}

	#draw() {
		const began = performance.now();
		clearTimeout(this.#drawing);
		this.#drawing = 0;
		this.#view.draw();
		const told = this.#summary.update(this.#view.sentences);
		this.#cost = performance.now() - began;
		return told;
	}

	#judge(verdict) {
		const changed = this.#view.judge(verdict, verdict.kind === 'sentence_revised');
		const sentence = this.#view.sentences[verdict.index];
		if (changed || verdict.label === 'contradicted') this.#status.textContent = sentence.badge.ariaLabel;
		if (this.#opener?.sentence === sentence) this.#fill();
		// A revision may come behind the last event.
		if (this.#ended) this.#draw();
	}

	#open(opener, sentence, cite) {
		const same = this.#opener && this.#again() === opener;
		this.close();
		if (same) return;
		this.#opener = { sentence, cite };
		opener.ariaExpanded = 'true';
		this.#view.choose(sentence);
		this.#fill();
		this.#settle();
		this.#panel.body.focus({ preventScroll: true });
	}

	#fill() {
		const { sentence, cite } = this.#opener;
		this.#panel.show(sentence, this.#view.textOf(sentence), cite);
	}

	/** The button that opened the evidence; it may have been drawn again since. */
	#again() {
		if (!this.#opener) return null;
		const { sentence, cite } = this.#opener;
		const n = cite ? sentence.verdict.citations.indexOf(cite) : -1;
		return (n >= 0 && this.#view.element.querySelector(`.cite[data-of="${sentence.index}"][data-cite="${n}"]`)) || sentence.badge;
	}

	/** Put the evidence level with its sentence, or the sentence above the sheet. */
	#settle() {
		const { style } = this.#panel.element, opener = this.#again(), [part = opener] = this.#view.partsOf(this.#opener.sentence);
		style.paddingTop = this.#frame.style.paddingBottom = '';
		const height = this.#panel.body.offsetHeight;
		if (this.#frame.classList.contains('wide')) {
			const frame = this.#frame.getBoundingClientRect(), wanted = part.getBoundingClientRect().top - frame.top - 4;
			style.paddingTop = `${Math.max(0, Math.min(wanted, frame.height - height))}px`;
			this.#panel.body.scrollIntoView({ block: 'nearest' });
		} else {
			this.#frame.style.paddingBottom = `${height + 16}px`;
			for (const node of [opener, part]) {
				node.style.scrollMarginBottom = `${height + 24}px`;
				node.style.scrollMarginTop = '8px';
				node.scrollIntoView({ block: 'nearest' });
			}
		}
	}

	#end({ report, error }) {
		this.#summary.end(report);
		this.#finish((told) => `Complete: ${told}`);
		if (report.outcome !== 'finished') this.#note(error ? `Failed: ${error}` : `Stopped: ${report.error}`);
	}

	#fail({ message, error, status }) {
		this.#finish(() => message);
		this.#note(`The answer is not complete: ${message}`);
		this.dispatchEvent(Object.assign(new CustomEvent('streamverify-error', { detail: message, bubbles: true }), { error, status }));
	}

	#finish(tell) {
		this.#ended = true;
		this.#view.element.ariaBusy = 'false';
		this.#view.finish();
		this.#status.textContent = tell(this.#draw());
	}

	#note(text) { this.#notes.append(make('p', 'note', {}, text)); }
}

if (!customElements.get('grounded-stream')) customElements.define('grounded-stream', GroundedStream);
