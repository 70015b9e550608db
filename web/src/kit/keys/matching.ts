/** Keys are written `n`, `?`, `+`, `Enter`, `mod+s`, `mod++`; `mod` is Ctrl, or ⌘ on a Mac. */

interface CompositionPress {
  isComposing: boolean;
  keyCode: number;
}

export interface KeyPress {
  key: string;
  /** The place of the key on the keyboard, such as `KeyA`. */
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** The code of a key that an input method has handled. */
const PROCESSED = 229;

/**
 * Returns whether a key belongs to an input method, as that which ends the composition of Japanese or
 * Chinese text. Safari ends the composition before it reports the key.
 */
export function isComposing({ isComposing: isOpen, keyCode }: CompositionPress): boolean {
  return isOpen || keyCode === PROCESSED;
}

/** Returns the parts of a combination, the key last. */
export function splitKeys(combination: string): string[] {
  // The last sign belongs to the key, which may be `+` itself.
  const at = combination.slice(0, -1).lastIndexOf('+');
  const modifiers = at < 0 ? [] : combination.slice(0, at).split('+');
  return [...modifiers, combination.slice(at + 1)];
}

/**
 * Returns the letter of a key. Keyboards of other alphabets have Latin letters only on their places, as
 * they are printed on the keys.
 */
function letterOf({ key, code }: KeyPress): string {
  const isOther = key.length === 1 && key > '\u007f' && code.startsWith('Key');
  return (isOther ? code.slice('Key'.length) : key).toLowerCase();
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
  return key.length === 1 ? key.toLowerCase() === letterOf(press) : key === press.key;
}
