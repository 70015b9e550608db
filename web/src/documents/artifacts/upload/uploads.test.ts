import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCurrentOrganization } from '@/kit/session/organization';
import { endSession, startSession } from '@/kit/session/store';
import { isHidden, readList } from './files';
import { addUploads, splitPath, summarize, type Upload } from './uploads';

/** Requests that were sent, which answer when `finish` is called. */
class FakeRequest {
  static sent: FakeRequest[] = [];
  readonly headers = new Map<string, string>();
  readonly upload = {};
  readonly responseText = '{"data": {"id": "1"}}';
  status = 0;
  onload: (() => void) | undefined;
  onabort: (() => void) | undefined;
  open(): void {}
  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }
  send(): void {
    FakeRequest.sent.push(this);
  }
  abort(): void {
    this.onabort?.();
  }
  finish(): void {
    this.status = 201;
    this.onload?.();
  }
}

const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
const signIn = (id: string) =>
  startSession({
    access_token: id,
    token_type: 'bearer',
    expires_in: 60,
    user: { id, email: `${id}@example.com`, name: id },
    organizations: [],
  });
/** Lets what waits for promises go on. */
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

beforeEach(() => {
  FakeRequest.sent = [];
  vi.stubGlobal('XMLHttpRequest', FakeRequest);
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('sessionStorage', storage);
  vi.stubGlobal('window', { addEventListener: () => undefined });
  // Pages without encryption have nothing else.
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  signIn('ada');
  setCurrentOrganization('first');
});
afterEach(() => {
  endSession();
  setCurrentOrganization(undefined);
  vi.unstubAllGlobals();
});

const add = (count: number) =>
  addUploads(
    Array.from({ length: count }, (_, at) => ({ file: new File([], `${at}.pdf`), path: `${at}` })),
    undefined,
  );

test('files stay with the organization for which they were chosen', async () => {
  add(4);
  expect(FakeRequest.sent).toHaveLength(3);
  setCurrentOrganization('second');
  FakeRequest.sent[0]?.finish();
  await settle();
  expect(FakeRequest.sent.map(({ headers }) => headers.get('x-org-slug'))).toEqual(
    Array.from({ length: 4 }, () => 'first'),
  );
});

test('the next user of the tab sends nothing of the last one', async () => {
  add(4);
  endSession();
  signIn('ben');
  await settle();
  expect(FakeRequest.sent).toHaveLength(3);
});

const upload = (changes: Partial<Upload>): Upload => ({
  id: '1',
  path: 'a.pdf',
  size: 100,
  state: 'waiting',
  progress: 0,
  file: new File([], 'a.pdf'),
  schemaId: undefined,
  organization: undefined,
  userId: undefined,
  ...changes,
});

test('the progress counts bytes, and what failed is finished', () => {
  const list = [
    upload({ state: 'done', progress: 1 }),
    upload({ state: 'failed', progress: 0.2 }),
    upload({ state: 'sending', progress: 0.5 }),
    upload({}),
  ];
  expect(summarize(list)).toEqual({
    total: 4,
    done: 1,
    failed: 1,
    progress: 0.625,
    isRunning: true,
  });
  expect(summarize([]).isRunning).toBe(false);
});

test('a path is split into the folder and the name, which keep their ends', () => {
  expect(splitPath('a.pdf')).toEqual({ name: 'a.pdf', folder: '' });
  expect(splitPath('leases/2025/a.pdf')).toEqual({ name: 'a.pdf', folder: 'leases/2025' });
  const { name, folder } = splitPath(`${'x'.repeat(1200)}/b/${'y'.repeat(300)}.pdf`);
  expect([name.length, folder.length]).toEqual([255, 1000]);
  expect([name.endsWith('y.pdf'), folder.endsWith('x/b')]).toEqual([true, true]);
});

test('files of the operating system are left out', () => {
  expect(['.DS_Store', 'a/.DS_Store', 'a/Thumbs.db', '__MACOSX/a'].every(isHidden)).toBe(true);
  expect(isHidden('a/b.pdf')).toBe(false);
  expect(readList([new File([], 'a.pdf'), new File([], '.hidden')])).toHaveLength(1);
});
