/**
 * Whether an MCP server at this address may be asked: over https, or on this machine; over plain http on another one
 * only if the user allows it.
 */
export function isMcpAddress(url: URL, allowPlainHttp = false): boolean {
  if (url.protocol === 'https:') return true;
  if (url.protocol !== 'http:') return false;
  return allowPlainHttp || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}
