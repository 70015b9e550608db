/** Undo and redo of edits. Typing in one input is one step. */
import type { LocalTag } from './tags';

type Tags = readonly LocalTag[];
const MOST_STEPS = 200;

export class History {
  private past: Tags[] = [];
  private future: Tags[] = [];
  private lastGroup: string | undefined;

  /** Remembers the tags before an edit. Edits of the same group become one step. */
  record(before: Tags, group?: string): void {
    this.future = [];
    if (group !== undefined && group === this.lastGroup) return;
    this.lastGroup = group;
    this.past = [...this.past.slice(1 - MOST_STEPS), before];
  }

  undo(now: Tags): Tags | undefined {
    const before = this.past.pop();
    if (before) this.future.push(now);
    this.lastGroup = undefined;
    return before;
  }

  redo(now: Tags): Tags | undefined {
    const after = this.future.pop();
    if (after) this.past.push(now);
    this.lastGroup = undefined;
    return after;
  }

  /** Ends the group, so that the next edit is a step of its own. */
  close(): void {
    this.lastGroup = undefined;
  }

  clear(): void {
    this.past = [];
    this.future = [];
    this.lastGroup = undefined;
  }
}
