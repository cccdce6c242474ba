export { MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH } from './registry/arguments.ts';
export { defineTool } from './registry/define-tool.ts';
export type { ToolSpecification } from './registry/define-tool.ts';
export { createAllowList } from './command/allow-patterns.ts';
export type { AllowList } from './command/allow-patterns.ts';
export { commandEnvironment } from './command/environment.ts';
export { createRunCommandTool } from './command/run-command.ts';
export type { CommandGuard, RunCommandOptions } from './command/run-command.ts';
export { findSandbox, secretPlaces } from './command/sandbox.ts';
export type { Sandbox, SandboxScope } from './command/sandbox.ts';
export { isMcpAddress } from './mcp/address.ts';
export { createLazyTraverser } from './outputs/lazy-traverser.ts';
export type { StoredDocument, Traverser } from './outputs/traverser.ts';
export type {
  AskContext,
  OutputAnswer,
  OutputOperationName,
  OutputOptions,
} from './outputs/output-operations.ts';
export { askOutputs, createOutputTools } from './outputs/output-tools.ts';
export type { OutputKeeper } from './outputs/large-results.ts';
export { createToolRegistry } from './registry/tool-registry.ts';
export type { Approval, ApprovalRequest, ToolRegistryOptions } from './registry/tool-registry.ts';
export { fileMap } from './tools/file-map.ts';
export type { FileMap, FileMapLimits } from './tools/file-map.ts';
export { createCodeDefinitionsTool } from './tools/list-code-definition-names.ts';
export { createListFilesTool } from './tools/list-files.ts';
export { createSearchFilesTool } from './tools/search-files.ts';
export { READ_FILE_MAX_BYTES, READ_FILE_MAX_LINES, createReadFileTool } from './tools/read-file.ts';
