/** The tools that PLAN mode may use, by their exact names: a name that only begins like one of them is another tool. */
export const PLAN_MODE_TOOLS: ReadonlySet<string> = new Set([
  'read_file',
  'list_files',
  'search_files',
  'list_code_definition_names',
  'FileSystemTool_read_file',
  'FileSystemTool_list_files',
  'FileSystemTool_search_files',
  'DatabaseTool_get_subtask_full_context',
  'DatabaseTool_list_subtasks_by_status',
  'DatabaseTool_search_subtasks',
  'tool_outputs.list',
  'tool_outputs.stats',
  'tool_outputs.extract',
  'tool_outputs.count',
  'tool_outputs.sample',
  'tool_outputs.read',
]);

export function isPlanModeTool(name: string): boolean {
  return PLAN_MODE_TOOLS.has(name);
}
