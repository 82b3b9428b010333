// Reads a UI message stream with whatever major of `ai` is installed beside it; prints the message's parts.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, url] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { DefaultChatTransport, readUIMessageStream } = await import(pathToFileURL(require.resolve('ai')).href);
const stream = await new DefaultChatTransport({ api: url }).sendMessages({
  chatId: 'c', messages: [], trigger: 'submit-message', messageId: undefined, abortSignal: undefined,
});
let message;
const errors = [];
for await (const next of readUIMessageStream({ stream, onError: (error) => errors.push(String(error.message ?? error)) })) message = next;
console.log(JSON.stringify({ parts: message?.parts ?? [], metadata: message?.metadata ?? null, errors }));
