/** Short texts that a person typed. */
export interface WorkspaceTextLists {
  /** A list of this workspace, in a directory `lists/<name>` of the state directory. */
  textList(name: string, limits: TextListLimits): TextList;
}

export type TextListLimits = {
  /** The oldest go when there are more. */
  readonly maxTexts: number;
  /** In UTF-8. A longer text is refused. */
  readonly maxTextBytes: number;
};

/**
 * Texts in their order, each in a file of its own, so that several processes can add and remove at once and a damaged
 * file is only one text. Methods reject if the disk reports an error.
 */
export interface TextList {
  /** Oldest first. What another user wrote, what belongs to another workspace and what is damaged is left out. */
  read(): Promise<readonly ListedText[]>;
  /** The text's id, once it is durable. Rejects with CONTENT_TOO_LARGE. */
  add(text: string): Promise<string>;
  /** True for exactly one caller: the one that removed it. */
  remove(id: string): Promise<boolean>;
}

export type ListedText = {
  readonly id: string;
  readonly text: string;
  /** Another process added it that, as far as is known, still runs. */
  readonly isOfOther: boolean;
};
