import { useRef } from 'react';

/** Returns 128 random bits. `crypto.randomUUID` exists on encrypted pages only. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns a function that gives the header of a request. The same body gets the same key until
 * `done` is called: a request that is sent again after a lost answer is carried out once.
 */
export function useIdempotency() {
  const last = useRef<{ body: string; key: string }>(undefined);
  return {
    headers(body: unknown): { 'Idempotency-Key': string } {
      const text = JSON.stringify(body ?? null);
      if (last.current?.body !== text) last.current = { body: text, key: randomKey() };
      return { 'Idempotency-Key': last.current.key };
    },
    done(): void {
      last.current = undefined;
    },
  };
}

/** The header of a change that is based on this revision. */
export function ifMatch(revision: number): { 'If-Match': string } {
  return { 'If-Match': `"${revision}"` };
}
