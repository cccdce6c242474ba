// The yardstick: sends the same requests, reads the answers and throws them away. Nothing that reads the stream
// with Node can cost less; `fetch` costs more.
const { readFileSync } = require('node:fs');
const { Agent, request } = require('node:http');

const [url, file] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const bodies = JSON.parse(readFileSync(file, 'utf8'));
let bytes = 0;

function post(index) {
  if (index === bodies.length) {
    agent.destroy();
    process.stdout.write(String(bytes));
    return;
  }
  const outgoing = request(`${url}/chat/completions`, {
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(bodies[index]),
    },
  });
  outgoing.on('response', (response) => {
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    response.on('data', (chunk) => {
      bytes += chunk.length;
    });
    response.on('end', () => post(index + 1));
  });
  outgoing.end(bodies[index]);
}

post(0);
