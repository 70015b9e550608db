import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { Editor } from './editor';
import type { Pending, PendingStore } from './pending';
import { Saver, type Transport } from './saver';
import { type Field, fromServer } from './tags';

const FIELDS = ['number', 'name'].map((key) => ({
  key,
  label: key,
  type: 'text',
  required: false,
  multiple: false,
  description: '',
  options: [],
  constraints: {},
  ai_assist: true,
  columns: [],
})) as Field[];
const slot = (field: string) => ({ field, row: null, index: 0 });

/** A service with one draft, which can be offline, refuse values, or be changed by others. */
class Service implements Transport {
  revision = 1;
  tags: Schemas['TagInput'][] = [];
  isOffline = false;
  /** The status of the answer that takes the place of a lost one. */
  lostAs: number | undefined;

  private answer(): Schemas['TagSet'] {
    return { revision: this.revision, tags: this.tags } as Schemas['TagSet'];
  }

  save(tags: Schemas['TagInput'][], revision: number): Promise<Schemas['TagSet']> {
    if (this.isOffline) return Promise.reject(new ApiError(0, { code: 'offline', message: '' }));
    if (revision !== this.revision)
      return Promise.reject(new ApiError(409, { code: 'stale_precondition', message: '' }));
    const errors = tags.flatMap(({ value }, at) =>
      value === 'bad' ? [{ field: `tags.${at}.value`, message: `tags.${at}.value is bad.` }] : [],
    );
    if (errors.length > 0) {
      const details = { errors };
      return Promise.reject(new ApiError(400, { code: 'validation_error', message: '', details }));
    }
    this.revision += 1;
    this.tags = tags.map((tag) => ({ ...tag, value: String(tag.value).trim() }));
    if (this.lostAs !== undefined)
      return Promise.reject(new ApiError(this.lostAs, { code: 'offline', message: '' }));
    return Promise.resolve(this.answer());
  }

  read = () => Promise.resolve(this.answer());

  change(field: string, value: string): void {
    this.tags = [...this.tags.filter((tag) => tag.field !== field), input(field, value)];
    this.revision += 1;
  }

  get values() {
    return Object.fromEntries(this.tags.map((tag) => [tag.field, tag.value]));
  }
}

const input = (field: string, value: string): Schemas['TagInput'] => ({
  field,
  value,
  row: null,
  confidence: null,
  source: 'human',
  evidence: [],
});

class Store implements PendingStore {
  kept: Pending | undefined;
  take = () => Promise.resolve(this.kept);
  write = (pending: Pending) => {
    this.kept = pending;
    return Promise.resolve();
  };
  remove = () => {
    this.kept = undefined;
    return Promise.resolve();
  };
  removeAll = this.remove;
}

let service: Service;
let store: Store;

function open() {
  const base = fromServer(service.tags as Schemas['Tag'][]);
  const editor = new Editor(FIELDS, base);
  const saver = new Saver(editor, service, store, { revision: service.revision, base });
  editor.onEdit = saver.edited;
  return { editor, saver };
}

beforeEach(() => {
  service = new Service();
  store = new Store();
  vi.useFakeTimers();
});
// Other files run in the same process, and need the real ones.
afterEach(() => {
  vi.useRealTimers();
});

describe('saving', () => {
  test('saves a while after the last edit, and takes the converted value', async () => {
    const { editor, saver } = open();
    editor.type(slot('number'), ' 17 ');
    expect(saver.state.kind).toBe('changed');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(service.values).toEqual({ number: '17' });
    expect(editor.state.tags[0]?.value).toBe('17');
    expect(saver.state.kind).toBe('saved');
    expect(store.kept).toBeUndefined();
  });

  test('a value with an error does not keep the others from being saved', async () => {
    const { editor, saver } = open();
    editor.type(slot('number'), 'bad');
    editor.type(slot('name'), 'good');
    await saver.flush();
    expect(service.values).toEqual({ name: 'good' });
    expect([...editor.state.problems.values()]).toEqual(['is bad.']);
    expect(saver.state.kind).toBe('invalid');
    expect(store.kept?.tags).toHaveLength(2);
    editor.type(slot('number'), 'mended');
    await saver.flush();
    expect(service.values).toEqual({ name: 'good', number: 'mended' });
    expect(editor.state.problems.size).toBe(0);
  });

  test('a correction that is refused leaves the value that was saved before', async () => {
    service.change('number', 'first');
    const { editor, saver } = open();
    editor.type(slot('number'), 'bad');
    await saver.flush();
    expect(service.values).toEqual({ number: 'first' });
    expect(editor.state.tags[0]?.value).toBe('bad');
  });
});

describe('without a network', () => {
  test('keeps everything for ten minutes and saves it when the network is back', async () => {
    const { editor, saver } = open();
    service.isOffline = true;
    editor.type(slot('number'), '17');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(saver.state.kind).toBe('offline');
    expect(store.kept?.tags).toHaveLength(1);
    service.isOffline = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(service.values).toEqual({ number: '17' });
    expect(saver.state.kind).toBe('saved');
  });

  test.each([0, 502, 504])('an answer lost as %s is no conflict with oneself', async (status) => {
    const { editor, saver } = open();
    service.lostAs = status;
    editor.type(slot('number'), '17 ');
    await saver.flush();
    service.lostAs = undefined;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(saver.state.kind).toBe('saved');
    expect(saver.revision).toBe(2);
  });

  test('the next visit goes on with what was not saved', async () => {
    const first = open();
    service.isOffline = true;
    first.editor.type(slot('number'), '17');
    first.saver.stop();
    service.isOffline = false;
    const { editor, saver } = open();
    if (store.kept) saver.resume(store.kept, await service.read());
    expect(editor.state.tags[0]?.value).toBe('17');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(service.values).toEqual({ number: '17' });
  });
});

describe('a newer revision', () => {
  test('is taken without asking when nothing was changed here', async () => {
    const { editor, saver } = open();
    service.change('name', 'theirs');
    editor.type(slot('number'), '1');
    editor.undo();
    expect(saver.meet(await service.read())).toBe(true);
    expect(editor.state.tags.map((tag) => tag.value)).toEqual(['theirs']);
  });

  test('is compared when both changed something, and nothing is lost', async () => {
    const { editor, saver } = open();
    service.change('name', 'theirs');
    editor.type(slot('number'), 'mine');
    await saver.flush();
    if (saver.state.kind !== 'conflict') throw new Error(saver.state.kind);
    const { conflict } = saver.state;
    expect(conflict.mine.map((tag) => tag.value)).toEqual(['mine']);
    expect(conflict.theirs.map((tag) => tag.value)).toEqual(['theirs']);
    saver.resolve(conflict, [...conflict.theirs, ...conflict.mine]);
    await saver.flush();
    expect(service.values).toEqual({ name: 'theirs', number: 'mine' });
    expect(saver.state.kind).toBe('saved');
    // What the other one did is no step of this one.
    editor.undo();
    await saver.flush();
    expect(service.values).toEqual({ name: 'theirs', number: 'mine' });
  });
});
