/** Corrections of a reviewer: kept in the browser until the decision carries them to the service. */
import {
  type Editor,
  fromServer,
  isFilled,
  isSameContent,
  type LocalTag,
  openPendingStore,
  withNewIds,
} from '@/workflow/labeling';
import type { Schemas } from '@/kit/api/types';

export class Keeper {
  revision: number;
  base: readonly LocalTag[];
  private readonly store;

  constructor(
    private readonly editor: Editor,
    tagSet: Schemas['TagSet'],
  ) {
    this.revision = tagSet.revision;
    this.base = editor.state.tags;
    this.store = openPendingStore(tagSet.id);
  }

  /** Goes on with what an earlier visit corrected, if nothing changed meanwhile. */
  async resume(): Promise<void> {
    const pending = await this.store.take().catch(() => undefined);
    if (pending?.revision === this.revision) this.editor.replace(withNewIds(pending.tags));
  }

  keep = (): void => {
    const { tags } = this.editor.state;
    const { revision, base } = this;
    const at = new Date().toISOString();
    this.store.write({ revision, base, tags, at }).catch(() => undefined);
  };

  forget(): void {
    this.store.remove().catch(() => undefined);
  }

  /** The tags to send, in the order in which errors will count them. */
  list(): LocalTag[] {
    const { tags } = this.editor.state;
    return tags.filter((tag) => isFilled(tag, this.editor.definitions.get(tag.field)?.type));
  }

  /** All tags after the correction; nothing if nothing was corrected. */
  corrections(): Schemas['TagInput'][] | undefined {
    const tags = this.list();
    return isSameContent(tags, this.base) ? undefined : this.editor.toInputs(tags);
  }

  /** Goes on from a newer revision with the tags that were chosen. */
  rebase(revision: number, base: readonly LocalTag[], tags: readonly LocalTag[]): void {
    this.revision = revision;
    this.base = base;
    this.editor.restart(tags);
    this.keep();
  }

  static read(tagSet: Schemas['TagSet']): LocalTag[] {
    return fromServer(tagSet.tags);
  }
}
