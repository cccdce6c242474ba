import { sanitizeLine } from '../../terminal/sanitize.ts';
import { emphasize } from '../../terminal/tone.ts';
import {
  createLineEditor,
  createSelectionList,
  isKey,
  type ListItem,
  type SelectionList,
} from './line-editor.ts';
import { spread, typedRows, type TypedRows } from './region-rows.ts';

/** A list to take one of; typing narrows it down. */
export type Picker = {
  handle(key: string): void;
  paste(text: string): void;
  render(columns: number): {
    readonly asked: readonly string[];
    readonly typed: TypedRows;
    readonly menu: readonly string[];
  };
};

export type PickerOptions = {
  readonly title: string;
  readonly items: readonly ListItem[];
  readonly colors: boolean;
  /** With null when the person closed it. */
  readonly onPicked: (value: string | null) => void;
};

export function createPicker({ title, items, colors, onPicked }: PickerOptions): Picker {
  const filter = createLineEditor({ complete: null, colors, changed: () => undefined });
  const searched = items.map((item) => `${item.label} ${item.detail}`.toLowerCase());
  let narrowedTo = '';
  let list = listOf(items);

  function listOf(fitting: readonly ListItem[]): SelectionList {
    return createSelectionList(fitting, 'Nothing matches.', colors);
  }

  function narrow(): void {
    const words = filter.text().toLowerCase().trim();
    if (words === narrowedTo) return;
    narrowedTo = words;
    list = listOf(
      items.filter((_, index) =>
        words.split(/\s+/u).every((word) => searched[index]?.includes(word) === true),
      ),
    );
  }

  return {
    handle(key) {
      if (isKey(key, 'escape')) {
        onPicked(null);
      } else if (isKey(key, 'enter')) {
        const value = list.selected();
        if (value !== null) onPicked(value);
      } else if (isKey(key, 'up', 'down')) {
        list.handle(key);
      } else {
        filter.handle(key);
        narrow();
      }
    },
    paste(text) {
      filter.paste(text.replaceAll(/\s+/gu, ' '));
      narrow();
    },
    render(columns) {
      return {
        asked: [emphasize(spread(sanitizeLine(title), 'type to filter', columns), colors)],
        typed: typedRows('Filter: ', filter.render(columns - 'Filter: '.length)),
        menu: list.render(columns),
      };
    },
  };
}
