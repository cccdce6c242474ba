/** The one session tool that a model sees. */
export const BEGIN_TOOL_NAME = 'WritePlanTool_begin';

/** The line that ends a file's content. */
export const DONE_MARKER = 'DONE';
