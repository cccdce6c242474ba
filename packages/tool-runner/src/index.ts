export { MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH } from './registry/arguments.ts';
export { defineTool } from './registry/define-tool.ts';
export type { ToolSpecification } from './registry/define-tool.ts';
export { createToolRegistry } from './registry/tool-registry.ts';
export type { Approval, ApprovalRequest, ToolRegistryOptions } from './registry/tool-registry.ts';
export { READ_FILE_MAX_BYTES, READ_FILE_MAX_LINES, createReadFileTool } from './tools/read-file.ts';
