/**
 * Saves the tags of a draft by revision. What the service does not take stays on the screen and in
 * the browser: values with an error, everything while there is no network, both sides of a conflict.
 */
import { ApiError, isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import type { Editor } from './editor';
import { hasOwnChanges } from './merge';
import type { Pending, PendingStore } from './pending';
import { isEcho, keepIds, keyOf, readTagErrors } from './answers';
import { createId, fromServer, isFilled, isSameContent, type LocalTag } from './tags';

type Tags = readonly LocalTag[];

export interface Transport {
  save(tags: Schemas['TagInput'][], revision: number): Promise<Schemas['TagSet']>;
  read(): Promise<Schemas['TagSet']>;
}

export interface Conflict {
  readonly revision: number;
  readonly before: Tags;
  readonly mine: Tags;
  readonly theirs: Tags;
}

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'changed' }
  | { kind: 'saving' }
  /** No answer; tried again by itself. */
  | { kind: 'offline' }
  /** Some values have errors; all others are saved. */
  | { kind: 'invalid' }
  | { kind: 'conflict'; conflict: Conflict }
  /** The service refuses: the set is not a draft any more, or the claim is another's. */
  | { kind: 'refused'; error: ApiError };

const DELAY = 700;
const RETRIES = [1_000, 2_000, 5_000, 10_000, 15_000];

