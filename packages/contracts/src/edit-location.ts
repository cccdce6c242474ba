/** `string` is taken letter by letter; `regex` is matched against each line without its line ending. */
export type MarkerType = 'string' | 'regex';

/** Where whole lines go in: before or after the line of the one place that the marker matches. */
export type InsertLocation = {
  readonly marker: string;
  readonly marker_type: MarkerType;
  readonly position: 'before' | 'after';
};

/**
 * What is replaced: the whole lines between the lines of two markers, or, where both stand in one line, the text
 * between them. `include_markers` replaces their lines, or themselves, too.
 */
export type ReplaceLocation = {
  readonly start_marker: string;
  readonly end_marker: string;
  readonly marker_type: MarkerType;
  readonly include_markers: boolean;
};

export type EditLocation = InsertLocation | ReplaceLocation;
