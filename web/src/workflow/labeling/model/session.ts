/** Opening a draft: its editor, its saver, and what an earlier visit left unsaved. */
import { useEffect, useState } from 'react';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { requireOrganization } from '@/kit/session/organization';
import { Editor } from './editor';
import { openPendingStore, type PendingStore } from './pending';
import { Saver, type Transport } from './saver';
import { Stopwatch } from './stopwatch';
import { type Field, fromServer } from './tags';

export interface Session {
  readonly editor: Editor;
  readonly saver: Saver;
  readonly pending: PendingStore;
  readonly stopwatch: Stopwatch;
}

function buildTransport(tagSet: Schemas['TagSet'], stopwatch: Stopwatch): Transport {
  const params = { path: { tag_set_id: tagSet.id } };
  // What is left is saved when the user has gone to another one.
  const headers = { 'X-Org-Slug': requireOrganization() };
  return {
    async save(tags, revision) {
      const seconds_spent = tagSet.seconds_spent + stopwatch.seconds;
      const call = api.PUT('/api/v1/tag-sets/{tag_set_id}/tags', {
        params,
        headers,
        body: { tags, revision, seconds_spent },
      });
      return (await unwrap(call)).data;
    },
    async read() {
      return (await unwrap(api.GET('/api/v1/tag-sets/{tag_set_id}', { params, headers }))).data;
    },
  };
}

async function openSession(tagSet: Schemas['TagSet'], fields: readonly Field[]): Promise<Session> {
  const base = fromServer(tagSet.tags);
  const editor = new Editor(fields, base);
  const stopwatch = new Stopwatch();
  const start = { revision: tagSet.revision, base };
  const pending = openPendingStore(tagSet.id);
  const saver = new Saver(editor, buildTransport(tagSet, stopwatch), pending, start);
  const kept = await pending.take().catch(() => undefined);
  if (kept) saver.resume(kept, tagSet);
  editor.onEdit = saver.edited;
  return { editor, saver, pending, stopwatch };
}

/** Saves what is left when the tab is hidden, and tries again when the network is back. */
function connect({ saver, stopwatch }: Session): () => void {
  const tick = () => stopwatch.tick(Date.now());
  const onHide = () => {
    if (document.visibilityState === 'hidden' && saver.state.kind === 'changed') void saver.flush();
  };
  const warn = (event: BeforeUnloadEvent) => {
    if (saver.state.kind !== 'saved') event.preventDefault();
  };
  const activity = ['keydown', 'pointermove', 'pointerdown', 'wheel'] as const;
  for (const name of activity) window.addEventListener(name, tick, { passive: true });
  window.addEventListener('online', saver.retry);
  window.addEventListener('beforeunload', warn);
  document.addEventListener('visibilitychange', onHide);
  return () => {
    for (const name of activity) window.removeEventListener(name, tick);
    window.removeEventListener('online', saver.retry);
    window.removeEventListener('beforeunload', warn);
    document.removeEventListener('visibilitychange', onHide);
    if (saver.state.kind === 'changed') void saver.flush();
    else saver.stop();
  };
}

/** Opens the draft once; the answer of the API that it began with is not read again. */
export function useSession(
  tagSet: Schemas['TagSet'],
  fields: readonly Field[],
): Session | undefined {
  const [session, setSession] = useState<Session>();
  const [start] = useState({ tagSet, fields });
  useEffect(() => {
    let ends: (() => void) | undefined;
    let isGone = false;
    void openSession(start.tagSet, start.fields).then((opened) => {
      if (isGone) return;
      ends = connect(opened);
      setSession(opened);
    });
    return () => {
      isGone = true;
      ends?.();
    };
  }, [start]);
  return session;
}
