import type { StoredToolOutput, ToolOutputRecord, ToolOutputStore } from '@orion/contracts';

/** Outputs in memory, as put. */
export function createMemoryOutputs(): ToolOutputStore & {
  readonly records: Map<string, ToolOutputRecord>;
} {
  const records = new Map<string, ToolOutputRecord>();
  const known = ({ parameters: _, output, ...fields }: ToolOutputRecord): StoredToolOutput => ({
    ...fields,
    bytes: Buffer.byteLength(output),
    characters: [...output].length,
    cut: false,
    preview: [...output].slice(0, 500).join(''),
  });
  return {
    records,
    async put(record) {
      records.set(record.id, record);
      return known(record);
    },
    async find(id) {
      const record = records.get(id);
      return record === undefined ? null : known(record);
    },
    async read(id) {
      const record = records.get(id);
      if (record === undefined) return null;
      return { parameters: JSON.stringify(record.parameters), output: record.output };
    },
    async list(filter) {
      const outputs = [...records.values()]
        .filter(
          (record) =>
            [undefined, record.project_id].includes(filter.project_id) &&
            [undefined, record.conversation_id].includes(filter.conversation_id) &&
            [undefined, record.tool_name].includes(filter.tool_name) &&
            record.created_at > (filter.after ?? -Infinity) &&
            record.created_at < (filter.before ?? Infinity),
        )
        .map(known)
        .toSorted((one, other) => other.created_at - one.created_at);
      if (filter.order === 'oldest') outputs.reverse();
      const { offset = 0, limit = 20 } = filter;
      return {
        outputs: outputs.slice(offset, offset + limit),
        total: outputs.length,
        damaged: 0,
      };
    },
  };
}
