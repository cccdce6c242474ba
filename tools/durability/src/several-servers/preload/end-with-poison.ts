/**
 * Imported by servers before their own code: a process ends when a request to the provider has this text in it, and
 * notes it before.
 */
import { appendFileSync } from 'node:fs';
import { ClientRequest } from 'node:http';

const { ORION_POISON: poison = '', ORION_DEATHS: deaths = '' } = process.env;

const original = Object.getPrototypeOf(ClientRequest.prototype) as Pick<ClientRequest, 'end'>;
ClientRequest.prototype.end = function (this: ClientRequest, ...args: unknown[]): ClientRequest {
  const [body] = args;
  if (body instanceof Uint8Array && Buffer.from(body).includes(poison)) {
    appendFileSync(deaths, `${process.pid}\n`);
    process.kill(process.pid, 'SIGKILL');
  }
  return Reflect.apply(original.end, this, args) as ClientRequest;
};
