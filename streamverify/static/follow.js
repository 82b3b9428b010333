/* The events of one answer, over a connection that may break and is then taken up where it broke. */

const TRIES = 6;

/**
 * Read server-sent events and hand each one's JSON to `take`.
 *
 * @param {() => boolean} ended whether the last event has come.
 * @returns {Promise<{message: string, error?: object} | null>} what went wrong; null when the answer ended or
 *   `signal` did it.
 */
export async function follow(url, options, signal, take, ended) {
	let lastId = '';
	for (let tries = 0; ; tries++) {
		try {
			const headers = { Accept: 'text/event-stream', ...options.headers };
			if (lastId) headers['Last-Event-ID'] = lastId;
			const response = await fetch(url, { ...options, headers, signal });
			if (!response.ok) {
				const { error } = await response.json().catch(() => ({}));
				return { message: error?.message || `HTTP ${response.status}`, error, status: response.status };
			}
			let data = '', id = '', rest = '';
			const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
			for (let part; !(part = await reader.read()).done; tries = 0) {
				const lines = (rest + part.value).split(/\r\n|\n|\r(?!$)/);
				rest = lines.pop();
				for (const line of lines) {
					if (line.startsWith('data:')) data += line.slice(5);
					else if (line.startsWith('id:')) id = line.slice(3).trim();
					else if (!line && data) {
						take(JSON.parse(data));
						lastId = id || lastId;
						data = id = '';
					}
				}
			}
		} catch (error) {
			if (error instanceof SyntaxError) return { message: 'unreadable event' };
			if (!(error instanceof TypeError || signal.aborted)) throw error;
		}
		if (ended() || signal.aborted) return null;
		if (tries >= TRIES || (!lastId && options.body)) return { message: 'connection lost' };
		await new Promise((resolve) => { setTimeout(resolve, 250 * 2 ** tries); });
		if (signal.aborted) return null;
	}
}
