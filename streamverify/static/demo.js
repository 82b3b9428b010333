/* The demo page: choose a case, a policy and a speed; the element does the rest. */
import './grounded-stream.js';

const at = (id) => document.getElementById(id);
const answer = at('answer');
// After '#', so that a server's log never holds it.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const headers = token ? { 'x-streamverify-token': token } : {};
let cases = [];

const play = () => {
  const chosen = cases.find((one) => one.id === at('case').value);
  at('question').textContent = chosen.question;
  at('passages').replaceChildren();
  const asked = new URLSearchParams({ case: chosen.id, policy: at('policy').value, speed: at('speed').value });
  answer.start(`/demo/stream?${asked}`, { headers });
};

answer.addEventListener('streamverify', ({ detail }) => {
  if (detail.kind !== 'passages') return;
  at('passages').replaceChildren(...detail.passages.map((passage) => {
    const article = document.createElement('article');
    const title = document.createElement('h3');
    title.textContent = passage.title || passage.id;
    article.append(title, passage.text);
    return article;
  }));
});

at('speed').addEventListener('input', () => { at('rate').value = `${at('speed').value} tokens/s`; });
at('controls').addEventListener('submit', (event) => { event.preventDefault(); play(); });
for (const id of ['case', 'policy']) at(id).addEventListener('change', play);

const response = await fetch('/demo/cases', { headers });
if (response.ok) {
  cases = await response.json();
  at('case').replaceChildren(...cases.map((one) => new Option(`${one.title} (${one.domain})`, one.id)));
  const wanted = new URLSearchParams(location.search);
  for (const id of ['case', 'policy', 'speed']) if (wanted.has(id)) at(id).value = wanted.get(id);
  at('rate').value = `${at('speed').value} tokens/s`;
  play();
} else {
  at('question').textContent = response.status === 401 ? 'Add #token=… to the address' : 'The server does not answer';
}
