/** `string` is matched literally. `regex` is matched against each line without its line ending. */
export type MarkerType = 'string' | 'regex';

/** Where whole lines are inserted: before or after the line of the only match of the marker. */
export type InsertLocation = {
  readonly marker: string;
  readonly marker_type: MarkerType;
  readonly position: 'before' | 'after';
};

/**
 * What is replaced: the whole lines between the lines of two markers, or the text between them if both are in one
 * line. With `include_markers` their lines, or the markers themselves, are replaced too.
 */
export type ReplaceLocation = {
  readonly start_marker: string;
  readonly end_marker: string;
  readonly marker_type: MarkerType;
  readonly include_markers: boolean;
};

export type EditLocation = InsertLocation | ReplaceLocation;
