/** The data of each event of a `text/event-stream`. No EventSource: it can't send a header. */
export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let line = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // What is not complete is lost with the connection.
      if (done) return;
      const [end = '', ...next] = value.split('\n');
      line += end;
      for (const start of next) {
        const text = line.replace(/\r$/, '');
        line = start;
        if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''));
        if (text !== '' || data.length === 0) continue;
        yield data.join('\n');
        data = [];
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
