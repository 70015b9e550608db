/** Copies a text with the selection of the page, and returns the focus. */
function copySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  document.body.append(area);
  area.select();
  // The only way on pages without encryption.
  // oxlint-disable-next-line typescript/no-deprecated
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/** Copies a text, also on pages without encryption. Returns whether the browser has done it. */
export async function copyText(text: string): Promise<boolean> {
  if (!('clipboard' in navigator)) return copySelection(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