export class Saver {
  state: SaveState = { kind: 'saved' };
  revision: number;
  private base: Tags;
  /** Why a tag cannot be saved, by its number and content. */
  private readonly rejected = new Map<string, string>();
  /** What was sent without an answer: the service may have taken it. */
  private unanswered: Tags | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private running: Promise<void> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly editor: Editor,
    private readonly transport: Transport,
    private readonly store: PendingStore,
    start: { revision: number; base: Tags },
  ) {
    this.revision = start.revision;
    this.base = start.base;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private set(state: SaveState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }

  /** Goes on with changes that an earlier visit could not save. */
  resume(pending: Pending, current: Schemas['TagSet']): void {
    const ids = new Map<number, number>();
    const renumber = (tags: Tags) =>
      tags.map((tag) => {
        const id = ids.get(tag.id) ?? createId();
        ids.set(tag.id, id);
        return { ...tag, id };
      });
    this.rebase(pending.revision, renumber(pending.base), renumber(pending.tags));
    this.set({ kind: 'changed' });
    if (pending.revision === current.revision || this.meet(current)) this.schedule(0);
  }

  /** To be called after every edit. */
  edited = (): void => {
    this.keep();
    if (this.state.kind === 'conflict' || this.state.kind === 'refused') return;
    if (this.state.kind !== 'offline') this.set({ kind: 'changed' });
    this.schedule(DELAY);
  };

  /** The network is back, or the user asks: do not wait any longer. */
  retry = (): void => {
    if (this.state.kind === 'offline') this.schedule(0);
  };

  stop(): void {
    clearTimeout(this.timer);
  }

  private schedule(delay: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), delay);
  }

  private keep(): void {
    const pending = {
      revision: this.revision,
      base: this.base,
      tags: this.editor.state.tags,
      at: new Date().toISOString(),
    };
    // Without a database (private windows of some browsers) the tags are kept on the screen only.
    this.store.write(pending).catch(() => undefined);
  }

  /** Saves now. Resolves when everything is saved, or cannot be for now. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    while (this.running) await this.running;
    if (this.state.kind === 'conflict' || this.state.kind === 'refused') return;
    this.running = this.save().finally(() => {
      this.running = undefined;
    });
    await this.running;
  }

  /** The tags to send: for one that was rejected as it is, what was saved before, if anything. */
  private select(): LocalTag[] {
    const saved = new Map(this.base.map((tag) => [tag.id, tag]));
    return this.editor.state.tags.flatMap((tag) => {
      if (this.rejected.has(this.keyOf(tag))) {
        const before = saved.get(tag.id);
        const isKept = before?.row === tag.row && !this.rejected.has(this.keyOf(before));
        return isKept ? [before] : [];
      }
      const type = this.editor.definitions.get(tag.field)?.type;
      return isFilled(tag, type) ? [tag] : [];
    });
  }

  private async save(): Promise<void> {
    for (;;) {
      const sent = this.select();
      if (isSameContent(sent, this.base)) return this.finish();
      if (this.state.kind !== 'offline') this.set({ kind: 'saving' });
      try {
        const tagSet = await this.transport.save(this.editor.toInputs(sent), this.revision);
        this.failures = 0;
        this.unanswered = undefined;
        this.receive(sent, tagSet);
      } catch (error) {
        if (!(await this.handle(error, sent))) return;
      }
    }
  }

  private finish(): void {
    this.showProblems();
    const isInvalid = this.editor.state.problems.size > 0;
    if (isInvalid) this.keep();
    else this.store.remove().catch(() => undefined);
    this.set({ kind: isInvalid ? 'invalid' : 'saved' });
  }

  /** Takes the converted values for those tags that were not changed meanwhile. */
  private receive(sent: Tags, tagSet: Schemas['TagSet']): void {
    const converted = new Map<LocalTag, LocalTag>();
    const answered = tagSet.tags.map((tag, at) => ({ ...tag, id: sent[at]?.id ?? 0 }));
    sent.forEach((tag, at) => {
      const answer = answered[at];
      if (!answer) return;
      const typing = tag.typed !== undefined && tag.value !== null;
      converted.set(tag, typing ? { ...answer, typed: tag.typed } : answer);
    });
    this.revision = tagSet.revision;
    this.base = answered;
    this.editor.replace(this.editor.state.tags.map((tag) => converted.get(tag) ?? tag));
  }

  private keyOf(tag: LocalTag): string {
    return keyOf(this.editor.complete(tag));
  }

  private showProblems(): void {
    const problems = new Map<number, string>();
    for (const tag of this.editor.state.tags) {
      const problem = this.rejected.get(this.keyOf(tag));
      if (problem !== undefined) problems.set(tag.id, problem);
    }
    this.editor.setProblems(problems);
  }

  /** Returns whether to try again at once. */
  private async handle(error: unknown, sent: Tags): Promise<boolean> {
    if (!isApiError(error)) throw error;
    if (error.code === 'stale_precondition') return this.compare();
    // Behind a proxy, 502 and 504 do not tell whether the service has saved the tags.
    if (error.status === 0 || error.status >= 500) this.unanswered = sent;
    if (error.status === 400 && this.reject(error, sent)) return true;
    const isPassing = error.status === 0 || error.status >= 500 || error.status === 429;
    if (!isPassing && error.status !== 401) {
      this.set({ kind: 'refused', error });
      return false;
    }
    this.set({ kind: 'offline' });
    this.schedule(RETRIES[Math.min(this.failures, RETRIES.length - 1)] ?? DELAY);
    this.failures += 1;
    return false;
  }

  /** Notes the errors at their tags; returns whether there were any new ones. */
  private reject(error: ApiError, sent: Tags): boolean {
    const known = this.rejected.size;
    for (const { position, message } of readTagErrors(error)) {
      const tag = sent[position];
      if (tag) this.rejected.set(this.keyOf(tag), message);
    }
    this.showProblems();
    return this.rejected.size > known;
  }

  /** Meets the version that the service has. Returns whether there is nothing to decide. */
  async compare(): Promise<boolean> {
    let current: Schemas['TagSet'];
    try {
      current = await this.transport.read();
    } catch (error) {
      return this.handle(error, []);
    }
    return this.meet(current);
  }

  /** Meets another revision: merges what does not differ, and asks for the rest. */
  meet(current: Schemas['TagSet']): boolean {
    const sent = this.unanswered;
    this.unanswered = undefined;
    if (sent && current.revision === this.revision + 1 && isEcho(sent, current.tags)) {
      this.receive(sent, current);
      return true;
    }
    const before = this.base;
    const mine = this.editor.state.tags;
    const theirs = keepIds(fromServer(current.tags), mine);
    if (!hasOwnChanges(before, mine) || !hasOwnChanges(theirs, mine)) {
      this.rebase(current.revision, theirs, theirs);
      return true;
    }
    const conflict = { revision: current.revision, before, mine, theirs };
    this.set({ kind: 'conflict', conflict });
    return false;
  }

  /** Goes on with the merged tags of a conflict, based on their revision. */
  resolve(conflict: Conflict, merged: Tags): void {
    this.set({ kind: 'changed' });
    this.rebase(conflict.revision, conflict.theirs, merged);
    this.edited();
  }

  private rebase(revision: number, base: Tags, tags: Tags): void {
    this.revision = revision;
    this.base = base;
    this.editor.restart(tags);
  }
}
