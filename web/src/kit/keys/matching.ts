/** Keys are written `n`, `?`, `+`, `Enter`, `mod+s`, `mod++`; `mod` is Ctrl, or ⌘ on a Mac. */

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** Returns the parts of a combination, the key last. */
export function splitKeys(combination: string): string[] {
  // The last sign belongs to the key, which may be `+` itself.
  const at = combination.slice(0, -1).lastIndexOf('+');
  const modifiers = at < 0 ? [] : combination.slice(0, at).split('+');
  return [...modifiers, combination.slice(at + 1)];
}

export function matchesKey(combination: string, press: KeyPress, isMac: boolean): boolean {
  const parts = splitKeys(combination);
  const key = parts.pop() ?? '';
  const has = (name: string) => parts.includes(name);
  const isMod = isMac ? press.metaKey : press.ctrlKey;
  const isOther = isMac ? press.ctrlKey : press.metaKey;
  if (has('mod') !== isMod || isOther || has('alt') !== press.altKey) return false;
  // A sign such as `?` needs Shift on some keyboards; letters and named keys say so themselves.
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  if (!isSign && has('shift') !== press.shiftKey) return false;
  return key.length === 1 ? key.toLowerCase() === press.key.toLowerCase() : key === press.key;
}
