/** Requests about stored outputs: what the tools `tool_outputs.*` take, under the same names. */
import type { JsonObject, JsonValue } from '../json.ts';

/** Of all these requests. Only outputs of this project, and of this conversation, are found. */
export type OutputScope = { readonly projectId?: string; readonly conversation_id?: string };

/** `GET /api/tool-outputs` */
export type OutputsQuery = OutputScope & {
  readonly tool_name?: string;
  readonly success?: boolean;
  /** Seconds or milliseconds since the epoch. */
  readonly after?: number;
  readonly before?: number;
  readonly sort?: 'newest' | 'oldest';
  readonly limit?: number;
  readonly offset?: number;
  /** Of the text that is shown of each. */
  readonly preview_length?: number;
};

export type OutputsAnswer = {
  readonly outputs: readonly {
    readonly id: string;
    readonly tool_name: string;
    readonly conversation_id: string;
    /** Milliseconds since the epoch. */
    readonly created_at: number;
    readonly success: boolean;
    readonly size_bytes: number;
    readonly size_chars: number;
    readonly cut?: true;
    readonly preview?: string;
  }[];
  readonly total: number;
  readonly has_more: boolean;
};

/** `GET /api/tool-outputs/:id`: the whole output or, with `offset` or `limit`, a part of its JSON text. */
export type OutputQuery = OutputScope & {
  /** In characters. */
  readonly offset?: number;
  readonly limit?: number;
};

export type OutputAnswer = WholeOutput | OutputPart;

export type WholeOutput = {
  readonly id: string;
  readonly tool_name: string;
  readonly conversation_id: string;
  readonly message_id: string;
  readonly created_at: number;
  readonly success: boolean;
  readonly parameters: JsonValue;
  readonly output: JsonValue;
};

export type OutputPart = {
  readonly id: string;
  readonly offset: number;
  readonly total_chars: number;
  readonly text: string;
};

/** `GET /api/tool-outputs/:id/stats` */
export type OutputStatsQuery = OutputScope & {
  /** JSONPaths of the places to describe; one may be a text instead of a list. */
  readonly paths?: readonly string[];
  readonly max_depth?: number;
  readonly include_schema?: boolean;
};

/** With `structure`, `types`, `arrays`, `objects` and `schema`, or with these for each of the `paths`. */
export type OutputStatsAnswer = JsonObject & {
  readonly id: string;
  readonly tool_name: string;
  readonly created_at: number;
  readonly size: {
    readonly bytes: number;
    readonly characters: number;
    readonly formatted: string;
    readonly cut?: true;
  };
};

/** `POST /api/tool-outputs/:id/extract` */
export type OutputExtractRequest = {
  readonly paths?: readonly string[];
  readonly flatten?: boolean;
  readonly include_paths?: boolean;
  readonly default_value?: JsonValue;
};

export type OutputExtractAnswer = {
  /** The matches of each path, or all of them in one list. */
  readonly extracted: readonly JsonValue[] | JsonObject;
  readonly missing_paths: readonly string[];
};

/** `POST /api/tool-outputs/:id/count` */
export type OutputCountRequest = {
  readonly queries: readonly {
    readonly name?: string;
    readonly path: string;
    readonly count?: 'array_length' | 'object_keys' | 'matches' | 'nested_total';
    /** A filter of RFC 9535, such as `@.status == 'open'`. */
    readonly filter?: string;
  }[];
};

export type OutputCountAnswer = {
  readonly counts: { readonly [name: string]: number };
  readonly total: number;
};

/** `POST /api/tool-outputs/:id/sample` */
export type OutputSampleRequest = {
  readonly path?: string;
  readonly size?: number;
  readonly method?: 'random' | 'first' | 'last' | 'systematic' | 'stratified';
  readonly seed?: number;
  readonly stride?: number;
  readonly strata_path?: string;
};

export type OutputSampleAnswer = {
  readonly path: string;
  readonly method: string;
  readonly seed?: number;
  readonly total: number;
  readonly sample_size: number;
  readonly indices: readonly number[];
  readonly items: readonly JsonValue[];
  readonly warning?: string;
};
