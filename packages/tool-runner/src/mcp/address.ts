/** Whether an MCP server at this address may be asked: over https, or on this machine. */
export function isMcpAddress(url: URL): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}
