/**
 * Finds where a run of lines occurs in the end of the content: a suffix automaton over lines instead of letters.
 *
 * For a reply that is read line by line it answers, in constant time for each line and without going back: do the lines
 * so far occur in the content, do they reach its last line, and could they also be an earlier part of it? So every
 * alignment is found and none is guessed, and content of 128 Ki equal lines costs no more than any other.
 */
export type LineAutomaton = {
  /** A number for each distinct line, without trailing blanks. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly edges: EdgeTable;
  /** 1 for each state whose run reaches the last line. */
  readonly terminal: Uint8Array;
};

/** The state before the first line. */
export const START_STATE = 0;

export function buildLineAutomaton(lines: readonly string[]): LineAutomaton {
  const numbers = new Map<string, number>();
  const most = 2 * lines.length + 1;
  const length = new Int32Array(most);
  const link = new Int32Array(most).fill(-1);
  const edges = createEdgeTable(3 * lines.length + 1, most);
  let states = 1;
  let last = START_STATE;

  for (const line of lines) {
    let number = numbers.get(line);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(line, number);
    }
    const current = states;
    states += 1;
    length[current] = (length[last] ?? 0) + 1;
    let state = last;
    while (state !== -1 && findEdge(edges, state, number) === -1) {
      addEdge(edges, state, number, current);
      state = link[state] ?? -1;
    }
    if (state === -1) link[current] = START_STATE;
    else {
      const target = edges.targets[findEdge(edges, state, number)] ?? 0;
      if (length[target] === (length[state] ?? 0) + 1) link[current] = target;
      else {
        const copy = states;
        states += 1;
        length[copy] = (length[state] ?? 0) + 1;
        link[copy] = link[target] ?? -1;
        copyEdges(edges, target, copy);
        while (state !== -1) {
          const edge = findEdge(edges, state, number);
          if (edge === -1 || edges.targets[edge] !== target) break;
          edges.targets[edge] = copy;
          state = link[state] ?? -1;
        }
        link[target] = copy;
        link[current] = copy;
      }
    }
    last = current;
  }

  const terminal = new Uint8Array(states);
  for (let state = last; state !== -1; state = link[state] ?? -1) terminal[state] = 1;
  return { numbers, edges, terminal };
}

/** The state after one more line, or null if the run does not occur. */
export function nextState(automaton: LineAutomaton, state: number, line: string): number | null {
  const number = automaton.numbers.get(line);
  if (number === undefined) return null;
  const edge = findEdge(automaton.edges, state, number);
  return edge === -1 ? null : (automaton.edges.targets[edge] ?? null);
}

/** Whether the run can end at the content's last line. */
export function reachesEnd(automaton: LineAutomaton, state: number): boolean {
  return automaton.terminal[state] === 1;
}

/** Whether the run also occurs before the end, so that more of the content may follow. */
export function mayContinue(automaton: LineAutomaton, state: number): boolean {
  return automaton.edges.firstOf[state] !== -1;
}

/** All edges in one hash table with open addressing, also chained by their state. */
type EdgeTable = {
  readonly mask: number;
  readonly slots: Int32Array;
  readonly states: Int32Array;
  readonly numbers: Int32Array;
  readonly targets: Int32Array;
  readonly nextOf: Int32Array;
  readonly firstOf: Int32Array;
  /** The number of edges. */
  readonly size: Int32Array;
};

function createEdgeTable(edges: number, states: number): EdgeTable {
  let slots = 16;
  while (slots < 2 * edges) slots *= 2;
  return {
    mask: slots - 1,
    slots: new Int32Array(slots).fill(-1),
    states: new Int32Array(edges),
    numbers: new Int32Array(edges),
    targets: new Int32Array(edges),
    nextOf: new Int32Array(edges),
    firstOf: new Int32Array(states).fill(-1),
    size: new Int32Array(1),
  };
}

function slotOf(table: EdgeTable, state: number, number: number): number {
  const mixed = Math.imul(Math.imul(state, 0x9e3779b1) ^ number, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & table.mask;
}

function findEdge(table: EdgeTable, state: number, number: number): number {
  for (let slot = slotOf(table, state, number); ; slot = (slot + 1) & table.mask) {
    const edge = table.slots[slot] ?? -1;
    if (edge === -1) return -1;
    if (table.states[edge] === state && table.numbers[edge] === number) return edge;
  }
}

function addEdge(table: EdgeTable, state: number, number: number, target: number): void {
  const edge = table.size[0] ?? 0;
  table.size[0] = edge + 1;
  table.states[edge] = state;
  table.numbers[edge] = number;
  table.targets[edge] = target;
  table.nextOf[edge] = table.firstOf[state] ?? -1;
  table.firstOf[state] = edge;
  let slot = slotOf(table, state, number);
  while (table.slots[slot] !== -1) slot = (slot + 1) & table.mask;
  table.slots[slot] = edge;
}

function copyEdges(table: EdgeTable, from: number, to: number): void {
  for (let edge = table.firstOf[from] ?? -1; edge !== -1; edge = table.nextOf[edge] ?? -1)
    addEdge(table, to, table.numbers[edge] ?? 0, table.targets[edge] ?? 0);
}
