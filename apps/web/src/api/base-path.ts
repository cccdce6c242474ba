/**
 * What precedes every path of the page and of the server's routes, as a proxy has it: empty, or such as `/orion`. Found
 * by where the page's own parts come from.
 */
export const BASE_PATH: string = new URL('..', import.meta.url).pathname.replace(/\/$/u, '');
