export { createMcpClient } from './mcp-client.ts';
export type { McpClient, McpClientOptions, OfferedTools, ServerReport } from './mcp-client.ts';
export type { ConnectionOptions } from './connection.ts';
export type { HttpServer, McpLimits, McpServer, StdioServer } from './server.ts';
