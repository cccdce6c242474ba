/** Clients of a server on this machine that send exactly what they are told to. */
export { askServer, codeOf } from './ask-server.ts';
export type { HttpAnswer, HttpQuestion } from './ask-server.ts';
export { openSocket, readToEnd, sendBytes } from './raw-socket.ts';
